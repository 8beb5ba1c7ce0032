"""Candidates from talk without a language model: precision and recall on labelled talk, what becomes active, speed.

`--talk FILE` prints instead, line by line, what is drawn from a talk of your own: what was kept, as what, whose word it
is, and whether it would become active or wait, and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import yaml

from benchmarks.report import show_rows
from benchmarks.talk_lines import show_talk
from mycel.contracts.judge import Judge
from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import Candidate, Transcript, Turn
from mycel.engine.extraction.extract import extract

DATA = Path(__file__).parent / "data"
SPLITS = ("dev", "held_out", "kept_apart")
SETS = ("transcripts", "talk/talks")
SMALL_TALK = "smalltalk"
LEAST_PRECISION = 0.8
LEAST_RECALL = 0.65
LEAST_MB_A_SECOND = 2.0


@dataclass(frozen=True, slots=True)
class Label:
    """A place worth a candidate, and the types that it may have."""

    types: frozenset[str]
    start: int
    end: int
    by: str = ""
    stands_alone: str = ""

    def fits(self, candidate: Candidate) -> bool:
        """Whether the evidence covers the place, with a type that it may have."""
        return not self.types.isdisjoint(types_of(candidate)) and self.covers(candidate)

    def covers(self, candidate: Candidate) -> bool:
        """Whether the evidence has at least half of the place, whatever its type."""
        return 2 * (min(self.end, candidate.end) - max(self.start, candidate.start)) >= self.end - self.start


def types_of(candidate: Candidate) -> set[str]:
    """The type, and what the labels call some of its categories."""
    convention = {"convention"} if candidate.category == Category.CONVENTION else set[str]()
    preference = {"preference"} if candidate.type is MemoryType.PROFILE else set[str]()
    return {candidate.type.value} | convention | preference


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


def run(folder: Path, *, quick: bool, talk: Path | None = None) -> None:
    judge = shipped_judge()
    if talk is not None:
        show_talk(talk, judge=judge)
        return
    for by, judge_or_none in (("the judge", judge), ("rules alone", None)):
        if by == "the judge" and judge is None:
            print("The judge of the package cannot be used here.")
            continue
        _show_quality(by, judge_or_none)
    talks = [spoken(one.transcript) for one in read_split("dev")]
    speed(talks, what="nothing but short chat, by rules alone", rounds=3 if quick else 20)


def shipped_judge() -> Judge | None:
    from mycel.providers.judge.shipped import builtin_judge

    return builtin_judge()


def _show_quality(by: str, judge: Judge | None) -> None:
    from benchmarks.tricky_talk import show_tricky_talk

    headings = ("talk", "precision", "recall", "F1", "candidates", f"aim {LEAST_PRECISION} / {LEAST_RECALL}")
    splits = {f"{name}, {split}": read_split(split, name) for name in SETS for split in SPLITS}
    drawn = {
        name: [(one, extract(one.transcript, judge=judge)) for one in split] for name, split in splits.items() if split
    }
    show_rows(f"Extraction by {by}: quality, with the type right", headings, _rows(drawn, judged=Label.fits))
    show_rows(f"Extraction by {by}: quality, whatever the type", headings, _rows(drawn, judged=Label.covers))
    chatter = [one for found in drawn.values() for one in found if one[0].kind == SMALL_TALK]
    print(f"Candidates from {len(chatter)} pieces of small talk: {sum(len(one[1]) for one in chatter)} (aim: 0)")
    named = {
        name: found for name, found in drawn.items() if any(one.keep and one.keep[0].stands_alone for one, _ in found)
    }
    show_rows(f"Extraction by {by}: standing alone", STANDING_HEADINGS, list(_standing_rows(named)))
    show_tricky_talk(by, judge)


def speed(transcripts: Sequence[Transcript], *, what: str, rounds: int) -> None:
    found = megabytes_a_second(transcripts, rounds=rounds)
    mark = "reached" if found >= LEAST_MB_A_SECOND else "not reached"
    print(f"Speed, {what}: {found:.1f} MB/s (aim: {LEAST_MB_A_SECOND} MB/s, {mark})")


Drawn = Sequence[tuple[Labelled, Sequence[Candidate]]]


def _rows(drawn: Mapping[str, Drawn], *, judged: Judged) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, found in drawn.items():
        rows.append(_row(name, _total(found, judged=judged)))
        for kind in dict.fromkeys(one.kind for one, _ in found):
            part = [(one, candidates) for one, candidates in found if one.kind == kind]
            rows.append(_row(f"  {kind}", _total(part, judged=judged)))
    return rows


def _total(drawn: Drawn, *, judged: Judged) -> Score:
    return sum((compare(one, candidates, judged=judged) for one, candidates in drawn), Score())


STANDING_HEADINGS = ("talk", "found", "owner named", "date resolved", "subject named")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_WORD = re.compile(r"[a-z0-9][a-z0-9._-]{3,}")
# So many of the weighty words that the label's wording has.
LEAST_SUBJECT = 0.5


def _standing_rows(drawn: Mapping[str, Drawn]) -> Iterator[tuple[str, ...]]:
    """Of what was found with its type: whose it is, on which day, and of what, as the label says it."""
    for name, found in drawn.items():
        pairs = [
            (label, candidate)
            for one, candidates in found
            for label in one.keep
            if (candidate := next((each for each in candidates if label.fits(each)), None)) is not None
        ]
        owned = sum((candidate.said_by or "assistant") == label.by for label, candidate in pairs)
        # That it was said on the day of the talk stands in `observed_at`.
        days = {f"{turn.said_at:%Y-%m-%d}" for one, _ in found for turn in one.transcript.turns if turn.said_at}
        dates = [
            (day, candidate) for label, candidate in pairs for day in set(_DATE.findall(label.stands_alone)) - days
        ]
        resolved = sum(day in candidate.content for day, candidate in dates)
        subjects = sum(_names_subject(label, candidate) for label, candidate in pairs)
        count = len(pairs)
        yield name, f"{count}", f"{owned} of {count}", f"{resolved} of {len(dates)}", f"{subjects} of {count}"


def _names_subject(label: Label, candidate: Candidate) -> bool:
    wanted = set(_WORD.findall(label.stands_alone.lower()))
    return len(wanted & set(_WORD.findall(candidate.content.lower()))) >= LEAST_SUBJECT * len(wanted)


def _row(name: str, found: Score) -> tuple[str, ...]:
    counts = f"{found.right} of {found.given} right, {found.found} of {found.asked} found"
    reached = found.precision >= LEAST_PRECISION and found.recall >= LEAST_RECALL
    mark = "reached" if reached else "not reached"
    return name, f"{found.precision:.2f}", f"{found.recall:.2f}", f"{found.f1:.2f}", counts, mark


def total(labelled: Iterable[Labelled], *, judged: Judged = Label.fits, judge: Judge | None = None) -> Score:
    return sum((score(one, judged=judged, judge=judge) for one in labelled), Score())


def score(labelled: Labelled, *, judged: Judged = Label.fits, judge: Judge | None = None) -> Score:
    """How well the candidates agree with the labels; `judged` says when one agrees with the other."""
    return compare(labelled, extract(labelled.transcript, judge=judge), judged=judged)


def compare(labelled: Labelled, candidates: Sequence[Candidate], *, judged: Judged) -> Score:
    labels = (*labelled.keep, *labelled.may)
    return Score(
        given=len(candidates),
        right=sum(any(judged(label, candidate) for label in labels) for candidate in candidates),
        asked=len(labelled.keep),
        found=sum(any(judged(label, candidate) for candidate in candidates) for label in labelled.keep),
    )


def read_split(name: str, folder: str = SETS[0]) -> list[Labelled]:
    return [_labelled(path) for path in sorted((DATA / folder / name).glob("*.yaml"))]


def _labelled(path: Path) -> Labelled:
    content = yaml.safe_load(path.read_text("utf-8"))
    transcript = as_transcript(content["turns"], said_at=moment_of(content.get("date")))
    keep, may = (_labels(content.get(name) or (), text=transcript.text) for name in ("keep", "may"))
    return Labelled(path.stem, content["kind"], transcript, keep, may)


def _labels(entries: Sequence[Mapping[str, Any]], *, text: str) -> tuple[Label, ...]:
    labels: list[Label] = []
    for entry in entries:
        types = entry["type"] if isinstance(entry["type"], list) else [entry["type"]]
        start = text.index(entry["quote"])
        said = entry.get("by", ""), entry.get("stands_alone", "")
        labels.append(Label(frozenset(types), start, start + len(entry["quote"]), *said))
    return tuple(labels)


def moment_of(day: object) -> datetime | None:
    return None if day is None else datetime.fromisoformat(str(day)).replace(hour=9, tzinfo=UTC)


def as_transcript(turns: Sequence[Mapping[str, str]], *, said_at: datetime | None = None) -> Transcript:
    """The turns as paragraphs, each after the name of who speaks."""
    text = ""
    places: list[Turn] = []
    for turn in turns:
        speaker = turn.get("speaker")
        text += f"{speaker or turn['role']}: "
        places.append(Turn(turn["role"], len(text), len(text) + len(turn["text"]), speaker, said_at))
        text += turn["text"] + "\n\n"
    return Transcript(text, tuple(places))


def spoken(transcript: Transcript) -> Transcript:
    """What people and assistants say, without the tools between."""
    return as_transcript([_turn(transcript, turn) for turn in transcript.turns if turn.role in {"user", "assistant"}])


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
