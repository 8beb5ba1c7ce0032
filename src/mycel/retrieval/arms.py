"""The two arms of a search, by words and by meaning: each brings in the best rows of every place it may look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from mycel.access.scope import ReadScope
from mycel.contracts.embedder import Background
from mycel.contracts.search_store import Match, WordStatistics
from mycel.contracts.store import Store
from mycel.domain.query import Filters
from mycel.domain.recall import Pool
from mycel.retrieval.lexical import Question, parse_question, rarities_of
from mycel.retrieval.spelling import corrected

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# How many rows each arm brings in, at least and for each hit wanted; what is in neither is not looked at.
ARM_ROWS = 60
ARM_ROWS_PER_HIT = 3
# Quoted words must be there, so every row that has them counts; more than these are not looked through.
PHRASE_ROWS = 2_000


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
class WordsFound:
    """Rows by place, and the question as it was looked up."""

    question: Question
    statistics: WordStatistics
    matches: Sequence[Sequence[Match]]
    # By place, the rows that hold every quoted phrase; None where none is quoted or none does.
    quoted: Sequence[frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class MeaningFound:
    """Cosines by place and number, and how all that could have been found is spread."""

    cosines: Sequence[Mapping[int, float]]
    pool: Pool


def search_by_words(text: str, places: Sequence[Place], filters: Filters, *, limit: int) -> WordsFound:
    """Where no word is known, words a letter away from the unknown ones are tried; the past may have known them."""
    found = _look_up(parse_question(text), places, filters, limit=limit)
    if any(found.matches) or not found.question.terms or filters.believed_at is not None:
        return found
    meant = corrected(text, lambda terms: _count_words(terms, places).frequencies)
    return found if meant is None else _look_up(parse_question(meant), places, filters, limit=limit)


def search_by_meaning(meaning: Meaning, places: Sequence[Place], filters: Filters, *, limit: int) -> MeaningFound:
    cosines: list[dict[int, float]] = []
    pools: list[Pool] = []
    for place in places:
        near = [
            place.store.index.search_vectors(
                place.scope, meaning.vector, model=meaning.model, filters=reach, limit=_rows(limit)
            )
            for reach in _reaches(filters)
        ]
        cosines.append({number: cosine for nearest in near for number, cosine in nearest.matches})
        # The last is the widest.
        pools.append(near[-1].pool)
    return MeaningFound(cosines, _together(pools))


def search_again(
    found: WordsFound, meaning: Meaning | None, places: Sequence[Place], filters: Filters, *, limit: int
) -> tuple[Sequence[Sequence[Match]], Sequence[Mapping[int, float]]]:
    """The best rows of both arms for the question as it was looked up, by other filters or to another depth."""
    words = [_match(found, place, filters, limit=_rows(limit)) for place in places]
    near = None if meaning is None else search_by_meaning(meaning, places, filters, limit=limit)
    return words, () if near is None else near.cosines


def _look_up(question: Question, places: Sequence[Place], filters: Filters, *, limit: int) -> WordsFound:
    found = WordsFound(question, _count_words(question.vocabulary, places), [[] for _ in places])
    if not question.terms:
        return found
    matches = [_match(found, place, filters, limit=_rows(limit)) for place in places]
    return replace(found, matches=matches, quoted=_quoted(question, places, filters))


def _rows(limit: int) -> int:
    return max(ARM_ROWS, ARM_ROWS_PER_HIT * limit)


def _match(found: WordsFound, place: Place, filters: Filters, *, limit: int) -> list[Match]:
    frequencies, documents, usual_length = found.statistics
    rarities = rarities_of(found.question, frequencies=frequencies, documents=documents)
    best: dict[int, float] = {}
    for reach in _reaches(filters):
        best.update(
            place.store.index.search_words(place.scope, rarities, usual_length=usual_length, filters=reach, limit=limit)
        )
    return [Match(number, score) for number, score in best.items()]


def _reaches(filters: Filters) -> Iterator[Filters]:
    """Where the caller works first, so that it is never crowded out; then everywhere, for what is strong enough."""
    yield filters
    if filters.reach_project is not None or filters.reach_repo is not None:
        yield replace(filters, reach_project=None, reach_repo=None)


def _quoted(question: Question, places: Sequence[Place], filters: Filters) -> list[frozenset[int]] | None:
    if not question.phrases:
        return None
    wide = replace(filters, reach_project=None, reach_repo=None)
    rows = [_with_every(question.phrases, place, wide) for place in places]
    return rows if any(rows) else None


def _with_every(phrases: Sequence[tuple[str, ...]], place: Place, filters: Filters) -> frozenset[int]:
    first, *others = (
        place.store.index.with_phrase(place.scope, phrase, filters=filters, limit=PHRASE_ROWS) for phrase in phrases
    )
    return first.intersection(*others)


def _count_words(terms: Iterable[str], places: Sequence[Place]) -> WordStatistics:
    """Those of several stores are added up, so that one ranking serves them all."""
    wanted = list(terms)
    every = [place.store.index.word_statistics(place.scope, wanted) for place in places]
    documents = sum(one.documents for one in every)
    length = sum(one.usual_length * one.documents for one in every) / (documents or 1)
    counted: Counter[str] = Counter()
    for one in every:
        counted.update(one.frequencies)
    return WordStatistics(dict(counted), documents, max(length, 1.0))


def _together(pools: Sequence[Pool]) -> Pool:
    size, measured = sum(pool.size for pool in pools), sum(pool.measured for pool in pools)
    if not measured:
        return Pool(size)
    # A sample stands for its whole pool.
    shares = [pool.size if pool.measured else 0 for pool in pools]
    mean = sum(share * pool.mean for share, pool in zip(shares, pools, strict=True)) / sum(shares)
    squares = (pool.deviation**2 + (pool.mean - mean) ** 2 for pool in pools)
    variance = sum(share * square for share, square in zip(shares, squares, strict=True)) / sum(shares)
    return Pool(size, measured, mean, sqrt(variance))
