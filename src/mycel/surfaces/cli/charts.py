"""Small charts for a terminal: bars side by side, and a line of days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from mycel.surfaces.cli.output import Line, line, print_lines

BAR_WIDTH = 30
DAYS = 14
# Eighths of a cell, so that small differences show.
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def show_statistics(tables: Iterable[tuple[str, Mapping[str, int]]], by_day: Mapping[str, int]) -> None:
    for title, by in tables:
        if by:
            print_lines([line(""), line((title, "bold")), *bars(by)])
    if by_day:
        print_lines([line(""), line(("by day", "bold")), days(by_day, until=datetime.now(UTC).date())])


def bars(by: Mapping[str, int]) -> list[Line]:
    """The longest bar is the greatest count."""
    width, most = max(map(len, by)), max(by.values())
    places = len(str(most))
    return [
        line((f"{name:<{width}}", "dim"), f"  {count:>{places}}  ", (_bar(count, most), "cyan"), indent=2)
        for name, count in by.items()
    ]


def days(by_day: Mapping[str, int], *, until: date) -> Line:
    """One mark for each of the last days; a day on which nothing was written stays empty."""
    wanted = [until - timedelta(days=DAYS - 1 - place) for place in range(DAYS)]
    counts = [by_day.get(day.isoformat(), 0) for day in wanted]
    told = f" {wanted[0]:%d %b} to {until:%d %b}, {sum(counts)} written"
    return line((_heights(counts), "cyan"), (told, "dim"), indent=2)


def _bar(count: int, most: int) -> str:
    eighths = round(8 * BAR_WIDTH * count / most) if most else 0
    whole, rest = divmod(max(eighths, 1 if count else 0), 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def _heights(counts: Sequence[int]) -> str:
    most = max(counts)
    return "".join(_HEIGHTS[min(7, 8 * count // most)] if count else " " for count in counts) if most else ""
