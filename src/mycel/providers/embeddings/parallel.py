"""Work on several cores, as long as nobody else needs them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from time import perf_counter, thread_time

# Each holds the intermediate results of a text in memory, some megabytes.
MOST_THREADS = 4
# Of the time that has passed: three threads on two cores get two thirds each.
LEAST_SHARE = 0.75
# Earlier, a single interruption would look like a busy machine.
SETTLED_SECONDS = 0.01


def usable_threads() -> int:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, MOST_THREADS)


def run_parallel(work: Callable[[int], None], count: int, *, threads: int) -> None:
    """Calls `work` with every number below `count`, in any order; what fails first ends it and is raised here.

    Threads live as long as the call: those of a pool would be missing after a fork. All but the caller's own leave
    when they do not have a core to themselves, so that whoever else needs one soon gets it.
    """
    waiting = deque(range(count))
    failures: list[Exception] = []

    def help_out() -> None:
        has_core = _core_watch()
        try:
            while has_core() and (number := _take(waiting)) is not None:
                work(number)
        except Exception as error:  # noqa: BLE001 - raised again by the caller's thread
            failures.append(error)
            waiting.clear()

    helpers = [
        threading.Thread(target=help_out, name="mycel-model", daemon=True) for _ in range(min(threads, count) - 1)
    ]
    try:
        # None can be started while the interpreter ends, or where too many are: the caller does it all then.
        with contextlib.suppress(RuntimeError):
            for helper in helpers:
                helper.start()
        while (number := _take(waiting)) is not None:
            work(number)
    finally:
        waiting.clear()
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if failures:
        raise failures[0]


def _take(waiting: deque[int]) -> int | None:
    try:
        return waiting.popleft()
    except IndexError:
        return None


def _core_watch() -> Callable[[], bool]:
    """Tells whether this thread has had a core to itself since now, give or take."""
    began, used = perf_counter(), thread_time()

    def has_core() -> bool:
        passed = perf_counter() - began
        return passed < SETTLED_SECONDS or thread_time() - used >= LEAST_SHARE * passed

    return has_core
