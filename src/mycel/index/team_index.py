"""The index of one team: which memories hold which terms, what their passages mean, and who may find which."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Candidates, IndexQuery, WordStatistics
from mycel.domain.embedding import IndexRow
from mycel.domain.neighbourhood import Neighbourhood
from mycel.domain.query import Filters
from mycel.domain.recall import Pool
from mycel.index.coded_column import Flags
from mycel.index.facets import Facets
from mycel.index.findable import Findable, FindableByFilters
from mycel.index.passage_rows import Numbers, PassageRows, run_starts
from mycel.index.postings import Postings, Terms
from mycel.index.scan import Query, prepared
from mycel.index.sight import Narrow, Sights
from mycel.index.sign_bits import SignBits
from mycel.index.vectors import VectorRows, Vectors
from mycel.retrieval.lexical import rarities_of
from mycel.retrieval.terms import term_number

Arrays = dict[str, NDArray[Any]]

# Of so many readers it is remembered what they see, until something changes.
REMEMBERED_READERS = 16

_Scored = tuple[Numbers, Vectors]

_PASSAGE_ARRAYS = ("vectors", "inverse_norms", "owners")


class Cursor(NamedTuple):
    """How much of the store is in the index: the last change and the last embedding seen, and from which memory on the
    terms were of an earlier analyser, 0 for none.

    `anchor` is whatever its owner needs to tell whether the store's history still is the one that was read.
    """

    sequence: int = 0
    embedding_id: int = 0
    anchor: str = ""
    outdated_from: int = 0


@dataclass(slots=True)
class _Reader:
    """What one reader sees of everything that is kept."""

    seen: Flags
    documents: int
    usual_length: float
    containing: dict[str, int] = field(default_factory=dict[str, int])


class TeamIndex:
    """Everything here can be made again from the store. Safe to search from any thread while `apply` runs.

    Without a model it has no vectors, and is searched by words alone.
    """

    def __init__(
        self,
        model: str = "",
        dimensions: int = 0,
        *,
        facets: Facets | None = None,
        postings: Postings | None = None,
        rows: VectorRows | None = None,
        cursor: Cursor | None = None,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self._facets = facets or Facets()
        self._postings = postings or Postings()
        self._rows = rows or VectorRows(dimensions)
        self._cursor = cursor or Cursor()
        self._writing = threading.Lock()
        # Held for as long as a mask takes; vectors and postings are searched without any lock.
        self._facets_in_use = threading.Lock()
        self._readers: OrderedDict[ReadScope, _Reader] = OrderedDict()
        self._sights = Sights(self._narrow)
        self._findable = FindableByFilters()

    @property
    def count(self) -> int:
        """Memories that have vectors."""
        return self._rows.memories

    @property
    def passages(self) -> int:
        return self._rows.count

    @property
    def sequence(self) -> int:
        return self._cursor.sequence

    @property
    def embedding_id(self) -> int:
        return self._cursor.embedding_id

    @property
    def state(self) -> tuple[int, int, int]:
        return self._cursor.sequence, self._cursor.embedding_id, self._cursor.outdated_from

    @property
    def anchor(self) -> str:
        return self._cursor.anchor

    def use(self, model: str, dimensions: int) -> None:
        """From now on the vectors of this model; none of them are in it yet."""
        with self._writing:
            self._rows = VectorRows(dimensions)
            self._findable = FindableByFilters()
            self._cursor = self._cursor._replace(embedding_id=0)
            self.model, self.dimensions = model, dimensions

    def apply(
        self,
        rows: Iterable[IndexRow],
        *,
        terms: Iterable[tuple[int, bytes]],
        gone: Iterable[int],
        embedded: Iterable[tuple[int, Sequence[bytes]]],
        cursor: Cursor,
    ) -> None:
        """Memories as they are now with their terms, those purged, and all passages of those embedded anew.

        What is gone stays gone, even where it is among the others: numbers are never given out twice.
        """
        with self._writing:
            absent = frozenset(gone)
            self._postings.replace((number, packed) for number, packed in terms if number not in absent)
            with self._facets_in_use:
                for number in absent:
                    self._facets.remove(number)
                self._facets.extend(row for row in rows if row.number not in absent)
                self._readers = OrderedDict()
                self._sights = Sights(self._narrow)
            for number in absent:
                self._postings.remove(number)
                self._rows.remove(number)
            self._rows.replace((number, passages) for number, passages in embedded if number not in absent)
            # What was made meanwhile may know half of it.
            self._findable = FindableByFilters()
            self._cursor = cursor

    def mask(self, scope: ReadScope, filters: Filters, *, linked: Iterable[int] = ()) -> Flags:
        """What the scope sees and the filters ask for, by memory number; see `Facets.mask`."""
        with self._facets_in_use:
            return self._facets.mask(scope, filters, linked=linked)

    def word_statistics(self, scope: ReadScope, terms: Iterable[str]) -> WordStatistics:
        reader = self._reader(scope)
        wanted = list(dict.fromkeys(terms))
        unknown = [term for term in wanted if term not in reader.containing]
        if unknown:
            counted = self._postings.containing(_numbers_of(unknown), reader.seen)
            reader.containing.update(zip(unknown, counted, strict=True))
        found = {term: reader.containing[term] for term in wanted}
        return WordStatistics(found, reader.documents, reader.usual_length)

    def candidates(
        self, scope: ReadScope, query: IndexQuery, *, linked: Iterable[int] = (), quoted: frozenset[int] | None = None
    ) -> Candidates:
        """See `contracts.search_store`; whoever has the texts says which hold what is quoted, if any do."""
        statistics = query.statistics or self.word_statistics(scope, query.terms)
        asked = None if query.vector is None else prepared(query.vector)
        found = self._found_by(scope, query.filters, linked)
        survey = found[-1]
        if quoted is not None:
            found = [self._rows.findable(_only(quoted, one.memories)) for one in found]
        by_words = self._by_words(scope, query, statistics, [one.memories for one in found])
        by_meaning = _joined(self.nearest(asked, one, limit=query.limit) for one in found if asked is not None)
        numbers = np.sort(np.concatenate((by_words[0], by_meaning[0])))
        numbers = numbers[run_starts(numbers)]
        bm25, cosines = np.zeros(len(numbers)), np.full(len(numbers), np.nan)
        bm25[np.searchsorted(numbers, by_words[0])] = by_words[1]
        cosines[np.searchsorted(numbers, by_meaning[0])] = by_meaning[1]
        if asked is None:
            pool = Pool(self._reader(scope).documents)
        else:
            unmeasured = np.isnan(cosines)
            pool, cosines[unmeasured] = self._survey(asked, survey, numbers[unmeasured])
        return Candidates(
            numbers=numbers,
            bm25=bm25,
            cosines=cosines,
            held=self._held(query.terms, numbers),
            far=~found[0].memories[numbers],
            neighbours=partial(self._neighbours, found[0].memories),
            statistics=statistics,
            pool=pool,
            quoted=quoted,
        )

    def with_all(self, terms: Iterable[str], allowed: Flags) -> Numbers:
        """The memories that hold every one of the terms, the newest first."""
        return self._postings.with_all(_numbers_of(terms), allowed)

    def _survey(self, asked: Query, findable: Findable, others: Numbers) -> tuple[Pool, Vectors]:
        """How the cosines of a question are spread over everything that it could find, and those of some others."""
        size, sample = findable.size, findable.sample
        cosines = self.similarities(asked, np.concatenate((sample, others)))
        spread = cosines[: len(sample)]
        spread = spread[~np.isnan(spread)]
        if not len(spread):
            return Pool(size), cosines[len(sample) :]
        # As `mean` and `std` have it; they look for what this is not, ten times as long.
        mean = np.add.reduce(spread) / len(spread)
        away = spread - mean
        deviation = np.sqrt(np.add.reduce(away * away) / len(spread))
        return Pool(size, len(spread), float(mean), float(deviation)), cosines[len(sample) :]

    def _found_by(self, scope: ReadScope, filters: Filters, linked: Iterable[int]) -> list[Findable]:
        """Where the caller works first, so that it is never crowded out; then everywhere, for what is strong enough."""
        if not filters.is_within_reach:
            return [self._wide(scope, filters)]
        wide = self._wide(scope, filters.beyond_reach())
        # Asked last, it has a flag for whatever either of them finds.
        return [self._rows.findable(self.mask(scope, filters, linked=linked)), wide]

    def _wide(self, scope: ReadScope, filters: Filters) -> Findable:
        sight = self._sights.of(scope)
        return self._findable.get(
            sight,
            filters,
            make=lambda: self._rows.findable(self.mask(sight, filters)),
            next_expiry=self._next_expiry,
        )

    def _narrow(self) -> Narrow:
        with self._facets_in_use:
            return self._facets.narrow()

    def _next_expiry(self, moment: datetime) -> datetime:
        with self._facets_in_use:
            return self._facets.next_expiry(moment)

    def _by_words(
        self, scope: ReadScope, query: IndexQuery, statistics: WordStatistics, masks: Sequence[Flags]
    ) -> _Scored:
        rarities = rarities_of(query.terms, frequencies=statistics.frequencies, documents=statistics.documents)
        terms, weights = _numbers_of(rarities), np.fromiter(rarities.values(), np.float32, len(rarities))
        here = statistics if query.statistics is None else self.word_statistics(scope, rarities)
        containing = [here.frequencies[term] for term in rarities]
        usual_length, limit = statistics.usual_length, query.limit
        return _joined(
            self._postings.search(
                terms, weights, containing=containing, allowed=allowed, usual_length=usual_length, limit=limit
            )
            for allowed in (masks if rarities else ())
        )

    def _held(self, terms: Sequence[str], numbers: Numbers) -> Flags:
        return self._postings.holding(_numbers_of(terms), numbers)

    def _neighbours(self, allowed: Flags, numbers: Sequence[int]) -> Mapping[int, Sequence[int]]:
        with self._facets_in_use:
            return self._facets.neighbours(np.array(numbers, np.int64), allowed, Neighbourhood())

    def has_other_authors(self, author: str) -> bool:
        with self._facets_in_use:
            return self._facets.has_other_authors(author)

    def nearest(self, query: Vectors | Query, allowed: Flags | Findable, *, limit: int) -> tuple[Numbers, Vectors]:
        """Numbers and cosines of the nearest memories that `allowed` (from `mask`) lets through, best first."""
        return self._rows.nearest(query, allowed=allowed, limit=limit)

    def similarities(self, query: Vectors | Query, numbers: Sequence[int] | Numbers) -> Vectors:
        """The cosine of each memory's best passage, not a number for those without vectors."""
        return self._rows.similarities(query, numbers=numbers)

    def image(self) -> IndexImage:
        """All of it at one moment, without the rows that are dead."""
        with self._writing:
            arrays, texts = self._facets.arrays(), self._facets.texts()
            postings = self._postings.arrays()
            passages, cursor = self._rows.passages, self._cursor
            alive = passages.alive[: passages.count].copy()
        arrays |= postings | _passage_arrays(passages.living(alive))
        return IndexImage(self.model, self.dimensions, cursor, texts, arrays)

    def _reader(self, scope: ReadScope) -> _Reader:
        readers = self._readers
        sight = self._sights.of(scope)
        reader = readers.get(sight)
        if reader is None:
            seen = self.mask(sight, Filters(statuses=()))
            reader = _Reader(seen, *self._postings.extent(seen))
            readers[sight] = reader
            if len(readers) > REMEMBERED_READERS:
                readers.popitem(last=False)
        return reader


