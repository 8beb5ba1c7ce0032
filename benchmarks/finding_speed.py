"""How fast memories are found by words and meaning together, beside the plain design on the same texts and vectors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import TypeVar

from benchmarks.given_vectors import GivenVectors
from benchmarks.plain_search import Note, PlainSearch
from benchmarks.report import Figure, interleaved, p50, p99, show
from benchmarks.texts import Notes
from mycel.access.scope import ReadScope
from mycel.app import open_workspace
from mycel.contracts.clock import SystemClock
from mycel.domain.ids import MemberId, TeamName
from mycel.embedded.team_memory import TeamMemory
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import SqliteStores

SIZES = (10_000, 100_000)
LARGE = 1_000_000
# How many times as fast as the plain design.
AIMS = {10_000: 3, 100_000: 20}
LARGE_SECONDS, LARGE_BYTES = 0.015, 1_024
OPENING_SECONDS = 0.15
# The plain design takes seconds a question beyond, and its aim is for this many.
MOST_PLAIN = 100_000
QUESTIONS = 200
WARMING = 30
ROUNDS = 60
OPENINGS = 5
PART = 10_000
# Filling stops here, and what is there is measured.
MOST_FILLING_SECONDS = 15 * 60

ResultT = TypeVar("ResultT")

TEAM, MEMBER = TeamName("executive"), MemberId("swe-1")


def speed(folder: Path, *, quick: bool, large: bool) -> None:
    corpus = Corpus(folder)
    for size in SIZES[:1] if quick else (*SIZES, *([LARGE] if large else [])):
        corpus.fill(size)
        figures = list(_searching(corpus))
        figures += _opening(corpus)
        show(f"Finding by words and meaning: speed at {corpus.count:,} memories, vectors given", figures)
    corpus.plain.close()


class Corpus:
    """One workspace that grows from size to size, and the plain design beside it; or one in a database, by itself."""

    def __init__(self, folder: Path, *, database: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.data = folder / "workspace"
        self.address = database or self.data
        self.notes = Notes()
        self.embedder = GivenVectors(self.notes)
        self.plain = PlainSearch(folder / "plain.sqlite", dimensions=self.embedder.dimensions)
        self.count = 0
        self.some_ids: list[str] = []
        self._random = Random(5)
        self._some_texts: list[str] = []

    def fill(self, size: int) -> None:
        started = perf_counter()
        first = self.count
        # Opened anew and closed again: an index in use would be written to its file after every part.
        with open_workspace(self.address, embedder=self.embedder) as workspace:
            memory = workspace.as_member(MEMBER)
            while self.count < size and perf_counter() - started < MOST_FILLING_SECONDS:
                self._fill_part(memory, min(PART, size - self.count))
                workspace.run_pending()
                seconds = perf_counter() - started
                left = seconds / (self.count - first) * (size - self.count)
                _progress(f"{self.count:,} of {size:,} memories, {seconds:.0f} s, {left:.0f} s left")
        if self.count < size:
            print(f"Filling was stopped after {MOST_FILLING_SECONDS // 60} minutes at {self.count:,} memories.")

    def questions(self, count: int) -> list[str]:
        """Three to eight words of some note, its rarest among them; no question comes twice."""
        return [self._question(text) for text in self._random.sample(self._some_texts, count)]

    def _fill_part(self, memory: TeamMemory, count: int) -> None:
        texts = [self.notes.text() for _ in range(count)]
        for place in range(0, count, 1_000):
            saved = memory.save_many([{"content": text} for text in texts[place : place + 1_000]])
            self.some_ids += [record.id for record in saved[:20]]
        if self.count < MOST_PLAIN and self.address == self.data:
            rows = [Note(str(self.count + place), "/", text) for place, text in enumerate(texts)]
            self.plain.add(rows, self.embedder.embed_documents(texts))
        self._some_texts += texts[:1_000]
        self.count += count

    def _question(self, text: str) -> str:
        words = list(dict.fromkeys(text.lower().strip(".").split()))
        rarest = max(words, key=self.notes.words.index)
        others = self._random.sample([word for word in words if word != rarest], self._random.randint(2, 7))
        asked = [rarest, *others]
        self._random.shuffle(asked)
        return " ".join(asked)


@dataclass(frozen=True, slots=True)
class _Timed:
    ours: list[float]
    plain: list[float]
    hits: list[int]
    shared: list[float]


def _searching(corpus: Corpus) -> Iterator[Figure]:
    with open_workspace(corpus.data, embedder=corpus.embedder) as workspace:
        memory = workspace.as_member(MEMBER)
        timed = _time_searches(memory, corpus)
        yield from _search_figures(timed, corpus.count)
        search, bundle = _time_context(memory, corpus)
        yield Figure(
            "context_for, p50",
            _ms(p50(bundle)),
            f"one search of the same question: {_ms(p50(search))}",
            f"{p50(bundle) / p50(search):.1f} x",
            "<= 3 x",
            p50(bundle) <= 3 * p50(search),
        )
        yield from _catching_up(memory, corpus)


def _time_searches(memory: TeamMemory, corpus: Corpus) -> _Timed:
    with_plain = corpus.count <= MOST_PLAIN
    timed = _Timed([], [], [], [])
    for place, question in enumerate(corpus.questions(WARMING + QUESTIONS)):
        vector = corpus.embedder.embed_query(question)[0]
        ours, mine = _seconds(lambda q=question: memory.search(q))
        plain, theirs = _seconds(lambda q=question, v=vector: corpus.plain.search(q, v)) if with_plain else (0.0, [])
        if place < WARMING:
            continue
        timed.ours.append(ours)
        timed.hits.append(len(mine.hits))
        if with_plain:
            timed.plain.append(plain)
            both = {hit.memory.content for hit in mine.hits} & {note.text for note in theirs}
            timed.shared.append(len(both) / len(theirs))
    return timed


def _search_figures(timed: _Timed, count: int) -> Iterator[Figure]:
    ours, plain = timed.ours, timed.plain
    hits = f"{sum(timed.hits) / len(timed.hits):.1f} hits on average, {timed.hits.count(0)} of {len(ours)} empty"
    if plain:
        ratio = p50(plain) / p50(ours)
        aim = AIMS.get(count)
        yield Figure(
            "search, p50",
            _ms(p50(ours)),
            f"FTS5 OR-ed + vec0 scan, fused: {_ms(p50(plain))} (p99 {_ms(p99(plain))})",
            f"{ratio:.1f} x faster",
            f">= {aim} x faster" if aim else "",
            ratio >= aim if aim else None,
        )
        hits += f"; {100 * sum(timed.shared) / len(timed.shared):.0f} % of the plain design's ten among them"
    else:
        aimed = f"<= {_ms(LARGE_SECONDS)}"
        yield Figure("search, p50", _ms(p50(ours)), "", "", aimed, p50(ours) <= LARGE_SECONDS)
    spread = p99(ours) / p50(ours)
    yield Figure("search, p99", _ms(p99(ours)), f"its p50: {_ms(p50(ours))}", f"{spread:.1f} x", "<= 3 x", spread <= 3)
    yield Figure("what was found", "", hits, "")


def _time_context(memory: TeamMemory, corpus: Corpus) -> list[list[float]]:
    """Each question is asked once before, so that neither of the two reads its pages for the other; with another limit,
    so that neither has its answer from there."""
    seconds: list[list[float]] = [[], []]
    for question in corpus.questions(ROUNDS):
        memory.search(question, limit=9)
        once = interleaved(lambda q=question: memory.search(q), lambda q=question: memory.context_for(task=q), rounds=1)
        for kept, new in zip(seconds, once, strict=True):
            kept.extend(new)
    return seconds


def _catching_up(memory: TeamMemory, corpus: Corpus) -> Iterator[Figure]:
    plain: list[float] = []
    after: list[float] = []
    alone: list[float] = []
    idle: list[float] = []
    random = Random(3)
    with _second_index(corpus) as catch_up:
        for place, question in enumerate(corpus.questions(ROUNDS)):
            memory.search(question, limit=9)
            plain.append(_seconds(lambda q=question: memory.search(q))[0])
            idle.append(_seconds(catch_up)[0])
            memory.update(random.choice(corpus.some_ids), category=f"category-{place % 7}")
            alone.append(_seconds(catch_up)[0])
            after.append(_seconds(lambda q=question: memory.search(q))[0])
    seconds = median(alone) - median(idle)
    yield Figure(
        "index catch-up after one update, alone", _ms(seconds), f"nothing new: {_ms(median(idle))}", "", "<= 1 ms",
        seconds <= 0.001,
    )  # fmt: skip
    yield Figure(
        "search right after one update",
        _ms(median(after)),
        f"the same search before: {_ms(median(plain))}",
        f"+ {_ms(median(after) - median(plain))}",
    )


@contextmanager
def _second_index(corpus: Corpus) -> Iterator[Callable[[], object]]:
    """Another index of the same store, whose catch-up can be timed alone: nothing else is asked of it."""
    stores = SqliteStores(corpus.data / "teams", clock=SystemClock(), disk=Disk())
    scope = ReadScope(team=TEAM, member_id=MEMBER, role=None)
    vector = corpus.embedder.embed_query("anything")[0]
    with stores.lease(TEAM) as store:

        def catch_up() -> object:
            return store.index.similarities(scope, vector, [], model=corpus.embedder.model)

        catch_up()
        yield catch_up
    stores.close()


def _opening(corpus: Corpus) -> Iterator[Figure]:
    """Fresh processes; the workspace was closed, so its index file is there and in the page cache."""
    runs = [_first_search(corpus.data, corpus.questions(1)) for _ in range(OPENINGS)]
    seconds = median(run["first_search_seconds"] for run in runs)
    aimed = corpus.count == SIZES[1]
    imports = median(run["import_seconds"] for run in runs)
    yield Figure(
        "opening and first search, new process",
        _ms(seconds),
        f"imports apart: {_ms(imports)}; page cache warm",
        "",
        f"<= {_ms(OPENING_SECONDS)}" if aimed else "",
        seconds <= OPENING_SECONDS if aimed else None,
    )
    run = _first_search(corpus.data, corpus.questions(QUESTIONS))
    each = run["index_bytes"] / corpus.count
    aimed = corpus.count > SIZES[1]
    yield Figure(
        "resident memory per memory",
        f"{each:,.0f} B",
        f"with index after the first search; after {QUESTIONS} searches {run['all_bytes'] / corpus.count:,.0f} B",
        "",
        f"<= {LARGE_BYTES:,} B" if aimed else "",
        max(each, run["all_bytes"] / corpus.count) <= LARGE_BYTES if aimed else None,
    )
    files = sum(file.stat().st_size for file in (corpus.data / "teams" / TEAM).iterdir())
    yield Figure("files per memory", f"{files / corpus.count:,.0f} B", "database and index file", "")


def _first_search(data: Path, questions: Sequence[str]) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.first_search", str(data)]
    done = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _seconds(call: Callable[[], ResultT]) -> tuple[float, ResultT]:
    started = perf_counter()
    result = call()
    return perf_counter() - started, result


def _progress(line: str) -> None:
    end = "\n" if not sys.stderr.isatty() else ""
    print(f"\r{line}   ", end=end, file=sys.stderr, flush=True)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"
