"""The log is written beside, whole and in order, and nobody waits for it."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from mycel.surfaces.http import log
from mycel.surfaces.http.log import LogWriter

PROGRAM = """
import logging
from mycel.surfaces.http.log import begin_logs, log_event

begin_logs("info")
for place in range(2000):
    log_event("request", str(place))
raise RuntimeError
"""


class Blocked(io.StringIO):
    """Takes nothing until somebody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = threading.Event()

    def write(self, text: str) -> int:
        assert self.reading.wait(20)
        return super().write(text)


@pytest.fixture
def output() -> Iterator[Blocked]:
    blocked = Blocked()
    yield blocked
    blocked.reading.set()


def tell(writer: LogWriter, *texts: object) -> None:
    for text in texts:
        writer.handle(logging.LogRecord("mycel", logging.INFO, "", 0, str(text), None, None))


def test_nobody_waits_for_a_log_that_is_not_read(output: Blocked) -> None:
    with closing(LogWriter(output)) as writer:
        tell(writer, *range(1000))
        assert output.getvalue() == ""
        output.reading.set()
        writer.flush()
        assert output.getvalue().split() == [str(place) for place in range(1000)]


def test_what_nobody_reads_does_not_grow_without_end_and_is_counted(
    output: Blocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MOST_WAITING", 10)
    with closing(LogWriter(output)) as writer:
        tell(writer, "first")
        # Taken out of the queue, and now it is held up.
        while writer._waiting.qsize():
            time.sleep(0.001)
        tell(writer, *range(25))
        output.reading.set()
        writer.flush()
        tell(writer, "later")
        writer.flush()
    told = output.getvalue().splitlines()
    assert told[:11] == ["first", *(str(place) for place in range(10))]
    assert sorted(told[11:]) == ["later", "nobody read the log for a while: 15 lines are left out"]


def test_a_log_that_was_closed_stops_nobody() -> None:
    output = io.StringIO()
    with closing(LogWriter(output)) as writer:
        output.close()
        tell(writer, "to nobody")
        writer.flush()
    assert not writer._thread.is_alive()


def test_the_end_of_the_process_waits_for_what_was_told() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)
    lines = ended.stderr.splitlines()
    assert [f'"message": "{place}"' in line for place, line in enumerate(lines[:2000])] == [True] * 2000
    [failure] = lines[2000:]
    assert '"error": "RuntimeError"' in failure
