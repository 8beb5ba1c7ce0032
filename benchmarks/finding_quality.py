"""How good the answers are: benchmark sets and notes of our own, through the public API, with the built-in model."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import numpy as np

from benchmarks import words
from benchmarks.kept_vectors import KeptVectors
from benchmarks.plain_search import Note, PlainSearch
from benchmarks.report import Figure, show, show_rows
from benchmarks.words import PlainIndex
from mycel.app import open_workspace
from mycel.contracts.embedder import Embedder
from mycel.domain.recall import Hit
from mycel.embedded.team_memory import TeamMemory
from mycel.providers.embeddings.registry import EmbeddingOptions, make_embedder
from mycel.retrieval.passages import divide

DATA = Path(__file__).with_name("data")
TOP = 10
BINS = 10
# Adversarial questions have evidence too, but ask for what it does not say.
ADVERSARIAL = "5"
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", ADVERSARIAL: "adversarial"}

_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """`folder` is where it is asked; `category` is empty where a set has none.

    `maybe` are texts that a careful reader could call an answer or not: they count neither way.
    """

    text: str
    folder: str
    gold: frozenset[str]
    category: str = ""
    maybe: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Task:
    """Texts by id, each with its path and the folder that questions about it are asked in; `titles` of some."""

    name: str
    texts: Mapping[str, tuple[str, str, str]]
    questions: Sequence[Question]
    titles: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Answer:
    """What one way found for one question, and what relevance it gave each hit, if any."""

    question: Question
    ids: Sequence[str]
    relevances: Sequence[float] = ()

    @property
    def recall(self) -> float:
        return len(self.question.gold & set(self.ids)) / len(self.question.gold)

    @property
    def gain(self) -> float:
        """nDCG at 10."""
        gold = self.question.gold
        ideal = sum(1 / math.log2(place + 2) for place in range(min(TOP, len(gold))))
        return sum(1 / math.log2(place + 2) for place, id in enumerate(self.ids) if id in gold) / ideal


# By the name of the way: words alone, words and meaning, and the plain ones.
Answers = dict[str, list[Answer]]
WORDS, HYBRID = "words", "words + meaning"
GREP, PLAIN_WORDS, VECTORS, PLAIN_HYBRID = "grep", "FTS5 OR-ed", "vectors alone", "FTS5 + vectors, fused"
WAYS = (HYBRID, WORDS, VECTORS, PLAIN_HYBRID, PLAIN_WORDS, GREP)


def quality(folder: Path, *, bench_data: Path | None, model: Path | None, cache: Path | None) -> None:
    asked = Asking(folder, KeptVectors(model_of(model), folder=cache))
    if bench_data is None:
        print("Quality on LoCoMo, SciFact and CoSQA is measured with --bench-data DIR.")
    else:
        answers = {task.name: asked.answers(task) for task in tasks_in(bench_data)}
        show_rows("Finding: quality (recall / nDCG at 10, in percent)", *_quality_rows(answers))
        show_rows("Finding: calibration error of relevance", *_calibration_rows(answers))
        show("Finding: quality aims", list(_quality_figures(answers)))
    show("Finding: on and off the topic", list(_topic_figures(asked)))


class Asking:
    """Each task in a workspace of its own, opened with the model and without."""

    def __init__(self, folder: Path, embedder: KeptVectors) -> None:
        self._folder = folder
        self._embedder = embedder
        self.offtopic = (DATA / "offtopic.txt").read_text().splitlines()
        # By task and way: the share of off-topic questions with an empty answer, in percent.
        self.empty: dict[tuple[str, str], int] = {}

    def answers(self, task: Task) -> Answers:
        found: Answers = {}
        for way, embedder in ((WORDS, None), (HYBRID, self._embedder)):
            with open_workspace(self._folder / task.name / way.replace(" ", ""), embedder=embedder) as workspace:
                memory = workspace.as_member("swe-1", may_be_new=True)
                given = save(memory, task)
                workspace.run_pending()
                found[way] = [ask(memory, question, given) for question in task.questions]
                self.empty[task.name, way] = self._empty_percent(memory, task)
        return found | dict(self._plain(task))

    def _empty_percent(self, memory: TeamMemory, task: Task) -> int:
        """Off-topic questions, asked in the folders of the task in turn."""
        places = cycle(sorted({question.folder for question in task.questions}))
        recalls = [memory.search(text, path=next(places)) for text in self.offtopic]
        return 100 * sum(not recall.hits for recall in recalls) // len(recalls)

    def _plain(self, task: Task) -> Iterator[tuple[str, list[Answer]]]:
        notes = [Note(id, folder, text) for id, (_, folder, text) in task.texts.items()]
        by_words = PlainIndex((note.id, note.folder, note.text) for note in notes)
        yield PLAIN_WORDS, _answered(task, lambda question: by_words.search(question.text, question.folder))
        by_grep = PlainGrep(notes)
        yield GREP, _answered(task, by_grep.search)
        by_meaning = PlainVectors(notes, self._embedder)
        yield VECTORS, _answered(task, by_meaning.search)
        both = PlainSearch(dimensions=self._embedder.dimensions)
        # In parts, so that a run that is broken off has kept what it made.
        for place in range(0, len(notes), 256):
            part = notes[place : place + 256]
            both.add(part, self._embedder.embed_documents([note.text for note in part]))

        def fused(question: Question) -> list[str]:
            vector = self._embedder.embed_query(question.text)[0]
            inside = None if question.folder == "/" else question.folder
            return [note.id for note in both.search(question.text, vector, folder=inside, limit=TOP)]

        yield PLAIN_HYBRID, _answered(task, fused)
        both.close()


class PlainGrep:
    """What an agent without a memory does: `grep -i` for each word of the question; most words found comes first."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._notes = [(note.id, note.folder, note.text.lower()) for note in notes]

    def search(self, question: Question) -> list[str]:
        # Shorter words stand in nearly every text.
        wanted = {word for word in re.findall(r"\w+", question.text.lower()) if len(word) > 3}
        inside = (note for note in self._notes if question.folder in ("/", note[1]))
        counted = [(sum(word in text for word in wanted), id) for id, _, text in inside]
        return [id for count, id in sorted(counted, key=lambda pair: -pair[0])[:TOP] if count]


