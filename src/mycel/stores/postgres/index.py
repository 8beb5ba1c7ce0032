"""Searching in the database: words by their numbers, meaning by distance, and nothing that the reader may not see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Candidates, IndexQuery, WordStatistics
from mycel.domain.embedding import IndexRow
from mycel.domain.ids import TeamName
from mycel.domain.neighbourhood import Neighbourhood
from mycel.domain.query import Filters
from mycel.domain.recall import Pool
from mycel.retrieval.lexical import holds_phrase, rarities_of
from mycel.retrieval.terms import HEAD
from mycel.stores.postgres.team_terms import numbers_of
from mycel.stores.sql.clauses import matching, visible
from mycel.stores.sql.connection import Connection, Cursor
from mycel.stores.sql.index import SqlIndex
from mycel.stores.sql.part import Session
from mycel.stores.sql.part import query as lent
from mycel.stores.sql.rows import micros

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# Quoted words must be there, so every memory that has them counts; more than these are not looked through.
PHRASE_ROWS = 2_000
# Of what meaning could find, so many tell how its cosines are spread.
SAMPLE = 256

_REVISION = """
    SELECT (SELECT writes FROM heads), (SELECT readings FROM heads),
      (SELECT min(expires_at) FROM memories WHERE expires_at > :now)"""
_FACETS = ", ".join(f"m.{name}" for name in IndexRow._fields)


class _Asked(NamedTuple):
    """A question in SQL: what the reader sees, what the filters let through, and that without their reach."""

    seen: str
    near: str
    wide: str
    values: dict[str, Any]


class _Match(NamedTuple):
    """A memory that holds some of the terms, and how often each."""

    number: int
    tokens: int
    counts: Sequence[int]
    is_alive: bool
    is_near: bool
    is_allowed: bool


class _Near(NamedTuple):
    number: int
    cosine: float
    is_near: bool


class PostgresIndex(SqlIndex):
    """See `contracts.search_store.IndexReads`."""

    def __init__(self, session: Session, team: TeamName) -> None:
        super().__init__(session)
        self._team = team

    def candidates(self, scope: ReadScope, query: IndexQuery) -> Candidates:
        import numpy as np

        phrases = [term for phrase in query.phrases for term in phrase]
        terms = list(dict.fromkeys((*query.terms, *phrases)))
        asked = _asked(scope, query.filters)
        matches, extent, nearest, pool = self._search(asked, query, numbers_of(terms, self._team))
        statistics = query.statistics or _statistics(query.terms, matches, extent)
        quoted = self._quoting(scope, query, terms, matches) or None
        if quoted is not None:
            matches = [match for match in matches if match.number in quoted]
            nearest = [near for near in nearest if near.number in quoted]
        words = _by_words(query, statistics, matches, terms)
        cosines = {near.number: near.cosine for near in nearest}
        numbers = sorted({*words, *cosines})
        unmeasured = [number for number in words if number not in cosines]
        measured, facets = self._around(asked, query, numbers, unmeasured)
        cosines |= measured
        counts = {match.number: match.counts[: len(query.terms)] for match in matches}
        nothing = [0] * len(query.terms)
        held = np.array([counts.get(number, nothing) for number in numbers], np.uint8)
        near = {row.number for row in (*matches, *nearest) if row.is_near}
        return Candidates(
            numbers=np.array(numbers, np.int64),
            bm25=np.array([words.get(number, 0.0) for number in numbers], np.float64),
            cosines=np.array([cosines.get(number, nan) for number in numbers], np.float64),
            held=held.reshape(len(numbers), len(query.terms)) > 0,
            far=np.array([number not in near for number in numbers], np.bool_),
            neighbours=_neighbours(numbers, facets, quoted),
            statistics=statistics,
            pool=Pool(extent[0]) if pool is None else pool,
            quoted=quoted,
        )

    @lent
    def revision(self, connection: Connection, now: datetime) -> tuple[int | None, ...]:
        return connection.execute(_REVISION, {"now": micros(now)}).fetchone()

    def word_statistics(self, scope: ReadScope, terms: Iterable[str]) -> WordStatistics:
        wanted = tuple(dict.fromkeys(terms))
        asked = _asked(scope, Filters(statuses=()))
        matches, extent, *_ = self._search(asked, IndexQuery(Filters(), 0), numbers_of(wanted, self._team))
        return _statistics(wanted, matches, extent)

    @lent
    def similarities(
        self, connection: Connection, scope: ReadScope, vector: Vector, numbers: Sequence[int], *, model: str
    ) -> Mapping[int, float]:
        return dict(_similarities(connection, vector, numbers, model).fetchall())

    @lent
    def has_other_authors(self, connection: Connection, author: str) -> bool:
        sql = "SELECT EXISTS (SELECT 1 FROM memories WHERE agent_id <> ?)"
        return connection.execute(sql, (author,)).fetchone()[0]

    @lent
    def _search(
        self, connection: Connection, asked: _Asked, query: IndexQuery, terms: Sequence[int]
    ) -> tuple[list[_Match], tuple[int, float], list[_Near], Pool | None]:
        """All statements are sent before the first answer is looked at."""
        matches = connection.execute(
            f"""
            SELECT w.number, w.tokens, w.counts, m.deleted_at IS NULL, {asked.near}, {asked.wide}
            FROM memories_with(:terms) w JOIN memories m ON m.number = w.number WHERE {asked.seen}""",
            {**asked.values, "terms": terms},
        )
        extent = connection.execute(
            f"""
            SELECT count(*), coalesce(avg(greatest(t.tokens, 1)), 1)::double precision
            FROM memories m JOIN memory_terms t ON t.number = m.number
            WHERE {asked.seen} AND m.deleted_at IS NULL""",
            asked.values,
        )
        nearest: list[Cursor] = []
        sample: Cursor | None = None
        if query.vector is not None:
            bound = {**asked.values, **_bound_vector(query), "limit": query.limit}
            allowed = dict.fromkeys((asked.near, asked.wide))
            nearest = [connection.execute(_nearest(asked, condition), bound) for condition in allowed]
            sample = connection.execute(_sample(asked), bound)
        found = {near.number: near for cursor in nearest for near in (_Near(*row) for row in cursor)}
        rows = [_Match(*row) for row in matches]
        return rows, extent.fetchone(), list(found.values()), None if sample is None else _pool(sample.fetchall())

    @lent
    def _around(
        self,
        connection: Connection,
        asked: _Asked,
        query: IndexQuery,
        numbers: Sequence[int],
        unmeasured: Sequence[int],
    ) -> tuple[dict[int, float], list[tuple[bool, IndexRow]]]:
        """The cosines of what only words brought in, and what stands around the numbers; whether within the reach."""
        measured: Cursor | None = None
        if query.vector is not None and unmeasured:
            measured = _similarities(connection, query.vector, unmeasured, query.model)
        sql = f"""
            SELECT DISTINCT {asked.near}, {_FACETS} FROM unnest(:numbers::bigint[]) AS c (number)
            JOIN memories m ON m.number BETWEEN c.number - :window AND c.number + :window
            WHERE {asked.seen} AND ({asked.near} OR m.number = c.number)"""
        values = {**asked.values, "numbers": list(numbers), "window": Neighbourhood().window}
        rows = [(is_near, IndexRow(*row)) for is_near, *row in connection.execute(sql, values)]
        return {} if measured is None else dict(measured.fetchall()), rows

    def _quoting(
        self, scope: ReadScope, query: IndexQuery, terms: Sequence[str], matches: Sequence[_Match]
    ) -> frozenset[int]:
        """Those that hold every phrase."""
        wide = replace(query.filters, reach_project=None, reach_repo=None)
        found: list[frozenset[int]] = []
        for phrase in query.phrases:
            places = [terms.index(term) for term in phrase]
            holding = [one.number for one in matches if one.is_allowed and all(one.counts[place] for place in places)]
            memories = self.load(scope, sorted(holding, reverse=True)[:PHRASE_ROWS], filters=wide)
            found.append(frozenset(number for number, memory in memories.items() if holds_phrase(memory, phrase)))
        return frozenset[int]().union(*found[:1]).intersection(*found)


def _asked(scope: ReadScope, filters: Filters) -> _Asked:
    seen, values = visible(scope)
    near, filter_values = matching(filters)
    wide, _ = matching(replace(filters, reach_project=None, reach_repo=None))
    return _Asked(seen, near, wide, {**values, **filter_values})


def _statistics(terms: Sequence[str], matches: Sequence[_Match], extent: tuple[int, float]) -> WordStatistics:
    alive = [match.counts for match in matches if match.is_alive]
    frequencies = {term: sum(counts[place] > 0 for counts in alive) for place, term in enumerate(dict.fromkeys(terms))}
    return WordStatistics(frequencies, *extent)


def _by_words(
    query: IndexQuery, statistics: WordStatistics, matches: Sequence[_Match], terms: Sequence[str]
) -> dict[int, float]:
    """By the code that scores them on SQLite, over nothing but what matches."""
    import numpy as np

    from mycel.index.postings import Postings

    rarities = rarities_of(query.terms, frequencies=statistics.frequencies, documents=statistics.documents)
    if not rarities or not matches:
        return {}
    ordered = sorted(matches)
    places = [terms.index(term) for term in rarities]
    postings = Postings()
    postings.replace((row, _packed(match, places)) for row, match in enumerate(ordered))
    numbers = np.array([match.number for match in ordered], np.int64)
    found: dict[int, float] = {}
    for flags in ([match.is_near for match in ordered], [match.is_allowed for match in ordered]):
        rows, scores = postings.search(
            np.arange(len(places), dtype=np.uint64),
            np.fromiter(rarities.values(), np.float32, len(rarities)),
            allowed=np.array(flags, np.bool_),
            usual_length=statistics.usual_length,
            limit=query.limit,
        )
        found |= dict(zip(numbers[rows].tolist(), scores.tolist(), strict=True))
    return found


def _packed(match: _Match, places: Sequence[int]) -> bytes:
    """As `retrieval.terms` packs them, with the place of a term as its number."""
    held = [(term, count) for term, place in enumerate(places) if (count := match.counts[place])]
    numbers = b"".join(term.to_bytes(8, "little") for term, _ in held)
    return HEAD.pack(match.tokens) + numbers + bytes(count for _, count in held)


def _bound_vector(query: IndexQuery) -> dict[str, Any]:
    return {} if query.vector is None else {"vector": _text_of(query.vector), "model": query.model}


def _text_of(vector: Vector) -> str:
    return f"[{','.join(map(str, vector.tolist()))}]"


# The best passage of a memory speaks for it.
_COSINE = "1 - min(e.direction <=> :vector::halfvec)"


def _nearest(asked: _Asked, condition: str) -> str:
    return f"""
        SELECT m.number, {_COSINE}, bool_and({asked.near})
        FROM memories m JOIN embeddings e ON e.number = m.number AND e.model = :model
        WHERE {asked.seen} AND {condition} GROUP BY m.number ORDER BY 2 DESC, 1 DESC LIMIT :limit"""


def _sample(asked: _Asked) -> str:
    """Every so many of those that may be found, in the order of their numbers."""
    return f"""
        SELECT s.size, (SELECT {_COSINE} FROM embeddings e WHERE e.number = s.number AND e.model = :model)
        FROM (
          SELECT m.number, row_number() OVER (ORDER BY m.number) - 1 AS place, count(*) OVER () AS size
          FROM memories m WHERE {asked.seen} AND {asked.wide}) s
        WHERE s.place % ((s.size + {SAMPLE - 1}) / {SAMPLE}) = 0"""


def _pool(sample: Sequence[tuple[int, float | None]]) -> Pool:
    import numpy as np

    cosines = np.array([cosine for _, cosine in sample if cosine is not None])
    size = sample[0][0] if sample else 0
    if not len(cosines):
        return Pool(size)
    return Pool(size, len(cosines), float(cosines.mean()), float(cosines.std()))


def _similarities(connection: Connection, vector: Vector, numbers: Sequence[int], model: str) -> Cursor:
    sql = f"""
        SELECT e.number, {_COSINE} FROM embeddings e
        WHERE e.number = ANY(:numbers::bigint[]) AND e.model = :model GROUP BY e.number"""
    return connection.execute(sql, {"vector": _text_of(vector), "numbers": list(numbers), "model": model})


def _neighbours(
    numbers: Sequence[int], around: Sequence[tuple[bool, IndexRow]], quoted: frozenset[int] | None
) -> Sequence[tuple[int, ...]]:
    """By the code that finds them on SQLite, over nothing but what stands near a candidate."""
    import numpy as np

    from mycel.index.facets import Facets

    if not around:
        return [()] * len(numbers)
    # Numbers begin anew from the lowest, so that the columns are no longer than the stretch they are about.
    listed = [row.number for _, row in around]
    before = min(listed) - 1
    facets = Facets()
    facets.extend(row._replace(number=row.number - before) for _, row in around)
    allowed = np.zeros(max(listed) - before + 1, np.bool_)
    picked = [row.number - before for is_near, row in around if is_near and (quoted is None or row.number in quoted)]
    allowed[picked] = True
    found = facets.neighbours(np.array(numbers, np.int64) - before, allowed, Neighbourhood())
    return [tuple(number + before for number in beside) for beside in found]
