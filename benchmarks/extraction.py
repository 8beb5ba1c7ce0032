"""Candidates from transcripts without a language model: precision and recall on labelled talk, and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import yaml

from benchmarks.report import show_rows
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.extraction.extract import extract

DATA = Path(__file__).parent / "data" / "transcripts"
SPLITS = ("dev", "held_out")
SMALL_TALK = "smalltalk"
LEAST_PRECISION = 0.8
LEAST_RECALL = 0.6
LEAST_MB_A_SECOND = 2.0
TOOL_CHARS = 500


@dataclass(frozen=True, slots=True)
class Label:
    """A place worth a candidate, and the types that it may have."""

    types: frozenset[str]
    start: int
    end: int

    def fits(self, candidate: Candidate) -> bool:
        """Whether the evidence covers the place, with a type that it may have."""
        return candidate.type in self.types and self.covers(candidate)

    def covers(self, candidate: Candidate) -> bool:
        """Whether the evidence has at least half of the place, whatever its type."""
        return 2 * (min(self.end, candidate.end) - max(self.start, candidate.start)) >= self.end - self.start


Judged = Callable[[Label, Candidate], bool]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A transcript, what must be found in it, and what may be."""

    name: str
    kind: str
    transcript: Transcript
    keep: tuple[Label, ...]
    may: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """What was given and right, what was asked for and found."""

    given: int = 0
    right: int = 0
    asked: int = 0
    found: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(
            self.given + other.given, self.right + other.right, self.asked + other.asked, self.found + other.found
        )

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.asked if self.asked else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def run(folder: Path, *, quick: bool) -> None:
    splits = {name: read_split(name) for name in SPLITS}
    headings = ("transcripts", "precision", "recall", "F1", "candidates", f"aim {LEAST_PRECISION} / {LEAST_RECALL}")
    show_rows("Extraction by rules: quality, with the type right", headings, _rows(splits, judged=Label.fits))
    show_rows("Extraction by rules: quality, whatever the type", headings, _rows(splits, judged=Label.covers))
    chatter = [one for split in splits.values() for one in split if one.kind == SMALL_TALK]
    print(f"Candidates from {len(chatter)} pieces of small talk: {sum(score(one).given for one in chatter)} (aim: 0)")
    talks = [spoken(one.transcript) for split in splits.values() for one in split]
    sessions = [with_tools(talk) for talk in talks]
    speed(talks, what="nothing but short chat", rounds=3 if quick else 20)
    speed(sessions, what=f"with {TOOL_CHARS:,} characters of a tool after each turn", rounds=3 if quick else 20)


def speed(transcripts: Sequence[Transcript], *, what: str, rounds: int) -> None:
    found = megabytes_a_second(transcripts, rounds=rounds)
    mark = "reached" if found >= LEAST_MB_A_SECOND else "not reached"
    print(f"Speed, {what}: {found:.1f} MB/s (aim: {LEAST_MB_A_SECOND} MB/s, {mark})")


def _rows(splits: Mapping[str, Sequence[Labelled]], *, judged: Judged) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, split in splits.items():
        rows.append(_row(name, total(split, judged=judged)))
        for kind in dict.fromkeys(one.kind for one in split):
            rows.append(_row(f"  {kind}", total((one for one in split if one.kind == kind), judged=judged)))
    return rows


def _row(name: str, found: Score) -> tuple[str, ...]:
    counts = f"{found.right} of {found.given} right, {found.found} of {found.asked} found"
    reached = found.precision >= LEAST_PRECISION and found.recall >= LEAST_RECALL
    mark = "reached" if reached else "not reached"
    return name, f"{found.precision:.2f}", f"{found.recall:.2f}", f"{found.f1:.2f}", counts, mark


def total(labelled: Iterable[Labelled], *, judged: Judged = Label.fits) -> Score:
    return sum((score(one, judged=judged) for one in labelled), Score())


def score(labelled: Labelled, *, judged: Judged = Label.fits) -> Score:
    """How well the candidates agree with the labels; `judged` says when one agrees with the other."""
    return compare(labelled, extract(labelled.transcript), judged=judged)


def compare(labelled: Labelled, candidates: Sequence[Candidate], *, judged: Judged) -> Score:
    labels = (*labelled.keep, *labelled.may)
    return Score(
        given=len(candidates),
        right=sum(any(judged(label, candidate) for label in labels) for candidate in candidates),
        asked=len(labelled.keep),
        found=sum(any(judged(label, candidate) for candidate in candidates) for label in labelled.keep),
    )


def read_split(name: str) -> list[Labelled]:
    return [_labelled(path) for path in sorted((DATA / name).glob("*.yaml"))]


def _labelled(path: Path) -> Labelled:
    content = yaml.safe_load(path.read_text("utf-8"))
    transcript = as_transcript(content["turns"])
    keep, may = (_labels(content.get(name) or (), text=transcript.text) for name in ("keep", "may"))
    return Labelled(path.stem, content["kind"], transcript, keep, may)


def _labels(entries: Sequence[Mapping[str, Any]], *, text: str) -> tuple[Label, ...]:
    labels: list[Label] = []
    for entry in entries:
        types = entry["type"] if isinstance(entry["type"], list) else [entry["type"]]
        start = text.index(entry["quote"])
        labels.append(Label(frozenset(types), start, start + len(entry["quote"])))
    return tuple(labels)


def as_transcript(turns: Sequence[Mapping[str, str]]) -> Transcript:
    """The turns as paragraphs, each after the name of who speaks."""
    text = ""
    places: list[Turn] = []
    for turn in turns:
        speaker = turn.get("speaker")
        text += f"{speaker or turn['role']}: "
        places.append(Turn(turn["role"], len(text), len(text) + len(turn["text"]), speaker))
        text += turn["text"] + "\n\n"
    return Transcript(text, tuple(places))


def spoken(transcript: Transcript) -> Transcript:
    """What people and assistants say, without the tools between."""
    return as_transcript([_turn(transcript, turn) for turn in transcript.turns if turn.role in {"user", "assistant"}])


def with_tools(transcript: Transcript) -> Transcript:
    """As the transcripts of agents are: mostly what tools printed."""
    output = "src/module.py:42: checked 17 files in 0.4 s\n" * (TOOL_CHARS // 44)
    turns = [_turn(transcript, turn) for turn in transcript.turns]
    return as_transcript([each for turn in turns for each in (turn, {"role": "tool", "text": output})])


def _turn(transcript: Transcript, turn: Turn) -> dict[str, str]:
    speaker = {"speaker": turn.speaker} if turn.speaker else {}
    return {"role": turn.role, "text": transcript.text[turn.start : turn.end], **speaker}


def megabytes_a_second(transcripts: Sequence[Transcript], *, rounds: int) -> float:
    size = sum(len(transcript.text.encode()) for transcript in transcripts)
    started = perf_counter()
    for _ in range(rounds):
        for transcript in transcripts:
            extract(transcript)
    return rounds * size / 1e6 / (perf_counter() - started)
