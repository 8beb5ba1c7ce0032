"""A question asked of every store that the caller reads: one call to each, and figures that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from mycel.access.scope import ReadScope
from mycel.contracts.embedder import Background
from mycel.contracts.search_store import Candidates, IndexQuery, WordStatistics
from mycel.contracts.store import Store
from mycel.domain.query import Filters
from mycel.domain.recall import Pool
from mycel.retrieval.lexical import Question, parse_question
from mycel.retrieval.spelling import corrected

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# How many rows words and meaning each bring in, at least and for each hit wanted; what is in neither is not looked at.
LEAST_ROWS = 60
ROWS_PER_HIT = 3


@dataclass(frozen=True, slots=True)
class Place:
    """One team's store and what of it the caller may see."""

    store: Store
    scope: ReadScope


@dataclass(frozen=True, slots=True)
class Meaning:
    """The question as a vector, and of which model."""

    vector: Vector
    model: str
    background: Background


@dataclass(frozen=True, slots=True)
class Found:
    """What each place brought in, and the question as it was looked up."""

    question: Question
    query: IndexQuery
    candidates: Sequence[Candidates]
    statistics: WordStatistics
    pool: Pool

    @property
    def is_quoted(self) -> bool:
        """Whether some memory holds all that the question quotes: then every answer must."""
        return any(one.quoted for one in self.candidates)


def look_up(text: str, places: Sequence[Place], meaning: Meaning | None, filters: Filters, *, limit: int) -> Found:
    """Where no word is known, words a letter away from the unknown ones are tried; the past may have known them."""
    found = _ask(parse_question(text), places, meaning, filters, limit=limit)
    has_words = any((one.bm25 > 0).any() for one in found.candidates)
    if has_words or not found.question.terms or filters.believed_at is not None:
        return found

    def count(terms: Iterable[str]) -> Mapping[str, int]:
        wanted, known = set(terms), found.statistics.frequencies
        return known if wanted <= known.keys() else _counted(places, wanted).frequencies

    meant = corrected(text, count)
    return found if meant is None else _ask(parse_question(meant), places, meaning, filters, limit=limit)


def look_again(found: Found, places: Sequence[Place], filters: Filters, *, limit: int) -> Found:
    """The same question by other filters, or to another depth."""
    query = replace(found.query, filters=filters, limit=_rows(limit), statistics=found.statistics)
    return replace(found, candidates=[place.store.index.candidates(place.scope, query) for place in places])


def _ask(
    question: Question, places: Sequence[Place], meaning: Meaning | None, filters: Filters, *, limit: int
) -> Found:
    query = IndexQuery(
        filters,
        _rows(limit),
        question.terms,
        question.phrases,
        # One ranking serves several stores only by what all of them hold together.
        statistics=_counted(places, question.terms) if len(places) > 1 else None,
        vector=None if meaning is None else meaning.vector,
        model="" if meaning is None else meaning.model,
    )
    candidates = [place.store.index.candidates(place.scope, query) for place in places]
    statistics = candidates[0].statistics if candidates else WordStatistics({}, 0, 1.0)
    return Found(question, query, candidates, statistics, _together([one.pool for one in candidates]))


def _rows(limit: int) -> int:
    return max(LEAST_ROWS, ROWS_PER_HIT * limit)


def _counted(places: Sequence[Place], terms: Iterable[str]) -> WordStatistics:
    """Of all places together."""
    wanted = list(terms)
    every = [place.store.index.word_statistics(place.scope, wanted) for place in places]
    documents = sum(one.documents for one in every)
    length = sum(one.usual_length * one.documents for one in every) / (documents or 1)
    counted: Counter[str] = Counter()
    for one in every:
        counted.update(one.frequencies)
    return WordStatistics(dict(counted), documents, max(length, 1.0))


def _together(pools: Sequence[Pool]) -> Pool:
    if len(pools) == 1:
        return pools[0]
    size, measured = sum(pool.size for pool in pools), sum(pool.measured for pool in pools)
    if not measured:
        return Pool(size)
    # A sample stands for its whole pool.
    shares = [pool.size if pool.measured else 0 for pool in pools]
    mean = sum(share * pool.mean for share, pool in zip(shares, pools, strict=True)) / sum(shares)
    squares = (pool.deviation**2 + (pool.mean - mean) ** 2 for pool in pools)
    variance = sum(share * square for share, square in zip(shares, squares, strict=True)) / sum(shares)
    return Pool(size, measured, mean, sqrt(variance))
