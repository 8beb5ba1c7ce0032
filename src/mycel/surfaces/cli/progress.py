"""Shows whoever watches that a command is at work; standard output stays free for the answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID

    from mycel.domain.embedding import EmbeddingProgress

# Called with how many are done.
Counter = Callable[[int], None]
Report = Callable[[str, "EmbeddingProgress"], None]


@contextmanager
def progress(doing: str) -> Generator[Report | None]:
    """A bar that moves as long as it takes, and one for each team whose vectors are being made."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bars.add_task(doing, total=None)
        tasks: dict[str, TaskID] = {}

        def report(team: str, done: EmbeddingProgress) -> None:
            if team not in tasks:
                tasks[team] = bars.add_task(f"embedding {team}")
            bars.update(tasks[team], total=done.embedded + done.pending, completed=done.embedded)

        yield report


@contextmanager
def counting(doing: str) -> Generator[Counter | None]:
    """A bar that moves as long as it takes, with how many are done beside it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(doing, total=None)
        yield lambda done: bars.update(task, completed=done)
