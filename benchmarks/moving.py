"""Archives out and in, and what a backup of a large workspace does to those who write meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from time import perf_counter

import mycel
from benchmarks.report import Figure, show
from benchmarks.texts import Notes
from mycel.embedded.team_memory import TeamMemory

SAVED_AT_ONCE = 500
BYTES = 1_000_000_000


def run(folder: Path, *, quick: bool) -> None:
    count = 5_000 if quick else 20_000
    with mycel.open(folder / "old") as old, mycel.open(folder / "new") as new:
        _fill(old.as_operator(), count)
        file = folder / "all.jsonl"
        exported = _seconds(lambda: old.export(file))
        imported = _seconds(lambda: new.import_(file))
    before, during, copied, taken = _backup(folder / "large", most=BYTES // 20 if quick else BYTES)
    show(
        "Moving and backing up",
        [
            _rate("export of an archive", count / exported, aim=20_000),
            _rate("import of an archive", count / imported, aim=8_000),
            Figure("backup", f"{copied / 1e6:,.0f} MB in {taken:.1f} s", "", ""),
            Figure(
                "p99 of saves while a backup is made",
                f"{during * 1000:.1f} ms",
                f"{before * 1000:.1f} ms without",
                f"{during / before:.2f}",
                "at most 2",
                during <= 2 * before,
            ),
        ],
    )


def _rate(name: str, rate: float, *, aim: int) -> Figure:
    return Figure(name, f"{rate:,.0f} memories/s", "", "", f"at least {aim:,}", rate >= aim)


def _seconds(call: Callable[[], object]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


def _fill(memory: TeamMemory, count: int, *, letters: int = 0) -> None:
    notes = Notes()
    for start in range(0, count, SAVED_AT_ONCE):
        memory.save_many(
            [{"content": notes.text() + " " + "x" * letters} for _ in range(min(SAVED_AT_ONCE, count - start))]
        )


def _backup(folder: Path, *, most: int) -> tuple[float, float, int, float]:
    """The p99 of saves before and during a backup, how much it copied, and how long it took."""
    with mycel.open(folder / "data") as workspace:
        memory = workspace.as_operator()
        _fill(memory, most // 32_000, letters=30_000)
        before = _p99(_saves(memory, threading.Event(), seconds=5.0))
        done = threading.Event()
        waits: list[float] = []
        writer = threading.Thread(target=lambda: waits.extend(_saves(memory, done)))
        writer.start()
        started = perf_counter()
        backup = workspace.backup(folder / "backup")
        taken = perf_counter() - started
        done.set()
        writer.join()
    return before, _p99(waits), backup.size_bytes, taken


def _saves(memory: TeamMemory, done: threading.Event, *, seconds: float = 600.0) -> list[float]:
    """One writer that rests as agents do: otherwise it would be the whole load of the machine."""
    notes, waits, end = Notes(), list[float](), perf_counter() + seconds
    while not done.wait(0.005) and perf_counter() < end:
        text, started = notes.text(), perf_counter()
        memory.save(text)
        waits.append(perf_counter() - started)
    return waits


def _p99(waits: list[float]) -> float:
    return quantiles(waits, n=100)[-1]
