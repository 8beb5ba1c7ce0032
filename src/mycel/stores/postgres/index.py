"""Searching in the database: words by their numbers, meaning by distance, and nothing that the reader may not see."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Candidates, IndexQuery, Standing, WordStatistics
from mycel.domain.ids import TeamName
from mycel.domain.query import Filters
from mycel.domain.recall import Pool
from mycel.stores.postgres import neighbours, vector_scan
from mycel.stores.postgres.connection import as_array, in_bytes
from mycel.stores.postgres.term_sample import LOTS, lots_for
from mycel.stores.postgres.vector_scan import Scan
from mycel.stores.postgres.word_matches import Flags, Numbers, WordMatches
from mycel.stores.postgres.word_search import Asked, Extent, Finders, WordSearch, ask_extent
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection, Cursor
from mycel.stores.sql.index import OUTDATED, SqlIndex
from mycel.stores.sql.part import Session
from mycel.stores.sql.part import query as lent
from mycel.stores.sql.rows import micros

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# So few that filters leave are looked at one by one, whatever their words.
FEW_LEFT = 1_000
# Of so many readers and filters of a large team it is remembered how much they left.
REMEMBERED_FILTERS = 256

# The first author and the last in the order of their names.
_Ends = tuple[str | None, str | None]

_STANDING = """
    SELECT coalesce(h.sequence, 0), (SELECT coalesce(sum(a.documents), 0)::bigint FROM audiences a WHERE {seen}),
      EXISTS (SELECT 1 FROM memory_terms WHERE {outdated}),
      h.writes, h.readings, (SELECT expires_at FROM memories WHERE expires_at > :now ORDER BY expires_at LIMIT 1)
    FROM (SELECT 1) LEFT JOIN heads h ON h.team_id = current_team()"""
_SIMILARITIES = f"""
    SELECT m.number, max({vector_scan.COSINE}) FROM passages m
    WHERE m.number = ANY (:numbers::bigint[]) AND m.model = :model GROUP BY m.number"""


class PostgresIndex(SqlIndex):
    """See `contracts.search_store.IndexReads`."""

    def __init__(self, session: Session, team: TeamName) -> None:
        super().__init__(session)
        self._team = team
        self._words = WordSearch(session, team)
        self._has_several_authors = False
        self._writes: int | None = None
        self._authors: tuple[int | None, _Ends] = (None, (None, None))
        self._left: OrderedDict[tuple[ReadScope, Filters], int] = OrderedDict()

    def candidates(self, scope: ReadScope, query: IndexQuery) -> Candidates:
        asked = Asked.of(scope, query)
        finders = self._words.finders(asked)
        extent, matches, scan = self._search(asked, finders)
        if scan is not None and not scan.is_whole:
            scan = self._nearby(asked, scan)
            self._note_left(asked, scan.pool.size)
        left = scan.numbers if scan is not None and scan.is_whole and len(scan.numbers) <= FEW_LEFT else None
        statistics, matches = self._words.settle(asked, extent, finders, matches, left=left)
        quoted = self._quoting(asked, matches)
        only = np.array(sorted(quoted), np.int64) if quoted else None
        words = matches.scored(query.terms, statistics, among=_sets(asked, matches, only), limit=query.limit)
        nearest = _nearest(asked, scan, only)
        numbers = np.array(sorted({*words, *nearest}), np.int64)
        held, cosines = self._around(asked, numbers, matches, scan)
        return Candidates(
            numbers=numbers,
            bm25=np.array([words.get(number, 0.0) for number in numbers.tolist()], np.float64),
            cosines=cosines,
            held=held,
            far=~np.isin(numbers, _in_reach(matches, scan)),
            neighbours=partial(self._neighbours, asked, only),
            statistics=statistics,
            pool=Pool(extent.documents) if scan is None else scan.pool,
            quoted=quoted or None,
        )

    @lent
    def standing(self, connection: Connection, scope: ReadScope, now: datetime) -> Standing:
        seen, values = visible(scope, "a")
        sql = _STANDING.format(seen=seen, outdated=OUTDATED)
        row = connection.execute(sql, {**values, "now": micros(now)}).fetchone()
        sequence, documents, is_outdated, *revision = row
        self._writes = revision[0]
        return Standing(tuple(revision), sequence, documents, is_outdated=is_outdated)

    def word_statistics(self, scope: ReadScope, terms: Iterable[str]) -> WordStatistics:
        return self._words.statistics(scope, terms)

    def similarities(
        self, scope: ReadScope, vector: Vector, numbers: Sequence[int], *, model: str
    ) -> Mapping[int, float]:
        return self._similar({"vector": vector_scan.text_of(vector), "model": model}, numbers)

    @lent
    def _similar(
        self, connection: Connection, values: Mapping[str, Any], numbers: Sequence[int]
    ) -> Mapping[int, float]:
        return dict(_ask_similarities(connection, values, numbers).fetchall())

    def has_other_authors(self, author: str) -> bool:
        # Where there are two, there are others to anybody. Should they all be purged, others are looked for in vain.
        if self._has_several_authors:
            return True
        first, last = self._first_and_last()
        self._has_several_authors = first != last
        return any(end not in (None, author) for end in (first, last))

    def _first_and_last(self) -> _Ends:
        """For as long as nobody has written anything, they are the same."""
        writes = self._writes
        known_at, ends = self._authors
        if writes is None or writes != known_at:
            ends = self._ends_of_authors()
            self._authors = writes, ends
        return ends

    @lent
    def _ends_of_authors(self, connection: Connection) -> _Ends:
        """Those of the index of authors, which knows nothing of what is unequal."""
        return connection.execute("SELECT min(agent_id), max(agent_id) FROM memories").fetchone()

    @lent
    def _search(
        self, connection: Connection, asked: Asked, finders: Finders
    ) -> tuple[Extent, WordMatches, Scan | None]:
        """All statements are sent before the first answer is looked at."""
        extent = ask_extent(connection, asked.scope)
        words = self._words.ask(connection, asked, finders)
        read_scan = self._ask_scan(connection, asked) if asked.query.vector is not None else _nothing
        matches = self._words.read(asked, words)
        return Extent(*extent.fetchone()), matches, read_scan()

    def _ask_scan(self, connection: Connection, asked: Asked) -> Callable[[], Scan]:
        """Of all, or of a sample of a large team, with what its index finds. Returns what reads the answers.

        The index is asked where these filters have left much before: where they leave little it would look for long.
        """
        size = self._words.size(asked.scope)
        left = self._left.get(_kind_of(asked))
        if asked.query.phrases or (size if left is None else left) <= vector_scan.EXACT_ROWS:
            every = in_bytes(connection, vector_scan.of_all(asked.clauses), _values(asked))
            return lambda: vector_scan.read(every.fetchone())
        lots = lots_for(size, wanted=vector_scan.SAMPLED)
        drawn = in_bytes(connection, vector_scan.of_sample(asked.clauses), {**_values(asked), "lots": lots})
        nearest = [] if left is None else self._ask_index(connection, asked)

        def read() -> Scan:
            sample = vector_scan.read(drawn.fetchone())
            sample = vector_scan.joined([sample], size=len(sample.numbers) * LOTS // lots)
            return _with_nearest(asked, sample, nearest) if nearest else sample

        return read

    def _nearby(self, asked: Asked, scan: Scan) -> Scan:
        """By the index, unless it was asked already, or by measuring everything after all."""
        if scan.pool.size > vector_scan.EXACT_ROWS and not scan.has_nearest:
            scan = self._by_index(asked, scan)
        return scan if scan.pool.size > vector_scan.EXACT_ROWS else self._by_measure(asked)

    @lent
    def _by_index(self, connection: Connection, asked: Asked, sample: Scan) -> Scan:
        return _with_nearest(asked, sample, self._ask_index(connection, asked))

    def _ask_index(self, connection: Connection, asked: Asked) -> list[Cursor]:
        most = vector_scan.PASSAGES_PER_WANTED * asked.query.limit
        values = {**_values(asked), "team": self._team, "most": most}
        connection.execute(vector_scan.LOOK_AROUND)
        return [
            in_bytes(connection, vector_scan.of_nearest(asked.clauses, condition, _dimensions(asked)), values)
            for condition in dict.fromkeys((asked.clauses.near, asked.clauses.allowed))
        ]

    def _note_left(self, asked: Asked, size: int) -> None:
        self._left[_kind_of(asked)] = size
        if len(self._left) > REMEMBERED_FILTERS:
            self._left.popitem(last=False)

    @lent
    def _by_measure(self, connection: Connection, asked: Asked) -> Scan:
        answer = in_bytes(connection, vector_scan.of_all(asked.clauses), _values(asked))
        return vector_scan.read(answer.fetchone())

    def _quoting(self, asked: Asked, matches: WordMatches) -> frozenset[int]:
        """Those that hold every phrase."""
        wide = asked.query.filters.beyond_reach()
        found: list[frozenset[int]] = []
        for phrase in asked.query.phrases:
            holding = matches.holding_all([asked.terms.index(term) for term in phrase])
            found.append(self.holding_phrase(asked.scope, holding, phrase, filters=wide))
        return frozenset[int]().union(*found[:1]).intersection(*found)

    def _around(
        self, asked: Asked, numbers: Numbers, matches: WordMatches, scan: Scan | None
    ) -> tuple[Flags, NDArray[np.float64]]:
        """Which of the terms each holds, and its cosine: also of what only the other of the two brought in."""
        cosines = np.full(len(numbers), np.nan) if scan is None else scan.of(numbers)
        unread = numbers[~np.isin(numbers, matches.numbers)] if asked.query.terms else numbers[:0]
        unmeasured = numbers[np.isnan(cosines)] if scan is not None and not scan.is_whole else numbers[:0]
        found: WordMatches | None = None
        measured: Mapping[int, float] = {}
        if len(unread) or len(unmeasured):
            found, measured = self._fetch_around(asked, unread, unmeasured)
        held = np.zeros((len(numbers), len(asked.query.terms)), np.bool_)
        for read in (matches, *(() if found is None else (found,))):
            wanted = np.isin(read.numbers, numbers)
            held[np.searchsorted(numbers, read.numbers[wanted])] = read.counts[wanted][:, : held.shape[1]] > 0
        if measured:
            cosines[np.searchsorted(numbers, list(measured))] = list(measured.values())
        return held, cosines

    @lent
    def _fetch_around(
        self, connection: Connection, asked: Asked, unread: Numbers, unmeasured: Numbers
    ) -> tuple[WordMatches | None, Mapping[int, float]]:
        terms = self._words.held(connection, unread) if len(unread) else None
        measured = _ask_similarities(connection, _values(asked), unmeasured) if len(unmeasured) else None
        found = None if terms is None else self._words.read(asked, terms)
        return found, {} if measured is None else dict(measured.fetchall())

    @lent
    def _neighbours(
        self, connection: Connection, asked: Asked, only: Numbers | None, numbers: Sequence[int]
    ) -> Mapping[int, Sequence[int]]:
        sql, values = neighbours.of(asked.clauses, numbers, only=only)
        return neighbours.by_number(connection.execute(sql, values))


def _ask_similarities(connection: Connection, values: Mapping[str, Any], numbers: Iterable[int]) -> Cursor:
    return connection.execute(_SIMILARITIES, {**values, "numbers": as_array(numbers)})


def _with_nearest(asked: Asked, sample: Scan, nearest: Sequence[Cursor]) -> Scan:
    """Of size 0 where the index found less than is wanted: what it has passed over may be there all the same."""
    found = [vector_scan.read(one.fetchone()) for one in nearest]
    is_short = any(len(one.numbers) < asked.query.limit for one in found)
    return vector_scan.joined([sample, *found], size=0 if is_short else sample.pool.size)


def _nothing() -> None:
    """Without a vector there is nothing to scan."""


def _kind_of(asked: Asked) -> tuple[ReadScope, Filters]:
    """The same for questions that are asked at different moments."""
    return asked.scope, replace(asked.query.filters, alive_at=None, expired_at=None)


def _values(asked: Asked) -> dict[str, Any]:
    """Of statements about meaning."""
    vector = asked.query.vector
    text = "" if vector is None else vector_scan.text_of(vector)
    return {**asked.clauses.values, "vector": text, "model": asked.query.model}


def _dimensions(asked: Asked) -> int:
    return 0 if asked.query.vector is None else len(asked.query.vector)


def _sets(asked: Asked, matches: WordMatches, only: Numbers | None) -> list[Flags]:
    return [flags if only is None else flags & np.isin(matches.numbers, only) for flags in asked.sets(matches)]


def _nearest(asked: Asked, scan: Scan | None, only: Numbers | None) -> dict[int, float]:
    found: dict[int, float] = {}
    if scan is not None:
        for reach in (True, False) if asked.clauses.has_reach else (False,):
            found |= scan.nearest(reach=reach, only=only, limit=asked.query.limit)
    return found


def _in_reach(matches: WordMatches, scan: Scan | None) -> Numbers:
    near = matches.numbers[matches.near]
    return near if scan is None else np.concatenate((near, scan.numbers[scan.near]))
