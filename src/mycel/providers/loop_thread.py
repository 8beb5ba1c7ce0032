"""An event loop on a thread of its own: what waits there can be cut off in the middle, whatever it waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from mycel.errors import Unavailable

Answer = TypeVar("Answer")

# Closing waits for a name lookup under way, which nothing can cut off; nobody should wait for that for long.
CLOSING_SECONDS = 5.0


class LoopThread:
    """Started by its first use; a blocking socket would not do, since a server that sends a byte a second resets its
    time-out each time, and a name lookup has none."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def run(self, work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        """The work's answer or error; the work bounds its own time."""
        with self._lock:
            loop = self._running_loop()
            future = asyncio.run_coroutine_threadsafe(work(), loop)
        try:
            return future.result()
        except CancelledError:
            raise self._closed() from None

    def close(self) -> None:
        """Whoever still waits gets `Unavailable`."""
        with self._lock:
            self._is_closed = True
            loop, self._loop = self._loop, None
            if loop is not None:
                loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._is_closed:
            raise self._closed()
        if self._loop is None:
            started: Future[asyncio.AbstractEventLoop] = Future()
            # A daemon: a program that forgets to close must still be able to end.
            self._thread = threading.Thread(target=_serve, args=(started,), name=self._name, daemon=True)
            self._thread.start()
            self._loop = started.result()
        return self._loop

    def _closed(self) -> Unavailable:
        return Unavailable(f"{self._name} was closed")


def _serve(started: Future[asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        started.set_result(loop)
        loop.run_forever()
