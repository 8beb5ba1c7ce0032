"""Work on several cores, and leaving them to others."""

from __future__ import annotations

import hashlib
import os
import threading
import time

import pytest

from mycel.providers.embeddings import parallel
from mycel.providers.embeddings.parallel import run_parallel


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("count", [0, 1, 3, 200])
def test_everything_is_done_once(count: int, threads: int) -> None:
    done: list[int] = []
    run_parallel(done.append, count, threads=threads)
    assert sorted(done) == list(range(count))


def test_one_piece_of_work_needs_no_other_thread() -> None:
    seen: list[int] = []
    run_parallel(lambda _: seen.append(threading.get_ident()), 1, threads=4)
    assert seen == [threading.get_ident()]


def test_a_helper_without_a_core_to_itself_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "thread_time", lambda: 0.0)
    workers: list[int] = []

    def work(_: int) -> None:
        workers.append(threading.get_ident())
        time.sleep(1.2 * parallel.SETTLED_SECONDS)

    run_parallel(work, 12, threads=2)
    assert len(workers) == 12
    others = [worker for worker in workers if worker != threading.get_ident()]
    assert len(others) <= 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be kept on one core there")
def test_where_another_thread_needs_the_core_it_gets_nearly_all_of_it() -> None:
    """Threads inherit the only core of the one that starts them, so caller and helper are in each other's way."""
    workers: list[int] = []

    def work(_: int) -> None:
        workers.append(threading.get_ident())
        hashlib.pbkdf2_hmac("sha256", b"text", b"salt", 10_000)

    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        run_parallel(work, 100, threads=2)
    finally:
        os.sched_setaffinity(0, allowed)
    others = [worker for worker in workers if worker != threading.get_ident()]
    assert len(others) <= 25


def test_a_helper_with_a_core_to_itself_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "thread_time", time.perf_counter)
    workers: list[int] = []

    def work(_: int) -> None:
        workers.append(threading.get_ident())
        time.sleep(1.2 * parallel.SETTLED_SECONDS)

    run_parallel(work, 12, threads=2)
    others = [worker for worker in workers if worker != threading.get_ident()]
    assert len(others) >= 3


@pytest.mark.parametrize("in_helper", [True, False])
def test_what_fails_in_any_thread_ends_the_work_and_is_raised(in_helper: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # However busy the machine is, the helper stays to meet the caller.
    monkeypatch.setattr(parallel, "LEAST_SHARE", 0.0)
    caller, both = threading.get_ident(), threading.Barrier(2, timeout=10)
    done: list[int] = []

    def work(number: int) -> None:
        if number < 2:
            both.wait()
        if (threading.get_ident() != caller) == in_helper:
            raise ValueError("no")
        time.sleep(0.01)
        done.append(number)

    with pytest.raises(ValueError, match="no"):
        run_parallel(work, 100, threads=2)
    assert len(done) < 10


def test_without_another_thread_the_caller_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while the interpreter ends."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    done: list[int] = []
    run_parallel(done.append, 10, threads=4)
    assert done == list(range(10))
