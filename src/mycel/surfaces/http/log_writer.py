"""Writes the log beside: whoever has something to say goes on at once."""

from __future__ import annotations

import contextlib
import logging
import threading
from queue import SimpleQueue
from typing import TextIO

# What waits while nobody reads the log; what comes beyond it is left out, and counted.
MOST_WAITING = 10_000
MOST_AT_ONCE = 500
# How long the end of the process waits for what is still to be written.
ENDING_SECONDS = 2.0

_Waiting = str | threading.Event


class LogWriter(logging.Handler):
    """A write gives the interpreter away, and under load the event loop would wait longer for it than for all the rest.

    Lines keep their order. What is told in the last moment before the process is killed may be lost.
    """

    def __init__(self, output: TextIO) -> None:
        super().__init__()
        self._output = output
        self._waiting: SimpleQueue[_Waiting] = SimpleQueue()
        self._left_out = 0
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="mycel-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if self._waiting.qsize() >= MOST_WAITING:
            self._left_out += 1
            return
        try:
            self._waiting.put(self.format(record))
        except Exception:  # noqa: BLE001 - as every handler does: what cannot be logged stops nobody
            self.handleError(record)

    def flush(self) -> None:
        """Returns when all that was told before is written, or cannot be for a while."""
        if self._thread.is_alive():
            written = threading.Event()
            self._waiting.put(written)
            written.wait(ENDING_SECONDS)

    def close(self) -> None:
        self._is_closed = True
        self._waiting.put(threading.Event())
        self._thread.join(ENDING_SECONDS)
        super().close()

    def _run(self) -> None:
        while not self._is_closed:
            some = [self._waiting.get()]
            while len(some) < MOST_AT_ONCE and not self._waiting.empty():
                some.append(self._waiting.get())
            self._write([one for one in some if isinstance(one, str)])
            for one in some:
                if isinstance(one, threading.Event):
                    one.set()

    def _write(self, lines: list[str]) -> None:
        left_out, self._left_out = self._left_out, 0
        if left_out:
            lines.append(self.format(_left_out(left_out)))
        # Whoever read it may have gone.
        with contextlib.suppress(OSError, ValueError):
            self._output.write("".join(f"{line}\n" for line in lines))
            self._output.flush()


def _left_out(count: int) -> logging.LogRecord:
    told = f"nobody read the log for a while: {count} lines are left out"
    return logging.LogRecord("mycel.service", logging.WARNING, "", 0, told, None, None)
