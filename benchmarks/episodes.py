"""The ledger at a million episodes: looking up a task, success rates, and what writers notice of the pruning."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, sleep
from typing import Any

import apsw

from benchmarks.report import Figure, interleaved, p50, p99, show
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.settings import Settings
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.store import SqliteStore
from mycel.testing.clock import ManualClock

DAYS = 30
AGENTS = 50
APPROACHES = 300
PER_TASK = 8
BATCH = 1000
# A day's share of what a month of episodes is pruned by, and how many writers go on meanwhile.
PRUNED_SHARE = 30
LOOKUP_AIM, RATES_AIM, WAIT_AIM = 0.002, 0.300, 0.050
_NOTES = Notes(seed=3)
_ACTIONS = ("attempted", "completed", "completed", "failed")


def run(folder: Path, *, quick: bool) -> None:
    size = 50_000 if quick else 1_000_000
    clock = ManualClock()
    settings = Settings(data=folder, embedder="none")
    with open_workspace(settings=settings, clock=clock, disk=Disk(synchronous="OFF")) as workspace:
        _fill(workspace, clock, size)
    # Filled without waiting for the disk, measured with it.
    with open_workspace(settings=settings, clock=clock) as workspace:
        memory = workspace.as_member("planner")
        figures = [*_lookups(memory, folder, size), *_rates(memory), *_pruning(workspace, clock, size)]
    show(f"The ledger at {size:,} episodes", figures)


def _fill(workspace: Workspace, clock: ManualClock, size: int) -> None:
    workspace.add_team("bench")
    workspace.add_member("planner", team="bench", role="orchestrator")
    # Another part of the nightly work, measured by itself.
    workspace.as_operator("bench").set_policy(consolidate_every="never")
    memory = workspace.as_member("planner")
    notes, random = Notes(), Random(7)
    ways = [notes.text() for _ in range(APPROACHES)]
    started = perf_counter()
    for first in range(0, size, BATCH):
        clock.move(timedelta(days=DAYS) * BATCH / size)
        memory.episodes.log_many([_episode(number, ways, random) for number in range(first, first + BATCH)])
        if first % 100_000 == 0:
            print(f"  {first:,} episodes, {perf_counter() - started:.0f} s", flush=True)


def _episode(number: int, ways: Sequence[str], random: Random) -> dict[str, object]:
    return {
        "task_id": f"T-{number // PER_TASK}",
        "agent_id": f"swe-{random.randrange(AGENTS)}",
        "action": random.choice(_ACTIONS),
        "approach": random.choice(ways),
        "outcome": "as it was expected",
        "duration_ms": random.randrange(100_000),
        "tokens_in": random.randrange(20_000),
        "tokens_out": random.randrange(2_000),
        "project": f"project-{number % 5}",
    }


def _lookups(memory: TeamMemory, folder: Path, size: int) -> Iterator[Figure]:
    random = Random(11)
    floor = apsw.Connection(str(folder / "teams" / "bench" / "memory.sqlite"), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT m.* FROM memories m WHERE m.task_id = ? AND m.type = 'episode'"

    def task() -> str:
        return f"T-{random.randrange(size // PER_TASK)}"

    ours, bare = interleaved(
        lambda: memory.episodes.list(task_id=task()), lambda: floor.execute(sql, (task(),)).fetchall(), rounds=500
    )
    floor.close()
    yield Figure(
        "what was tried for a task, p50 / a bare SELECT",
        f"{p50(ours) * 1000:.2f} ms",
        f"{p50(bare) * 1000:.2f} ms",
        f"{p50(ours) / p50(bare):.1f} x",
        f"<= {LOOKUP_AIM * 1000:.0f} ms",
        p50(ours) <= LOOKUP_AIM,
    )


def _rates(memory: TeamMemory) -> Iterator[Figure]:
    for by in ("approach", "agent", "day"):
        (seconds,) = interleaved(lambda by=by: memory.episodes.success_rates(by), rounds=5)
        yield Figure(
            f"success rates by {by} over {DAYS} days, median of 5",
            f"{median(seconds) * 1000:.0f} ms",
            "",
            "",
            f"<= {RATES_AIM * 1000:.0f} ms",
            median(seconds) <= RATES_AIM,
        )


def _pruning(workspace: Workspace, clock: ManualClock, size: int) -> Iterator[Figure]:
    memory = workspace.as_member("planner")
    before = _save_for(memory, seconds=3.0)
    clock.move(timedelta(days=DAYS) / PRUNED_SHARE)
    stop = threading.Event()
    waits: list[float] = []

    def write() -> None:
        while not stop.is_set():
            waits.append(_save(memory))
            sleep(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    started = perf_counter()
    steps, own = _time_steps(workspace)
    took = perf_counter() - started
    stop.set()
    writer.join()
    yield Figure(
        f"each of {len(own):,} steps of pruning {size // PRUNED_SHARE:,}, in which writers wait: longest",
        f"{max(own) * 1000:.0f} ms",
        f"p99 {p99(own) * 1000:.1f} ms",
        "",
        f"<= {WAIT_AIM * 1000:.0f} ms",
        max(own) <= WAIT_AIM,
    )
    yield Figure(
        "the same with its turn among the writers and the disk's sync, longest / longest save alone",
        f"{max(steps) * 1000:.0f} ms",
        f"{max(before) * 1000:.0f} ms",
        f"{max(steps) / max(before):.1f} x",
    )
    yield Figure(
        f"a save meanwhile ({took:.0f} s), longest / longest alone",
        f"{max(waits) * 1000:.0f} ms",
        f"{max(before) * 1000:.0f} ms",
        f"{max(waits) / max(before):.1f} x",
    )
    yield Figure(
        "the same, p99",
        f"{p99(waits) * 1000:.1f} ms",
        f"{p99(before) * 1000:.1f} ms",
        f"{p99(waits) / p99(before):.1f} x",
    )


def _time_steps(workspace: Workspace) -> tuple[list[float], list[float]]:
    """Seconds of each transaction of the nightly work, as its caller and as the one thread that writes sees it."""
    plain, here = SqliteStore.transact, threading.current_thread()
    steps: list[float] = []
    own: list[float] = []

    def timed(store: SqliteStore, work: Callable[[Any], Any]) -> Any:
        if threading.current_thread() is not here:
            return plain(store, work)
        return _timed(steps, lambda: plain(store, lambda transaction: _timed(own, lambda: work(transaction))))

    SqliteStore.transact = timed
    try:
        workspace.maintain()
    finally:
        SqliteStore.transact = plain
    return steps, own


def _timed(into: list[float], work: Callable[[], Any]) -> Any:
    started = perf_counter()
    try:
        return work()
    finally:
        into.append(perf_counter() - started)


def _save_for(memory: TeamMemory, *, seconds: float) -> list[float]:
    waits: list[float] = []
    end = perf_counter() + seconds
    while perf_counter() < end:
        waits.append(_save(memory))
        sleep(0.002)
    return waits


def _save(memory: TeamMemory) -> float:
    text = _NOTES.text()
    started = perf_counter()
    memory.save(text)
    return perf_counter() - started
