"""What the judge is taught with: pairs of statements, and turns and sentences of talks, each with what may be said."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import yaml

from benchmarks.extraction import as_transcript
from mycel.engine.language import split_sentences
from training.extraction.talks import own_talks
from training.judge.labels import KINDS, RELATIONS, TYPES

ROOT = Path(__file__).parents[2]
DATA = ROOT / "benchmarks" / "data"
OWN = Path(__file__).parent / "material"
FOLDS = 6
# What only may be kept says less than what must be.
MAY_WEIGHT = 0.3
# Characters of what was said before that are read along.
BEFORE_CHARS = 160


@dataclass(frozen=True, slots=True)
class Example:
    """Two texts, and for each head that has an answer the answers that are right; `group` is kept together."""

    first: str
    second: str
    right: dict[str, frozenset[int]]
    group: str
    source: str
    kind: str = ""
    weight: float = 1.0
    turns_round: bool = False
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield {name: (value or "").replace("\\n", "\n") for name, value in row.items()}


def pair_example(row: dict[str, str], source: str) -> Example:
    label = row["label"]
    if label == "none":
        right = frozenset(RELATIONS.index(name) for name in ("duplicate", "related", "unrelated"))
    elif "author_a" not in row and label == "contradiction":
        right = frozenset(RELATIONS.index(name) for name in ("contradiction", "supersedes"))
    else:
        right = frozenset((RELATIONS.index(label),))
    return Example(
        row["a"],
        row["b"],
        {"relation": right},
        row["a"],
        source,
        f"{label}/{row['kind']}",
        turns_round=label != "supersedes",
    )


def group_parts() -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Statements written in groups: `=` what is said, `d` the same, `c` against it, `s` replaces it, `r` is about
    something near it."""
    for path in sorted(OWN.glob("*groups*.txt")):
        for number, part in enumerate(path.read_text("utf-8").strip().split("\n\n")):
            said: dict[str, list[str]] = {mark: [] for mark in "=dcsr"}
            for line in part.strip().splitlines():
                said[line[0]].append(line[2:])
            yield f"{path.stem} {number}", said


def groups() -> Iterator[Example]:
    for name, said in group_parts():
        same = [*said["="], *said["d"]]
        made = [("duplicate", one, other) for at, one in enumerate(same) for other in same[at + 1 :]]
        # The opponents of one statement take turns with its wordings, so that none is seen too often.
        made += [("contradiction", same[at % len(same)], text) for at, text in enumerate(said["c"] * 2)]
        made += [("supersedes", one, text) for text in said["s"] for one in same[:2]]
        made += [("related", same[at % len(same)], text) for at, text in enumerate(said["r"] * 2)]
        made += [("related", text, said["r"][at % len(said["r"])]) for at, text in enumerate(said["s"])]
        for label, one, other in made:
            row = {"label": label, "kind": "group", "a": one, "b": other, "author_a": ""}
            yield replace(pair_example(row, "groups"), group=name)


def pairs() -> list[Example]:
    found = list(groups())
    found += [pair_example(row, path.stem) for path in sorted(OWN.glob("*pairs*.tsv")) for row in rows_of(path)]
    for path in (DATA / "talk" / "paraphrases.tsv", DATA / "claim_pairs.tsv"):
        found += [pair_example(row, path.stem) for row in rows_of(path) if row["split"] == "dev"]
    return found


def spoken(role: str, text: str) -> str:
    """A turn as the judge reads it: it matters much whether an agent says it, or a person."""
    return f"{'agent' if role == 'assistant' else role or 'user'}: {text}"


def turn_example(row: dict[str, str], source: str) -> Example:
    keep = row["keep"] == "yes"
    right = {"keep": frozenset((int(keep),)), "active": frozenset((int(row["active"] == "yes"),))}
    if keep and row["type"] in TYPES:
        right["type"] = frozenset((TYPES.index(row["type"]),))
    if row["kind"] in KINDS:
        right["kind"] = frozenset((KINDS.index(row["kind"]),))
    return Example("", spoken(row["role"], row["text"]), right, row["text"], source, row["kind"])


