"""Small worlds of notes with questions, each judged against every note of its world: the form stands in material/."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.finding_quality import DATA, Question, Task

MATERIAL = Path(__file__).with_name("material")
TOGETHER = "all worlds"
# What these kinds ask for is told in one world and in no other; vague questions may be answered in several.
SPECIFIC = frozenset({"para", "ident", "typo", "lang"})
# The mark of a question.
ASKED = "?"


def worlds() -> list[Task]:
    return [_world(path) for path in sorted(MATERIAL.glob("*.txt"))]


def all_worlds() -> Task:
    """One store of all worlds and a thousand ordinary notes: small stores alone would not tell what size does."""
    texts = {f"ordinary {place}": _place(f"ordinary-{place}", note) for place, note in enumerate(_ordinary())}
    questions: list[Question] = []
    for world in worlds():
        texts |= {f"{world.name} {id}": _place(f"{world.name}-{id}", text) for id, (_, _, text) in world.texts.items()}
        questions += [
            Question(one.text, "/", _named(world, one.gold), one.category, _named(world, one.maybe))
            for one in world.questions
            if one.category in SPECIFIC
        ]
    return Task(TOGETHER, texts, questions)


def _world(path: Path) -> Task:
    texts: dict[str, tuple[str, str, str]] = {}
    questions: list[Question] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        first, *rest = line.split("\t")
        if not first.startswith(ASKED):
            texts[first] = _place(first, rest[0])
            continue
        gold, maybe = (frozenset(field.split()) for field in (*rest[1:], "", "")[:2])
        if unknown := (gold | maybe) - texts.keys():
            raise ValueError(f"{path.name}, line {number}: there is no note {', '.join(sorted(unknown))}")
        questions.append(Question(rest[0], "/", gold, first.removeprefix(ASKED), maybe))
    return Task(path.stem.replace("_", " "), texts, questions)


def _place(name: str, text: str) -> tuple[str, str, str]:
    """In a folder of its own: these were not written one after another, and are no neighbours."""
    return f"/{name}", "/", text


def _ordinary() -> Iterator[str]:
    yield from (DATA / "ordinary_notes.txt").read_text("utf-8").splitlines()


def _named(world: Task, ids: frozenset[str]) -> frozenset[str]:
    return frozenset(f"{world.name} {id}" for id in ids)