class PlainVectors:
    """Each text by the nearest of its passages, divided as Mycel divides them; cosines exact, nothing else."""

    def __init__(self, notes: Sequence[Note], embedder: KeptVectors) -> None:
        self._embedder = embedder
        self._ids = [note.id for note in notes]
        self._folders = np.asarray([note.folder for note in notes])
        passages = [(place, part) for place, note in enumerate(notes) for part in _passages(note.text, embedder)]
        self._owners = np.asarray([place for place, _ in passages])
        parts = [passages[start : start + 256] for start in range(0, len(passages), 256)]
        self._vectors = np.concatenate([embedder.embed_documents([text for _, text in part]) for part in parts])

    def search(self, question: Question) -> list[str]:
        best = np.full(len(self._ids), -2.0, dtype=np.float32)
        np.maximum.at(best, self._owners, self._vectors @ self._embedder.embed_query(question.text)[0])
        if question.folder != "/":
            best[self._folders != question.folder] = -2.0
        return [self._ids[place] for place in np.argsort(-best, kind="stable")[:TOP]]


def _passages(text: str, embedder: KeptVectors) -> list[str]:
    return [text[start:end] for start, end in divide(text, embedder.token_ends(text))]


def _answered(task: Task, search: Callable[[Question], Sequence[str]]) -> list[Answer]:
    return [Answer(question, search(question)) for question in task.questions]


def tasks_in(bench_data: Path) -> list[Task]:
    return [locomo(bench_data), *map(_task, (words.scifact(bench_data), words.cosqa(bench_data)))]


