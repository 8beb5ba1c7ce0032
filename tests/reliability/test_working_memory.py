"""However its process ends, a working memory is the old one or the new one, whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from mycel import WorkingMemory
from mycel.embedded import working_snapshot
from mycel.embedded.working_memory import Endings

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@contextmanager
def process(doing: str, data: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.reliability.working_memory_process", doing, str(data), *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()


def first_line(started: subprocess.Popen[bytes]) -> bytes:
    assert started.stdout is not None
    return started.stdout.readline()


def test_a_kill_leaves_the_last_snapshot_or_the_one_under_way(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(4):
        with process("count", tmp_path) as started:
            first = first_line(started)
            time.sleep(chance.uniform(0.0, 0.1))
            started.kill()
            assert started.stdout is not None
            told = [int(line) for line in (first + started.stdout.read()).split(b"\n")[:-1]]
        memory = WorkingMemory("swe-1", data=tmp_path)
        assert (memory.restored, memory.problem) == (True, None)
        number = int(memory.current_plan or 0)
        assert number in {told[-1], told[-1] + 1}
        assert memory.get_context("padding") == str(number) * 5000


def test_sigterm_saves_every_memory_and_ends_the_process_as_it_would_have(tmp_path: Path) -> None:
    with process("wait", tmp_path) as started:
        assert first_line(started) == b"ready\n"
        started.terminate()
        assert started.wait(30) == -signal.SIGTERM
    for agent in ("swe-1", "swe-2"):
        assert WorkingMemory(agent, data=tmp_path).scratchpad == ("before the end",)


def test_a_handler_that_was_there_has_its_turn_after_the_snapshot(tmp_path: Path) -> None:
    with process("wait", tmp_path, "handled=yes") as started:
        assert first_line(started) == b"ready\n"
        started.terminate()
        assert (first_line(started), started.wait(30)) == (b"handled\n", 7)
    assert WorkingMemory("swe-1", data=tmp_path).scratchpad == ("before the end",)


def test_the_end_of_the_program_saves_also_what_another_thread_asked_for(tmp_path: Path) -> None:
    with process("wait", tmp_path, "thread=ends") as started:
        assert started.wait(30) == 0
    assert WorkingMemory("swe-2", data=tmp_path).scratchpad == ("before the end",)


def test_another_thread_leaves_sigterm_alone(tmp_path: Path) -> None:
    with process("wait", tmp_path, "thread=waits") as started:
        assert first_line(started) == b"ready\n"
        started.terminate()
        assert started.wait(30) == -signal.SIGTERM
    assert not WorkingMemory("swe-1", data=tmp_path).restored


def test_sigterm_in_the_middle_of_writing_neither_hangs_nor_tears(tmp_path: Path) -> None:
    for _ in range(3):
        with process("write", tmp_path) as started:
            assert first_line(started) == b"ready\n"
            time.sleep(0.05)
            started.terminate()
            assert started.wait(30) == -signal.SIGTERM
        memory = WorkingMemory("swe-1", data=tmp_path)
        assert (memory.restored, memory.problem) == (True, None)


def test_the_end_of_a_fork_saves_nothing_over_its_parent(tmp_path: Path) -> None:
    with process("fork", tmp_path) as started:
        assert first_line(started) == b"('of the parent',)\n"
        assert started.wait(30) == 0


def test_a_signal_in_the_middle_of_a_snapshot_leaves_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler saves what another thread wrote since; the snapshot it interrupted must not put back the older."""
    memory = WorkingMemory("swe-1", data=tmp_path)
    replace_file = working_snapshot.replace_file
    interruptions = iter([True])

    def interrupted(path: Path, content: bytes, *, mode: int) -> None:
        if next(interruptions, False):
            other = threading.Thread(target=memory.note, args=("newer",))
            other.start()
            other.join()
            memory.snapshot()
        replace_file(path, content, mode=mode)

    monkeypatch.setattr(working_snapshot, "replace_file", interrupted)
    memory.snapshot()
    assert WorkingMemory("swe-1", data=tmp_path).scratchpad == ("newer",)


@pytest.fixture
def no_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("no_handler")
def test_a_process_without_open_memories_has_the_handler_it_had(tmp_path: Path) -> None:
    memories = [WorkingMemory(agent, data=tmp_path) for agent in ("swe-1", "swe-2")]
    for memory in memories:
        memory.snapshot_on_exit()
        memory.snapshot_on_exit()
    assert signal.getsignal(signal.SIGTERM) not in {signal.SIG_DFL, None}
    memories[0].close()
    assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    memories[1].close()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.usefixtures("no_handler")
def test_handlers_set_before_and_after_are_each_called_once() -> None:
    """The later one calls ours, as ours calls the earlier one."""
    called: list[str] = []
    signal.signal(signal.SIGTERM, lambda number, frame: called.append("earlier"))
    endings = Endings()
    stop = endings.add(lambda: called.append("ours"))
    ours = signal.getsignal(signal.SIGTERM)

    def later(number: int, frame: FrameType | None) -> None:
        called.append("later")
        assert callable(ours)
        ours(number, frame)

    signal.signal(signal.SIGTERM, later)
    stop()
    stop_again = endings.add(lambda: called.append("ours"))
    signal.raise_signal(signal.SIGTERM)
    assert called == ["later", "ours", "earlier"]
    stop_again()
    assert signal.getsignal(signal.SIGTERM) == later


@pytest.mark.usefixtures("no_handler")
def test_a_task_that_fails_keeps_no_other_from_its_turn(caplog: pytest.LogCaptureFixture) -> None:
    called: list[str] = []
    signal.signal(signal.SIGTERM, lambda number, frame: called.append("earlier"))
    endings = Endings()

    def fail() -> None:
        raise OSError("a text nobody should log")

    for task in (fail, lambda: called.append("ours")):
        endings.add(task)
    signal.raise_signal(signal.SIGTERM)
    assert called == ["ours", "earlier"]
    assert "OSError" in caplog.text
    assert "a text" not in caplog.text
    endings._tasks.clear()  # pyright: ignore[reportPrivateUsage]
