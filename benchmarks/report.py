"""One table of figures, each beside what it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """`ratio` is ours to theirs; `aim` says what it should be, and `reached` whether it was."""

    name: str
    ours: str
    beside: str
    ratio: str
    aim: str = ""
    reached: bool | None = None


def show(title: str, figures: Sequence[Figure]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading in ("what", "Mycel", "beside", "ratio", "aim", ""):
        table.add_column(heading)
    for figure in figures:
        mark = {None: "", True: "reached", False: "not reached"}[figure.reached]
        table.add_row(figure.name, figure.ours, figure.beside, figure.ratio, figure.aim, mark)
    Console(width=150).print(table)


def show_rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of another shape, for reading across."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    Console(width=150).print(table)


def interleaved(*calls: Callable[[], object], rounds: int, repeat: int = 1) -> list[list[float]]:
    """Seconds of each call, the calls taking turns, so that a busy machine slows them all alike."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for kept, call in zip(seconds, calls, strict=True):
            started = perf_counter()
            for _ in range(repeat):
                call()
            kept.append((perf_counter() - started) / repeat)
    return seconds


def p50(seconds: Sequence[float]) -> float:
    return median(seconds)


def p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.95))]


def p99(seconds: Sequence[float]) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.99))]