def locomo(folder: Path) -> Task:
    """One memory per dialog turn, a path per conversation and session; asked inside the conversation."""
    texts: dict[str, tuple[str, str, str]] = {}
    questions: list[Question] = []
    for number, sample in enumerate(json.loads((folder / "locomo-dev.json").read_text())):
        place = f"/conversations/{number}"
        conversation = sample["conversation"]
        for name, turns in conversation.items():
            if session := _SESSION.fullmatch(name):
                date = conversation[f"{name}_date_time"]
                for turn in turns:
                    text = f"({date}) {turn['speaker']}: {turn['text']}"
                    texts[f"{number}/{turn['dia_id']}"] = (f"{place}/session-{session[1]}", place, text)
        for asked in sample["qa"]:
            gold = frozenset(f"{number}/{id}" for id in words.evidence_ids(asked.get("evidence", []))) & texts.keys()
            if gold:
                questions.append(Question(asked["question"], place, gold, str(asked["category"])))
    return Task("LoCoMo", texts, questions)


def team_notes() -> Task:
    """Notes of a software team, and for each a question in other words."""
    pairs = [line.split("\t") for line in (DATA / "team_notes.tsv").read_text().splitlines()]
    texts = {str(place): ("/", "/", note) for place, (note, _) in enumerate(pairs)}
    questions = [Question(text, "/", frozenset({str(place)})) for place, (_, text) in enumerate(pairs)]
    return Task("team notes", texts, questions)


def _task(other: words.Task) -> Task:
    texts = {id: (place, place, text) for id, (place, text) in other.texts.items()}
    return Task(other.name, texts, [Question(text, place, gold) for text, place, gold in other.questions])


def model_of(folder: Path | None) -> Embedder:
    embedder = make_embedder(EmbeddingOptions() if folder is None else EmbeddingOptions(embedder=str(folder)))
    if embedder is None:
        raise SystemExit(f"--model {folder} names no model")
    return embedder


def save(memory: TeamMemory, task: Task) -> dict[str, str]:
    """The task's id of each memory."""
    given: dict[str, str] = {}
    ids = list(task.texts)
    for place in range(0, len(ids), 1_000):
        part = ids[place : place + 1_000]
        saved = memory.save_many([_record(task, id) for id in part])
        given |= {record.id: id for record, id in zip(saved, part, strict=True)}
    return given


def _record(task: Task, id: str) -> dict[str, str]:
    path, _, text = task.texts[id]
    record = {"content": text, "path": path}
    return record | {"title": task.titles[id]} if task.titles.get(id) else record


def ask(memory: TeamMemory, question: Question, given: Mapping[str, str]) -> Answer:
    recall = memory.search(question.text, path=question.folder, limit=TOP)
    if recall.degraded:
        raise RuntimeError(f"a search was degraded: {recall.degraded}")
    hits: Sequence[Hit] = recall.hits
    return Answer(question, [given[hit.memory.id] for hit in hits], [hit.relevance for hit in hits])


def _quality_rows(answers: Mapping[str, Answers]) -> tuple[list[str], list[list[str]]]:
    rows: list[list[str]] = []
    for name, found in answers.items():
        for part in _parts(found[WORDS]):
            chosen = {way: [answer for answer in found[way] if part.holds(answer)] for way in WAYS}
            count = f"{len(chosen[WORDS]):,}"
            rows.append([f"{name}{part.name}", count, *(_percent(chosen[way]) for way in WAYS)])
    return ["set", "questions", *WAYS], rows


@dataclass(frozen=True, slots=True)
class _Part:
    """Some categories of a set; none named means all of it."""

    name: str
    categories: frozenset[str] = frozenset()

    def holds(self, answer: Answer) -> bool:
        return not self.categories or answer.question.category in self.categories


def _parts(answers: Sequence[Answer]) -> list[_Part]:
    if not any(answer.question.category for answer in answers):
        return [_Part("")]
    asked = frozenset(CATEGORIES) - {ADVERSARIAL}
    each = [_Part(f", {number} {name}", frozenset({number})) for number, name in CATEGORIES.items()]
    return [_Part(", categories 1 to 4", asked), _Part(", all five", frozenset(CATEGORIES)), *each]


