"""Searching by words: common words beside rare ones at 100,000 memories, and quality beside the plain way."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

import mycel
from benchmarks.report import Figure, interleaved, p50, p99, show
from benchmarks.texts import Notes
from mycel.embedded.team_memory import TeamMemory

MEMORIES = 100_000
TOP = 10


@dataclass(frozen=True, slots=True)
class Task:
    """One benchmark set: texts by id and folder, questions with the folder they ask in and the ids that answer them."""

    name: str
    texts: Mapping[str, tuple[str, str]]
    questions: Sequence[tuple[str, str, frozenset[str]]]


def run(folder: Path, *, quick: bool, bench_data: Path | None) -> None:
    speed(folder, count=20_000 if quick else MEMORIES)
    if bench_data is None:
        print("Quality is measured with --bench-data DIR.")
        return
    figures: list[Figure] = []
    for task in (locomo(bench_data), scifact(bench_data), cosqa(bench_data)):
        figures += quality(folder / task.name, task)
    show("Finding by words: quality (recall and nDCG at 10, in percent)", figures)


def speed(folder: Path, *, count: int) -> None:
    notes = Notes()
    texts = [notes.text() for _ in range(count)]
    with mycel.open(folder / "speed") as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        for place in range(0, count, 1000):
            memory.save_many([{"content": text} for text in texts[place : place + 1000]])
        plain = PlainIndex((str(place), "/", text) for place, text in enumerate(texts))
        rare = [notes.rare(3) for _ in range(40)]
        mixed = [words + notes.common(3) for words in rare]
        common = [notes.common(6) for _ in range(40)]
        ours, beside = _measure(memory, plain, {"rare": rare, "mixed": mixed, "common": common})
    limit = 5
    figures = [
        Figure(
            "3 rare and 3 common words, p50",
            _ms(p50(ours["mixed"])),
            f"its rare words alone: {_ms(p50(ours['rare']))}",
            f"{p50(ours['mixed']) / p50(ours['rare']):.1f} x",
            f"<= {limit} x",
            p50(ours["mixed"]) <= limit * p50(ours["rare"]),
        ),
        Figure(
            "6 common words, p50",
            _ms(p50(ours["common"])),
            f"3 rare words: {_ms(p50(ours['rare']))}",
            f"{p50(ours['common']) / p50(ours['rare']):.1f} x",
        ),
        *(
            Figure(
                f"{kind} words, p50 (p99)",
                f"{_ms(p50(ours[kind]))} ({_ms(p99(ours[kind]))})",
                f"FTS5, every word OR-ed: {_ms(p50(beside[kind]))}",
                f"{p50(ours[kind]) / p50(beside[kind]):.2f} x",
            )
            for kind in ours
        ),
    ]
    show(f"Finding by words: speed at {count:,} memories", figures)


def _measure(
    memory: TeamMemory, plain: PlainIndex, questions: Mapping[str, Sequence[Sequence[str]]]
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    ours: dict[str, list[float]] = {kind: [] for kind in questions}
    beside: dict[str, list[float]] = {kind: [] for kind in questions}
    for warm in (True, False):
        for kind, asked in questions.items():
            for words in asked:
                text = " ".join(words)
                mine, theirs = interleaved(
                    lambda text=text: memory.search(text), lambda text=text: plain.search(text), rounds=1 if warm else 3
                )
                if not warm:
                    ours[kind] += mine
                    beside[kind] += theirs
    return ours, beside


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


class PlainIndex:
    """The plain way: FTS5 with its own porter stemmer, every word of the question OR-ed."""

    def __init__(self, texts: Iterator[tuple[str, str, str]]) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE notes USING fts5 (id UNINDEXED, folder UNINDEXED, text, tokenize = 'porter')"
        )
        self._connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", texts)

    def search(self, question: str, folder: str = "/") -> list[str]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", question)))
        inside = "" if folder == "/" else "AND folder = ?3"
        sql = f"SELECT id FROM notes WHERE notes MATCH ?1 {inside} ORDER BY rank LIMIT ?2"
        return [row[0] for row in self._connection.execute(sql, (words, TOP, folder)[: 3 if inside else 2])]


def quality(folder: Path, task: Task) -> list[Figure]:
    plain = PlainIndex((id, place, text) for id, (place, text) in task.texts.items())
    with mycel.open(folder) as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        ids = list(task.texts)
        given: dict[str, str] = {}
        for place in range(0, len(ids), 1000):
            part = ids[place : place + 1000]
            saved = memory.save_many([{"content": task.texts[id][1], "path": task.texts[id][0]} for id in part])
            given |= {record.id: id for record, id in zip(saved, part, strict=True)}
        ours = _score(
            [
                ([given[hit.memory.id] for hit in memory.search(question, path=place, limit=TOP).hits], gold)
                for question, place, gold in task.questions
            ]
        )
    theirs = _score([(plain.search(question, place), gold) for question, place, gold in task.questions])
    return [
        Figure(
            f"{task.name}, {len(task.questions)} questions",
            f"{ours[0]:.1f} / {ours[1]:.1f}",
            f"FTS5, every word OR-ed: {theirs[0]:.1f} / {theirs[1]:.1f}",
            f"{ours[0] / theirs[0]:.2f} / {ours[1] / theirs[1]:.2f}",
            "no worse",
            ours[0] >= theirs[0] and ours[1] >= theirs[1],
        )
    ]


def _score(answers: Sequence[tuple[Sequence[str], frozenset[str]]]) -> tuple[float, float]:
    """Recall and nDCG at 10, averaged over questions, in percent."""
    recall = gain = 0.0
    for found, gold in answers:
        recall += len(gold & set(found)) / len(gold)
        ideal = sum(1 / math.log2(place + 2) for place in range(min(TOP, len(gold))))
        gain += sum(1 / math.log2(place + 2) for place, id in enumerate(found) if id in gold) / ideal
    return 100 * recall / len(answers), 100 * gain / len(answers)


def locomo(folder: Path) -> Task:
    """One memory per dialog turn; questions of categories 1 to 4 are asked inside their own conversation."""
    texts: dict[str, tuple[str, str]] = {}
    questions: list[tuple[str, str, frozenset[str]]] = []
    for number, sample in enumerate(json.loads((folder / "locomo-dev.json").read_text())):
        place = f"/conversations/{number}"
        conversation = sample["conversation"]
        for name, turns in conversation.items():
            if re.fullmatch(r"session_\d+", name):
                date = conversation[f"{name}_date_time"]
                for turn in turns:
                    texts[f"{number}/{turn['dia_id']}"] = (place, f"({date}) {turn['speaker']}: {turn['text']}")
        for question in sample["qa"]:
            gold = frozenset(f"{number}/{id}" for id in evidence_ids(question.get("evidence", [])))
            gold &= texts.keys()
            if question["category"] in {1, 2, 3, 4} and gold:
                questions.append((question["question"], place, gold))
    return Task("LoCoMo", texts, questions)


def evidence_ids(written: Sequence[str]) -> list[str]:
    """Some ids are written oddly: "D8:6; D9:17", "D30:05", "D:11:26"."""
    pairs = re.findall(r"D:?(\d+):(\d+)", " ".join(written))
    return [f"D{int(session)}:{int(turn)}" for session, turn in pairs]


def scifact(folder: Path) -> Task:
    return _beir(folder / "scifact", "SciFact")


def cosqa(folder: Path) -> Task:
    return _beir(folder / "cosqa", "CoSQA")


def _beir(folder: Path, name: str) -> Task:
    texts: dict[str, tuple[str, str]] = {}
    for line in (folder / "corpus.jsonl").read_text().splitlines():
        entry = json.loads(line)
        texts[entry["_id"]] = ("/", f"{entry.get('title') or ''}\n{entry['text']}".strip())
    gold: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            gold.setdefault(query, set()).add(document)
    questions = [
        (entry["text"], "/", frozenset(gold[entry["_id"]]))
        for entry in map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
        if entry["_id"] in gold
    ]
    return Task(name, texts, questions)
