"""Tells listeners of a working memory what changed: in order, one after the other, never inside a lock."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable

from mycel.domain.working_memory import WorkingChange

Listener = Callable[[WorkingChange], object]

_log = logging.getLogger("mycel.working_memory")


class Announcements:
    """Whoever changes something while another thread is telling leaves the telling to that thread."""

    def __init__(self) -> None:
        # A signal handler may come in between in the same thread.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._listeners: dict[int, Listener] = {}
        self._waiting: deque[tuple[int, WorkingChange]] = deque()
        self._is_telling = False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        with self._lock:
            number = next(self._numbers)
            self._listeners[number] = listener

        def stop() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return stop

    def put(self, change: WorkingChange) -> None:
        """For those who listen now; the order of these calls is the order in which they are told."""
        with self._lock:
            self._waiting.extend((number, change) for number in self._listeners)

    def tell(self) -> None:
        with self._lock:
            if self._is_telling:
                return
            self._is_telling = True
        try:
            while (found := self._next()) is not None:
                _call(*found)
        except BaseException:
            # Ctrl-C and the like: what still waits is told with the next change.
            self._is_telling = False
            raise

    def _next(self) -> tuple[Listener, WorkingChange] | None:
        with self._lock:
            while self._waiting:
                number, change = self._waiting.popleft()
                if (listener := self._listeners.get(number)) is not None:
                    return listener, change
            self._is_telling = False
            return None


def _call(listener: Listener, change: WorkingChange) -> None:
    try:
        listener(change)
    except Exception as error:  # noqa: BLE001 - the writer and the other listeners must go on
        # What the error says may quote a note.
        _log.error("a listener to changes of %s raised %s", change.field, type(error).__name__)
