"""Summaries without a language model: how much of what a reader would write down is told, and in its part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.extraction import SPLITS, as_transcript
from benchmarks.report import show_rows
from mycel.domain.session_summary import IN_ONE_LINE, Part, points_of
from mycel.engine.summary import summarize
from mycel.retrieval.analysis import index_text

DATA = Path(__file__).parent / "data" / "talk" / "talks"
PARTS = tuple(part for part in Part if part is not Part.SAID)
# Of the telling words of a judged point, so many must stand in what is told.
LEAST_SHARED = 0.5
_LEAST_LETTERS = 3


def run(folder: Path, *, quick: bool) -> None:
    from mycel.providers.judge.shipped import builtin_judge

    reader = builtin_judge()
    rows: list[tuple[str, ...]] = []
    for split in SPLITS[:1] if quick else SPLITS:
        talks = [yaml.safe_load(path.read_text("utf-8")) for path in sorted((DATA / split).glob("*.yaml"))]
        judged = [talk for talk in talks if "summary" in talk]
        if not judged:
            continue
        asked, placed, told, given = Counter[Part](), Counter[Part](), Counter[Part](), Counter[Part]()
        for talk in judged:
            judge(talk, summarize(as_transcript(talk["turns"]), judge=reader), asked, placed, told, given)
        for name, parts in (("all", PARTS), *((part.value, (part,)) for part in PARTS)):
            counts = [sum(counter[part] for part in parts) for counter in (asked, placed, told, given)]
            shares = [f"{found} of {counts[0]} ({found / max(1, counts[0]):.2f})" for found in counts[1:3]]
            rows.append((split, name, *shares, str(counts[3])))
    headings = ("talks", "part", "told in its part", "told anywhere", "points given")
    show_rows("Summaries by rules: points that a reader wrote down", headings, rows)


def judge(talk: Mapping[str, Any], summary: str, *counters: Counter[Part]) -> None:
    asked, placed, told, given = counters
    for part in PARTS:
        points = _points(summary, part)
        given[part] += len(points)
        for wanted in talk["summary"][part.lower()]:
            asked[part] += 1
            placed[part] += any(_tells(point, wanted) for point in points)
            told[part] += any(_tells(line, wanted) for line in summary.splitlines())


def _points(summary: str, part: Part) -> Sequence[str]:
    if part not in IN_ONE_LINE:
        return points_of(summary, part)
    label = f"{part}: "
    return [line.removeprefix(label) for line in summary.splitlines() if line.startswith(label)]


def _tells(point: str, wanted: str) -> bool:
    words = _words(wanted)
    return len(words & _words(point)) >= LEAST_SHARED * len(words)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in index_text(text).split() if len(word) >= _LEAST_LETTERS or word.isdigit())
