"""Single turns that sound as if they had to be kept: what is, of which type, and what would become active by itself."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import show_rows
from benchmarks.talk_lines import becomes_active
from mycel.contracts.judge import Judge
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.extraction.extract import extract

PATH = Path(__file__).parent / "data" / "talk" / "tricky_talk.tsv"
LEAST_ACTIVE_RIGHT = 0.97


@dataclass(frozen=True, slots=True)
class TrickyTurn:
    split: str
    kind: str
    transcript: Transcript
    keep: bool
    type: str
    active: bool


def read_tricky_talk(path: Path = PATH) -> list[TrickyTurn]:
    with path.open(encoding="utf-8", newline="") as file:
        return [_read(row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def _read(row: dict[str, str]) -> TrickyTurn:
    text = row["text"].replace("\\n", "\n")
    turn = Turn(row["role"], 0, len(text), row["speaker"] or None)
    keep, active = row["keep"] == "yes", row["active"] == "yes"
    return TrickyTurn(row.get("split", ""), row["kind"], Transcript(text, (turn,)), keep, row["type"], active)


def show_tricky_talk(by: str, judge: Judge | None) -> None:
    turns = read_tricky_talk()
    rows: list[tuple[str, ...]] = []
    for split in ("dev", "held_out"):
        drawn = [(turn, extract(turn.transcript, judge=judge)) for turn in turns if turn.split == split]
        rows += _rows(split, drawn)
    headings = ("single turns", "kept, right", "found", "found, type right", "active, right", "aim")
    show_rows(f"Tricky talk by {by}", headings, rows)


Drawn = Sequence[tuple[TrickyTurn, Sequence[Candidate]]]


def _rows(split: str, drawn: Drawn) -> Iterator[tuple[str, ...]]:
    from benchmarks.extraction import types_of

    kept = [(turn, found) for turn, found in drawn if found]
    wanted = sum(turn.keep for turn, _ in drawn)
    found = sum(turn.keep for turn, _ in kept)
    typed = sum(any(turn.type in types_of(one) for one in each) for turn, each in kept if turn.keep)
    active = [turn for turn, each in kept if any(map(becomes_active, each))]
    right = sum(turn.active for turn in active)
    reached = bool(active) and right / len(active) >= LEAST_ACTIVE_RIGHT
    yield (
        split,
        f"{found} of {len(kept)}",
        f"{found} of {wanted}",
        f"{typed} of {wanted}",
        f"{right} of {len(active)} ({sum(turn.active for turn, _ in drawn)} might be)",
        f"{LEAST_ACTIVE_RIGHT} {'reached' if reached else 'not reached'}",
    )
    if split == "dev":
        wrong = Counter(turn.kind for turn, _ in kept if not turn.keep)
        yield (f"  wrongly kept: {', '.join(f'{kind} {count}' for kind, count in wrong.items())}", *[""] * 5)
