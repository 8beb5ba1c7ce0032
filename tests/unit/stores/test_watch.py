"""A file that is watched without being opened."""

import os
import threading
import time
from pathlib import Path

import pytest

from mycel.stores.sqlite.watch import FileWatch

NOW = 1_700_000_000_123_456_789


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


def write(file: Path, *, at: int) -> None:
    file.write_text("x")
    os.utime(file, ns=(at, at))


def settled(file: Path) -> FileWatch:
    watch = FileWatch(file, closed=lambda _: None)
    while watch.wait(0.3):
        pass
    return watch


def test_a_write_is_noticed_by_the_time_of_the_file(file: Path) -> None:
    watch = settled(file)
    assert not watch.wait(0.1)
    for number, name in enumerate(("memory.sqlite", "memory.sqlite-wal", "memory.sqlite-wal")):
        write(file.with_name(name), at=NOW + number)
        assert watch.wait(2)
        while watch.wait(0.3):
            pass


def test_after_a_write_the_log_is_read_once_more_for_one_within_the_same_tick(file: Path) -> None:
    watch = settled(file)
    write(file, at=NOW)
    assert [watch.wait(0.3) for _ in range(3)] == [True, True, False]


def test_where_times_are_whole_seconds_it_takes_longer_to_be_sure(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mycel.stores.sqlite.watch.COARSE_TICK_SECONDS", 0.9)
    watch = settled(file)
    write(file, at=NOW // 10**9 * 10**9)
    started = time.monotonic()
    while watch.wait(0.3):
        pass
    assert time.monotonic() - started > 0.9


def test_a_wait_is_ended_at_once(file: Path) -> None:
    watch = settled(file)
    threading.Timer(0.05, watch.wake).start()
    started = time.monotonic()
    assert watch.wait(10)
    assert time.monotonic() - started < 5
    assert not watch.wait(0.1)
