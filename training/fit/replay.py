"""One search kept as its scoring saw it, and the same search again from memory: the steps are the pipeline's own."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.finding_quality import TOP, Answer, Question
from mycel.access.scope import ReadScope
from mycel.contracts.embedder import Background
from mycel.domain.memory import Memory
from mycel.domain.search_request import Ask, RankingOptions, Signals
from mycel.retrieval import pipeline
from mycel.retrieval.arms import Meaning, MeaningFound, Place, WordsFound


@dataclass(slots=True)
class Shelf:
    """The memories of one set by number, without their texts, and the set's own ids of them."""

    ids: dict[int, str] = field(default_factory=dict[int, str])
    memories: dict[int, Memory] = field(default_factory=dict[int, Memory])


@dataclass(frozen=True, slots=True)
class Row:
    """What reading a candidate's text told: which words of the question it has."""

    words: int
    coverage: float
    share: float


@dataclass(slots=True)
class Kept:
    """Everything that both arms, the texts and the neighbours told one search, for every row of either arm."""

    ask: Ask
    scope: ReadScope
    words: WordsFound
    meaning: Meaning
    near: MeaningFound
    options: RankingOptions
    rows: Mapping[int, Row]
    neighbours: Mapping[int, tuple[int, ...]]
    signals: Mapping[int, Signals]
    shelf: Shelf


class _KeptStore:
    """Answers what the later steps of a search ask a store."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def neighbours(self, scope: ReadScope, numbers: Collection[int], **_: object) -> Mapping[int, tuple[int, ...]]:
        return {number: self._kept.neighbours[number] for number in numbers}

    def signals(self, scope: ReadScope, numbers: Collection[int]) -> Mapping[int, Signals]:
        return self._kept.signals

    def similarities(self, *_: object, **__: object) -> Mapping[int, float]:
        """Every cosine there is was kept with those of the arm."""
        return {}


class Replay(pipeline._Search):
    """The pipeline's own steps on what was kept; words alone where `by_words`."""

    def __init__(self, kept: Kept, *, background: Background | None = None, by_words: bool = False) -> None:
        meaning = kept.meaning if background is None else replace(kept.meaning, background=background)
        place: Any = Place(_KeptStore(kept), kept.scope)  # type: ignore[arg-type]
        arm = (None, None) if by_words else (meaning, kept.near)
        super().__init__(kept.ask, [place], kept.words, *arm, kept.options)
        self._kept = kept

    def order(self) -> None:
        self.gather()
        self.look_closer()
        self.add_neighbours()
        self.fuse()
        self.rank()

    def answer(self, question: Question, *, judged: bool) -> Answer:
        """The first ten in order, or those of them that are shown, with their relevances."""
        if judged:
            self.judge()
        ranked = pipeline.Ranked(self.close, self.words.question, self.least)
        shown = [one for one in ranked.candidates if not judged or ranked.shows(one)][:TOP]
        return Answer(question, [self._kept.shelf.ids[one.key[1]] for one in shown], [one.relevance for one in shown])

    def _read(self, candidates: Sequence[pipeline.Candidate]) -> None:
        for one in candidates:
            one.memory = self._kept.shelf.memories[one.key[1]]
            if not one.read and one.evidence.bm25 > 0:
                row = self._kept.rows[one.key[1]]
                one.evidence.words, one.evidence.coverage, one.evidence.share = row.words, row.coverage, row.share
                one.read = True


@contextmanager
def keeping(shelf: Shelf, seen: list[Kept]) -> Generator[None]:
    """For as long as it lasts, every search is kept."""

    class Keeping(pipeline._Search):
        def mark_far(self) -> None:
            super().mark_far()
            seen.append(_keep(self, shelf))

    own = pipeline._Search
    pipeline._Search = Keeping
    try:
        yield
    finally:
        pipeline._Search = own


def _keep(search: pipeline._Search, shelf: Shelf) -> Kept:
    """After the search is over: whatever other constants would have looked at is read as well."""
    if search.meaning is None or search.near is None:
        raise RuntimeError("a search took place without vectors")
    keys = sorted(search._bm25.keys() | search._cosines.keys())
    candidates = [search._candidate(key) for key in keys]
    search._read(candidates)
    numbers = [number for _, number in keys]
    place = search.places[0]
    for one in candidates:
        if one.memory is None:
            raise RuntimeError("a candidate cannot be read")
        shelf.memories.setdefault(one.key[1], replace(one.memory, content="", title="", metadata={}))
    return Kept(
        ask=search.ask,
        scope=place.scope,
        words=search.words,
        meaning=search.meaning,
        near=MeaningFound([{number: cosine for (_, number), cosine in search._cosines.items()}], search.near.pool),
        options=search.options,
        rows={
            one.key[1]: Row(one.evidence.words, one.evidence.coverage, one.evidence.share)
            for one in candidates
            if one.evidence.bm25 > 0
        },
        neighbours=place.store.neighbours(place.scope, numbers, filters=search.ask.filters),
        signals=place.store.signals(place.scope, numbers),
        shelf=shelf,
    )
