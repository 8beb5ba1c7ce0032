"""Every question asked once through the whole product, in its own set and, off the topic, in the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import words
from benchmarks.finding_quality import ADVERSARIAL, DATA, Answer, Question, Task, ask, locomo, save, team_notes
from benchmarks.kept_vectors import KeptVectors
from benchmarks.relevance_notes import DEV, half
from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory
from training.fit.replay import Kept, Shelf, keeping
from training.fit.worlds import all_worlds, small_worlds, worlds

# The sets that the order is fitted to, and those that teach only what is on the topic.
SETS = ("LoCoMo", "SciFact", "CoSQA")
NOTES, FEW_NOTES, MIXED_NOTES = "team notes", "few notes", "mixed notes"
# The same notes again, and what they lie among.
AGAIN = {FEW_NOTES: (NOTES,), MIXED_NOTES: (NOTES, "SciFact")}
# What teaches which questions are on the topic. Beside these stand worlds whose judgments are complete.
TOPICS = (*SETS, NOTES, FEW_NOTES, MIXED_NOTES)
GENERAL = "general"
OWN = "own"
# About the world of a store, which happens not to know.
NEAR = "near"

# Of each other set, spread evenly over its questions.
FOREIGN_QUESTIONS = 100
# Stores this small must know what is off their topic as well.
FEW = (1, 5, 20)
# So many steps from one note of a small store to the next: prime, so that they lie far apart.
STRIDE = 7


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in one set; `origin` is the set it was written for, or `OWN`."""

    place: str
    origin: str
    question: Question
    kept: Kept
    # What the product itself answered.
    answer: Answer

    @property
    def on_topic(self) -> bool:
        return self.origin == OWN


def gather(bench_data: Path, embedder: KeptVectors) -> list[Asked]:
    tasks = [*_tasks(bench_data), team_notes()]
    tasks += [_few_notes(), _mixed_notes(next(task for task in tasks if task.name == "SciFact"))]
    asked = [one for task in tasks for one in _gathered(task, tasks, embedder)]
    # Judged completely, and off the topic only asked what is general.
    complete = [*worlds(), half(DEV)]
    judged = [*complete, all_worlds(), *(part for world in complete for part in small_worlds(world))]
    return asked + [one for task in judged for one in _gathered(task, [task], embedder)]


def _gathered(task: Task, tasks: Sequence[Task], embedder: KeptVectors) -> list[Asked]:
    """In a workspace of its own."""
    print(f"  {task.name}: {len(task.texts):,} texts, {len(task.questions):,} questions", flush=True)
    own = [(OWN if question.gold else NEAR, question) for question in task.questions]
    with (
        TemporaryDirectory(prefix="mycel-fit-") as folder,
        open_workspace(Path(folder) / "workspace", embedder=embedder) as workspace,
    ):
        memory = workspace.as_member("swe-1", may_be_new=True)
        given = save(memory, task)
        workspace.run_pending()
        return list(_ask(task, memory, given, [*own, *_foreign(task, tasks)]))


def _tasks(bench_data: Path) -> Iterator[Task]:
    talk = locomo(bench_data)
    yield Task(talk.name, talk.texts, [one for one in talk.questions if one.category != ADVERSARIAL])
    for other in (words.scifact(bench_data), words.cosqa(bench_data)):
        texts = {id: (place, place, text) for id, (place, text) in other.texts.items()}
        yield Task(other.name, texts, [Question(text, place, gold) for text, place, gold in other.questions])


def _few_notes() -> Task:
    """Each note with its question in a folder of its own, alone or with a few others."""
    notes = team_notes()
    texts: dict[str, tuple[str, str, str]] = {}
    questions: list[Question] = []
    for size in FEW:
        for place, question in enumerate(notes.questions):
            folder = f"/{size}/{place}"
            for step in range(size):
                other = (place + STRIDE * step) % len(notes.texts)
                texts[f"{folder}/{other}"] = (folder, folder, notes.texts[str(other)][2])
            questions.append(Question(question.text, folder, frozenset({f"{folder}/{place}"})))
    return Task(FEW_NOTES, texts, questions)


def _mixed_notes(others: Task) -> Task:
    """Short notes among many texts of another kind."""
    notes = team_notes()
    texts = {f"note {id}": text for id, text in notes.texts.items()}
    questions = [Question(one.text, "/", frozenset(f"note {id}" for id in one.gold)) for one in notes.questions]
    return Task(MIXED_NOTES, {**others.texts, **texts}, questions)


def _foreign(task: Task, tasks: Sequence[Task]) -> Iterator[tuple[str, Question]]:
    """Questions that the set has no answer to, asked in its folders in turn."""
    places = cycle(sorted({question.folder for question in task.questions}))
    others = {GENERAL: (DATA / "offtopic.txt").read_text().splitlines()}
    for other in tasks:
        if other.name not in {task.name, *AGAIN, *AGAIN.get(task.name, ())}:
            others[other.name] = [question.text for question in other.questions]
    for origin, texts in others.items():
        count = min(FOREIGN_QUESTIONS, len(texts))
        for number in range(count):
            yield origin, Question(texts[number * len(texts) // count], next(places), frozenset())


def _ask(
    task: Task, memory: TeamMemory, given: dict[str, str], questions: Sequence[tuple[str, Question]]
) -> Iterator[Asked]:
    shelf = Shelf()
    found: list[tuple[str, Question, Kept, Answer]] = []
    for origin, question in questions:
        seen: list[Kept] = []
        with keeping(shelf, seen):
            answer = ask(memory, question, given)
        # What was asked before in the same words is answered without another search, and teaches nothing new.
        if seen:
            found.append((origin, question, seen[-1], answer))
    shelf.ids.update({number: given[one.id] for number, one in shelf.memories.items()})
    for origin, question, kept, answer in found:
        yield Asked(task.name, origin, question, kept, answer)