def single_turns() -> list[Example]:
    found = [turn_example(row, path.stem) for path in sorted(OWN.glob("*turns*.tsv")) for row in rows_of(path)]
    path = DATA / "talk" / "tricky_talk.tsv"
    return found + [turn_example(row, path.stem) for row in rows_of(path) if row["split"] == "dev"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a talk that is worth keeping, or may be kept."""

    types: frozenset[str]
    start: int
    end: int
    may: bool
    active: str = ""


def talk_examples(name: str, transcript: Any, marks: Sequence[Mark]) -> Iterator[Example]:
    before = ""
    for turn in transcript.turns:
        if turn.role == "tool":
            continue
        for start, end in split_sentences(transcript.text, turn.start, turn.end, keep_code=False):
            text = transcript.text[start:end]
            met = [m for m in marks if 2 * (min(m.end, end) - max(m.start, start)) >= min(m.end - m.start, end - start)]
            yield _sentence_example(name, before, spoken(turn.role, text), met)
            before = f"{before} {text}"[-BEFORE_CHARS:] if before else spoken(turn.role, text)
        before = spoken(turn.role, transcript.text[turn.start : turn.end].strip())[:BEFORE_CHARS]


def _sentence_example(name: str, before: str, text: str, met: Sequence[Mark]) -> Example:
    must = [mark for mark in met if not mark.may]
    right = {"keep": frozenset((int(bool(met)),))}
    types = frozenset(
        TYPES.index({"profile": "preference"}.get(kind, kind))
        for mark in must or met
        for kind in mark.types
        if {"profile": "preference"}.get(kind, kind) in TYPES
    )
    if types:
        right["type"] = types
    if must and must[0].active:
        right["active"] = frozenset((int(must[0].active == "yes"),))
    return Example(before, text, right, name, "talks", weight=MAY_WEIGHT if met and not must else 1.0)


def talks() -> list[Example]:
    found: list[Example] = []
    for talk in own_talks():
        marks = [
            Mark(label.types, label.start, label.end, may)
            for may, labels in ((False, talk.keep), (True, talk.may))
            for label in labels
        ]
        found += talk_examples(f"own {talk.name}", talk.transcript, marks)
    for path in sorted(OWN.glob("*talks*.yaml")):
        for number, record in enumerate(yaml.safe_load(path.read_text("utf-8"))):
            found += _recorded(f"{path.stem} {number}", record)
    for folder in (DATA / "talk" / "talks" / "dev", DATA / "transcripts" / "dev"):
        for path in sorted(folder.glob("*.yaml")):
            found += _recorded(f"{folder.parent.name} {path.stem}", yaml.safe_load(path.read_text("utf-8")))
    return found


def _recorded(name: str, record: dict[str, Any]) -> Iterator[Example]:
    transcript = as_transcript(record["turns"])
    marks: list[Mark] = []
    for part, may in (("keep", False), ("may", True)):
        for item in record.get(part) or ():
            start = transcript.text.find(item["quote"])
            if start < 0:
                raise ValueError(f"{name}: no turn says {item['quote'][:80]!r}")
            types = item["type"] if isinstance(item["type"], list) else [item["type"]]
            active = item.get("active", "")
            active = {True: "yes", False: "no"}.get(active, active)
            marks.append(Mark(frozenset(types), start, start + len(item["quote"]), may, active))
    yield from talk_examples(name, transcript, marks)


def all_examples() -> list[Example]:
    return pairs() + single_turns() + talks()


def fold_of(groups: Sequence[str]) -> list[int]:
    return [crc32(group.encode()) % FOLDS for group in groups]


def grouped(examples: Sequence[Example]) -> list[str]:
    """A name for each group of pairs that share a statement, directly or by way of others."""
    root: dict[str, str] = {}

    def top(text: str) -> str:
        while root.setdefault(text, text) != text:
            text = root[text]
        return text

    for example in examples:
        if "relation" in example.right:
            root[top(example.second)] = top(example.first)
    return [top(example.first) if "relation" in example.right else example.group for example in examples]
