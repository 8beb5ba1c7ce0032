"""Processes that write one database get their turn in the order in which they came."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mycel.stores.sqlite import write_queue
from mycel.stores.sqlite.write_queue import ENDING, WriteQueue
from tests.patience import PATIENCE_SECONDS, ends

pytestmark = pytest.mark.skipif(not write_queue.is_known(), reason="needs locks of open files, as Linux has them")

WAITS = """
import sys
from pathlib import Path
from mycel.stores.sqlite.write_queue import WriteQueue
with WriteQueue(Path(sys.argv[1])).turn():
    print("in turn", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


class Other:
    """Another process that has its turn until it is told to go on."""

    def __init__(self, file: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WAITS, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def until_in_turn(self) -> None:
        assert self.process.stdout
        assert self.process.stdout.readline() == "in turn\n"

    def go_on(self) -> None:
        self.process.communicate("\n")


@pytest.fixture
def another(file: Path) -> Iterator[Callable[[], Other]]:
    made: list[Other] = []

    def make() -> Other:
        made.append(Other(file))
        return made[-1]

    yield make
    for other in made:
        other.process.kill()
        other.process.communicate()


def in_thread(queue: WriteQueue, note: Callable[[], object], hold: threading.Event | None = None) -> threading.Thread:
    def run() -> None:
        with queue.turn():
            note()
            if hold is not None:
                hold.wait(PATIENCE_SECONDS)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def until_waiting(queue: WriteQueue) -> None:
    while queue.place is None:
        time.sleep(0.001)


def test_nobody_waits_who_is_alone(file: Path) -> None:
    queue = WriteQueue(file)
    for _ in range(3):
        assert queue.is_empty()
        with queue.turn():
            assert queue.is_empty()
            assert not WriteQueue(file).is_empty()
    queue.close()
    assert Path(f"{file}{ENDING}").stat().st_size == 0
    assert Path(f"{file}{ENDING}").stat().st_mode & 0o777 == 0o600


def test_who_came_first_goes_first(file: Path) -> None:
    """Ten that came while the first had its turn; each has an open file of its own, as processes have."""
    order: list[int] = []
    go = threading.Event()
    first = WriteQueue(file)
    threads = [in_thread(first, lambda: order.append(-1), go)]
    until_waiting(first)
    for number in range(10):
        queue = WriteQueue(file)
        threads.append(in_thread(queue, lambda number=number: order.append(number)))
        until_waiting(queue)
    assert order == [-1]
    go.set()
    for thread in threads:
        ends(thread.join)
    assert order == [-1, *range(10)]


def test_another_process_is_waited_for_until_its_turn_is_over(
    file: Path, another: Callable[[], Other], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, "STUCK_SECONDS", PATIENCE_SECONDS)
    other = another()
    other.until_in_turn()
    had: list[bool] = []
    queue = WriteQueue(file)
    waiting = in_thread(queue, lambda: had.append(True))
    until_waiting(queue)
    time.sleep(0.1)
    assert had == []
    other.go_on()
    ends(waiting.join)
    assert had == [True]


def test_a_killed_process_holds_nobody_up(
    file: Path, another: Callable[[], Other], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, "STUCK_SECONDS", 10 * PATIENCE_SECONDS)
    other = another()
    other.until_in_turn()
    queue = WriteQueue(file)
    waiting = in_thread(queue, lambda: None)
    until_waiting(queue)
    other.process.kill()
    ends(waiting.join)


def test_a_stopped_process_is_passed_over_once_and_for_all(file: Path, another: Callable[[], Other]) -> None:
    other = another()
    other.until_in_turn()
    os.kill(other.process.pid, signal.SIGSTOP)
    queue = WriteQueue(file)
    began_at = time.monotonic()
    for _ in range(20):
        ends(lambda: in_thread(queue, lambda: None).join())
    # Waiting for it each time would take longer than anybody has patience.
    assert write_queue.STUCK_SECONDS <= time.monotonic() - began_at < 20 * write_queue.STUCK_SECONDS


def test_without_a_place_for_its_file_nobody_waits(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "nowhere" / "memory.sqlite")
    with queue.turn():
        assert queue.place is None


def test_where_the_system_has_no_such_locks_nobody_waits(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "is_known", lambda: False)
    with WriteQueue(file).turn():
        assert not Path(f"{file}{ENDING}").exists()
