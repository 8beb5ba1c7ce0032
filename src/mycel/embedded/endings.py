"""What is still to be done when the process ends by itself or by SIGTERM."""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_log = logging.getLogger("mycel.working_memory")


class Endings:
    """One for the process: however many tasks there are, each signal has one handler in its chain."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        # With the process that wants it: a fork must not do the work of its parent.
        self._tasks: dict[int, tuple[int, Callable[[], object]]] = {}
        self._is_registered = False
        self._is_installed = False
        self._previous: Any = None

    def add(self, task: Callable[[], object]) -> Callable[[], None]:
        """Runs the task at the end, until the function it returns is called. SIGTERM needs the main thread."""
        number = next(self._numbers)
        self._tasks[number] = (os.getpid(), task)
        if not self._is_registered:
            self._is_registered = True
            atexit.register(self._run)
        if threading.current_thread() is threading.main_thread():
            self._install()

        def stop() -> None:
            self._tasks.pop(number, None)
            if not self._tasks and threading.current_thread() is threading.main_thread():
                self._uninstall()

        return stop

    def _install(self) -> None:
        # Once only: a handler set after ours may call ours, and calling it back would never end.
        if self._is_installed:
            return
        previous = signal.getsignal(signal.SIGTERM)
        # None: set by something other than Python, which could not be called from here.
        if previous is not None:
            self._previous, self._is_installed = previous, True
            signal.signal(signal.SIGTERM, self._on_signal)

    def _uninstall(self) -> None:
        if self._is_installed and signal.getsignal(signal.SIGTERM) == self._on_signal:
            signal.signal(signal.SIGTERM, self._previous)
            self._is_installed = False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._run()
        if callable(self._previous):
            self._previous(number, frame)
        elif self._previous == signal.SIG_DFL:
            # So that whoever waits for this process sees what ended it.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _run(self) -> None:
        for process, task in list(self._tasks.values()):
            if process != os.getpid():
                continue
            try:
                task()
            except Exception as error:  # noqa: BLE001 - the other tasks and handlers must have their turn
                _log.error("a working memory was not saved at the end: %s", type(error).__name__)


endings = Endings()
