"""The notes of one organisation with complete judgments (benchmarks/data/relevance), a task for each part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.finding_quality import DATA, Question, Task

NOTES = DATA / "relevance"
# `held_out` was looked at while earlier versions were tried; `apart` is looked at once for a version that is final.
DEV, HELD_OUT, APART = "dev", "held_out", "apart"


def half(split: str) -> Task:
    texts: dict[str, tuple[str, str, str]] = {}
    titles: dict[str, str] = {}
    for row in _rows(NOTES / "notes.tsv"):
        if row["split"] == split:
            # In a folder of its own each: they were not written one after another, and are no neighbours.
            texts[row["id"]] = (f"/{row['id']}", "/", row["content"].replace("\\n", "\n"))
            titles[row["id"]] = row["title"]
    questions = [
        Question(row["question"], "/", frozenset(row["answers"].split()), row["kind"], frozenset(row["maybe"].split()))
        for row in _rows(NOTES / "questions.tsv")
        if row["split"] == split
    ]
    return Task(f"notes, {split}", texts, questions, titles)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    header, *lines = path.read_text("utf-8").splitlines()
    names = header.split("\t")
    for line in lines:
        yield dict(zip(names, line.split("\t"), strict=True))