def _calibration_rows(answers: Mapping[str, Answers]) -> tuple[list[str], list[list[str]]]:
    """Over the hits shown among the first ten; LoCoMo without the adversarial questions."""
    rows: list[list[str]] = []
    for way in (WORDS, HYBRID):
        hits: list[tuple[float, bool]] = []
        for name, found in answers.items():
            own = _judged(found.get(way, ()))
            hits += own
            if own:
                rows.append([f"{name}, {way}", f"{len(own):,}", f"{calibration_error(own):.3f}", bins_told(own)])
        if hits:
            rows.append([f"all three, {way}", f"{len(hits):,}", f"{calibration_error(hits):.3f}", bins_told(hits)])
    return ["hits of", "count", "error", "stated / true in percent, by bin"], rows


def _judged(answers: Sequence[Answer]) -> list[tuple[float, bool]]:
    return [
        (relevance, id in answer.question.gold)
        for answer in answers
        if answer.question.category != ADVERSARIAL
        for id, relevance in zip(answer.ids, answer.relevances, strict=True)
    ]


def _by_bin(hits: Sequence[tuple[float, bool]]) -> list[tuple[int, float, float]]:
    """How many, what relevance says on average, and how many in truth; ten bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for relevance, useful in hits:
        bins[min(BINS - 1, int(relevance * BINS))].append((relevance, useful))
    return [
        (len(inside), sum(stated for stated, _ in inside) / len(inside), sum(true for _, true in inside) / len(inside))
        for _, inside in sorted(bins.items())
    ]


def calibration_error(hits: Sequence[tuple[float, bool]]) -> float:
    return sum(count * abs(stated - true) for count, stated, true in _by_bin(hits)) / len(hits)


def bins_told(hits: Sequence[tuple[float, bool]]) -> str:
    return "  ".join(f"{100 * stated:.0f}/{100 * true:.0f}" for _, stated, true in _by_bin(hits))


# Set, recall at 10, nDCG at 10.
AIMS = (("LoCoMo", 77.0, 61.0), ("SciFact", None, 73.0), ("CoSQA", None, 56.0))


def _quality_figures(answers: Mapping[str, Answers]) -> Iterator[Figure]:
    for name, recall, gain in AIMS:
        own, plain = (
            [answer for answer in answers[name][way] if answer.question.category != ADVERSARIAL]
            for way in (HYBRID, PLAIN_HYBRID)
        )
        part = ", categories 1 to 4" if name == "LoCoMo" else ""
        for measure, of, aim in (("recall", mean_recall, recall), ("nDCG", _mean_gain, gain)):
            ours, theirs = of(own), of(plain)
            yield Figure(
                f"{name}, {measure} at 10{part}",
                f"{ours:.1f}",
                f"{PLAIN_HYBRID}: {theirs:.1f}",
                f"{ours / theirs:.2f}",
                "" if aim is None else f">= {aim:.0f}",
                None if aim is None else ours >= aim,
            )


def _topic_figures(asked: Asking) -> Iterator[Figure]:
    task = team_notes()
    found = asked.answers(task)
    for way in (WORDS, HYBRID):
        own = found[way]
        shown = sum(answer.recall for answer in own)
        first = sum(answer.ids[:1] == [next(iter(answer.question.gold))] for answer in own)
        plain = mean_recall(found[PLAIN_HYBRID if way == HYBRID else PLAIN_WORDS])
        yield Figure(
            f"{way}: paraphrased questions answered",
            f"{100 * shown / len(own):.0f} %",
            f"in first place {100 * first / len(own):.0f} %; plain design {plain:.0f} %",
            "",
        )
        for name in dict.fromkeys(name for name, _ in asked.empty):
            share = asked.empty[name, way]
            aimed = way == HYBRID and name == task.name
            yield Figure(
                f"{way}: off-topic questions with an empty answer, {name}",
                f"{share} %",
                f"{len(asked.offtopic)} questions",
                "",
                ">= 80 %" if aimed else "",
                share >= 80 if aimed else None,
            )


def _percent(answers: Sequence[Answer]) -> str:
    return f"{mean_recall(answers):.1f} / {_mean_gain(answers):.1f}"


def mean_recall(answers: Sequence[Answer]) -> float:
    return 100 * sum(answer.recall for answer in answers) / len(answers)


def _mean_gain(answers: Sequence[Answer]) -> float:
    return 100 * sum(answer.gain for answer in answers) / len(answers)
