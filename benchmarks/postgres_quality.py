"""Whether what is found on Postgres is as good as on SQLite: the same sets, the same model, the same questions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.finding_quality import (
    ADVERSARIAL,
    HYBRID,
    WORDS,
    Answer,
    Task,
    ask,
    mean_recall,
    model_of,
    save,
    tasks_in,
)
from benchmarks.kept_vectors import KeptVectors
from benchmarks.report import Figure, show
from mycel.app import open_workspace
from mycel.contracts.embedder import Embedder
from tests.postgres import as_url, emptied, server

# How much worse than on SQLite the recall at 10 may be, in points.
MOST_LOST = 1.0


def quality(folder: Path, *, bench_data: Path, model: Path | None, cache: Path | None) -> None:
    os.environ["MYCEL_DATA"] = str(folder / "settings")
    kept = KeptVectors(model_of(model), folder=cache)
    figures: list[Figure] = []
    for task in tasks_in(bench_data):
        for way, embedder in ((WORDS, None), (HYBRID, kept)):
            emptied()
            on_server = _answers(task, as_url(server().service), embedder)
            on_files = _answers(task, folder / task.name / way.replace(" ", ""), embedder)
            figures += _compared(f"{task.name}, {way}", on_server, on_files)
    show("Postgres: quality beside SQLite (recall at 10, in percent)", figures)


def _answers(task: Task, address: str | Path, embedder: Embedder | None) -> list[Answer]:
    with open_workspace(address, embedder=embedder) as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        given = save(memory, task)
        workspace.run_pending()
        return [ask(memory, question, given) for question in task.questions]


def _compared(name: str, on_server: Sequence[Answer], on_files: Sequence[Answer]) -> Iterator[Figure]:
    ours, theirs = (
        mean_recall([answer for answer in answers if answer.question.category != ADVERSARIAL])
        for answers in (on_server, on_files)
    )
    same = sum(list(one.ids) == list(other.ids) for one, other in zip(on_server, on_files, strict=True))
    yield Figure(
        name,
        f"{ours:.2f}",
        f"SQLite: {theirs:.2f}; {100 * same / len(on_files):.1f} % of {len(on_files):,} answers alike",
        f"{ours - theirs:+.2f}",
        f">= -{MOST_LOST:.0f}",
        ours >= theirs - MOST_LOST,
    )
