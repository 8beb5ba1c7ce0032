"""Small worlds of notes with questions, each judged against every note of its world: the form stands in material/."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.finding_quality import DATA, Question, Task

MATERIAL = Path(__file__).with_name("material")
TOGETHER = "all worlds"
# What these kinds ask for is told in one world and in no other; vague questions may be answered in several.
SPECIFIC = frozenset({"para", "ident", "typo", "lang"})
# The mark of a question.
ASKED = "?"
# Most teams begin with a handful of notes: how many of each size are drawn from a world.
SIZES = {1: 6, 3: 4, 10: 2, 30: 1}
# Of the questions that a small world cannot answer.
UNANSWERED = 8
SEED = 7


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


def small_worlds(world: Task) -> Iterator[Task]:
    """Each with an answer to a question drawn, and chance beside it; whatever else is asked of the world stays near."""
    random = Random(SEED)
    answered = [question for question in world.questions if question.gold]
    for size, count in SIZES.items():
        for _ in range(count):
            first = random.choice(sorted(random.choice(answered).gold))
            rest = random.sample(sorted(world.texts.keys() - {first}), size - 1)
            yield _part(world, frozenset((first, *rest)), random)


def _part(world: Task, ids: frozenset[str], random: Random) -> Task:
    questions = [
        Question(one.text, one.folder, one.gold & ids, one.category, one.maybe & ids) for one in world.questions
    ]
    known = [one for one in questions if one.gold]
    others = [one for one in questions if not one.gold]
    return Task(
        small_name(len(ids)),
        {id: world.texts[id] for id in sorted(ids)},
        [*known, *random.sample(others, min(UNANSWERED, len(others)))],
        {id: title for id, title in world.titles.items() if id in ids},
    )


def small_name(size: int) -> str:
    """All small worlds of one size count as one set."""
    return "one note" if size == 1 else f"{size} notes"


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
