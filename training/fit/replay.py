"""One search kept as its scoring saw it, and the same search again from memory: the steps are the pipeline's own."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.finding_quality import TOP, Answer, Question
from mycel.access.scope import ReadScope
from mycel.contracts.embedder import Background
from mycel.domain.memory import Memory
from mycel.domain.recall import Pool
from mycel.domain.search_request import RankingOptions, SearchRequest, Signals
from mycel.retrieval import pipeline
from mycel.retrieval.lookup import Found, Meaning, Place


@dataclass(slots=True)
class Shelf:
    """The memories of one set by number, without their texts, and the set's own ids of them."""

    ids: dict[int, str] = field(default_factory=dict[int, str])
    memories: dict[int, Memory] = field(default_factory=dict[int, Memory])


@dataclass(frozen=True, slots=True)
class _Beside:
    """What stands beside each memory."""

    known: Mapping[int, Sequence[int]]

    def __call__(self, numbers: Sequence[int]) -> Mapping[int, Sequence[int]]:
        return {number: self.known[number] for number in numbers if number in self.known}


@dataclass(slots=True)
class Kept:
    """Everything that the store told one search."""

    request: SearchRequest
    scope: ReadScope
    meaning: Meaning
    found: Found
    options: RankingOptions
    signals: Mapping[int, Signals]
    shelf: Shelf


class Replay(pipeline._Search):
    """The pipeline's own steps on what was kept; words alone where `by_words`."""

    def __init__(self, kept: Kept, *, background: Background | None = None, by_words: bool = False) -> None:
        meaning = kept.meaning if background is None else replace(kept.meaning, background=background)

        def signals(scope: ReadScope, numbers: Collection[int]) -> Mapping[int, Signals]:
            return {number: kept.signals[number] for number in numbers if number in kept.signals}

        store: Any = SimpleNamespace(index=SimpleNamespace(signals=signals))
        place = Place(store, kept.scope)
        found = _by_words(kept.found) if by_words else kept.found
        super().__init__(kept.request, [place], None if by_words else meaning, found, kept.options)
        self._kept = kept

    def order(self) -> None:
        self.gather()
        self.look_closer()
        self.add_neighbours()
        self.fuse()
        self._read(self.close)
        self.rank()

    def answer(self, question: Question, *, judged: bool) -> Answer:
        """The first ten in order, or those of them that are shown, with their relevances."""
        if judged:
            self.judge()
        ranked = self.ranked()
        shown = [one for one in ranked.candidates if not judged or ranked.shows(one)][:TOP]
        return Answer(question, [self._kept.shelf.ids[one.key[1]] for one in shown], [one.relevance for one in shown])

    def _heads(self) -> list[int]:
        """No texts are kept to tell copies by; the sets have next to none."""
        return list(range(len(self.close)))

    def _read(self, candidates: Sequence[pipeline.Candidate]) -> None:
        for one in candidates:
            one.memory = self._kept.shelf.memories[one.key[1]]


def _by_words(found: Found) -> Found:
    """As if there were no vectors."""
    [rows] = found.candidates
    chosen = np.flatnonzero(rows.bm25 > 0)
    columns = {name: getattr(rows, name)[chosen] for name in ("numbers", "bm25", "held", "far")}
    pool, cosines = Pool(found.statistics.documents), np.full(len(chosen), np.nan)
    return replace(found, pool=pool, candidates=[replace(rows, **columns, cosines=cosines, pool=pool)])


@contextmanager
def keeping(shelf: Shelf, seen: list[Kept]) -> Generator[None]:
    """For as long as it lasts, every search is kept."""

    class Keeping(pipeline._Search):
        def judge(self) -> None:
            super().judge()
            seen.append(_keep(self, shelf))

    own = pipeline._Search
    pipeline._Search = Keeping
    try:
        yield
    finally:
        pipeline._Search = own


def _keep(search: pipeline._Search, shelf: Shelf) -> Kept:
    """After the search is over: whatever other constants would have looked at is read as well."""
    if search.meaning is None:
        raise RuntimeError("a search took place without vectors")
    candidates = search._chosen(sorted(search._rows.at))
    search._read(candidates)
    place = search.places[0]
    for one in candidates:
        if one.memory is None:
            raise RuntimeError("a candidate cannot be read")
        shelf.memories.setdefault(one.key[1], replace(one.memory, content="", title="", metadata={}))
    numbers = [number for _, number in search._rows.at]
    [rows] = search.found.candidates
    # The store will be closed: what stands beside each is told now.
    beside = _Beside(dict(rows.neighbours(numbers)))
    return Kept(
        request=search.request,
        scope=place.scope,
        meaning=search.meaning,
        found=replace(search.found, candidates=[replace(rows, neighbours=beside)]),
        options=search.options,
        signals=place.store.index.signals(place.scope, numbers),
        shelf=shelf,
    )