def _joined(found: Iterable[_Scored]) -> _Scored:
    """What is in both has the same score in both."""
    every = list(found)
    if len(every) == 1:
        return every[0]
    none = np.empty(0, np.int64), np.empty(0, np.float32)
    return np.concatenate([none[0], *(one[0] for one in every)]), np.concatenate([none[1], *(one[1] for one in every)])


def _only(numbers: frozenset[int], allowed: Flags) -> Flags:
    flags = np.zeros_like(allowed)
    flags[[number for number in numbers if number < len(flags)]] = True
    return flags & allowed


def _numbers_of(terms: Iterable[str]) -> Terms:
    return np.array([term_number(term) for term in terms], np.uint64)


@dataclass(frozen=True, slots=True)
class IndexImage:
    """An index taken apart, to be written to a file or put together again."""

    model: str
    dimensions: int
    cursor: Cursor
    texts: dict[str, list[str | None]]
    arrays: Arrays

    def restored(self) -> TeamIndex:
        return TeamIndex(
            self.model,
            self.dimensions,
            facets=Facets.restored(self.arrays, texts=self.texts),
            postings=Postings.restored(self.arrays),
            rows=VectorRows(self.dimensions, passages=_passages(self.arrays)),
            cursor=self.cursor,
        )


def _passage_arrays(passages: PassageRows) -> Arrays:
    arrays: Arrays = {name: getattr(passages, name) for name in _PASSAGE_ARRAYS}
    if passages.signs is not None:
        signs = passages.signs
        arrays |= {"sign_words": signs.words, "sign_centre": signs.centre, "signs_made_for": np.array([signs.made_for])}
    return arrays


def _passages(arrays: Arrays) -> PassageRows:
    signs = None
    if "sign_words" in arrays:
        signs = SignBits(arrays["sign_centre"], arrays["sign_words"], int(arrays["signs_made_for"][0]))
    return PassageRows.of(**{name: arrays[name] for name in _PASSAGE_ARRAYS}, signs=signs)
