"""Finding memories by words: rare terms bring them in, common ones only score them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import IndexQuery, WordStatistics
from mycel.domain.ids import TeamName
from mycel.stores.postgres import word_matches
from mycel.stores.postgres.connection import in_bytes
from mycel.stores.postgres.search_clauses import SearchClauses, search_clauses
from mycel.stores.postgres.team_terms import numbers_of
from mycel.stores.postgres.term_counts import FINDING_ROWS, TermCounts, finders_among
from mycel.stores.postgres.word_matches import Flags, WordMatches
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection, Cursor
from mycel.stores.sql.part import Part, Session, query

# More rows than this are not fetched before it is known how common the terms are.
MOST_UNCOUNTED = 5_000
# So many rows for each one wanted fill a page under most filters.
ROWS_PER_WANTED = 20
_ALL = 2**62


class Asked(NamedTuple):
    """A question with all its terms, those of phrases after the others."""

    scope: ReadScope
    query: IndexQuery
    clauses: SearchClauses
    terms: tuple[str, ...]

    @classmethod
    def of(cls, scope: ReadScope, query: IndexQuery) -> Asked:
        quoted = (term for phrase in query.phrases for term in phrase)
        return cls(scope, query, search_clauses(scope, query.filters), tuple(dict.fromkeys((*query.terms, *quoted))))

    def sets(self, matches: WordMatches) -> list[Flags]:
        """Where the caller works first, so that it is never crowded out; then everywhere."""
        return [matches.near, matches.allowed] if self.clauses.has_reach else [matches.allowed]

    def is_filled(self, matches: WordMatches) -> bool:
        return all(np.count_nonzero(flags) >= self.query.limit for flags in self.sets(matches))


class Extent(NamedTuple):
    """What a reader sees: the last change of the team, how many memories are not deleted, and their usual length."""

    sequence: int
    documents: int
    usual_length: float


class WordSearch(Part):
    """By the terms of one team. It remembers how common they were."""

    def __init__(self, session: Session, team: TeamName) -> None:
        super().__init__(session)
        self._team = team
        self._counts = TermCounts()

    def finders(self, asked: Asked) -> list[str]:
        """The terms to look up at first, by what is remembered of them."""
        given = asked.query.statistics
        counts = self._counts.hints(asked.scope, asked.terms) | ({} if given is None else dict(given.frequencies))
        return finders_among(asked.terms, asked.query.phrases, counts, rows=FINDING_ROWS)

    def ask(self, connection: Connection, asked: Asked, finders: Sequence[str]) -> Cursor:
        return self._with_any(connection, asked, finders, most=MOST_UNCOUNTED)

    def read(self, asked: Asked, answer: Cursor) -> WordMatches:
        return word_matches.read(answer.fetchone(), numbers_of(asked.terms, self._team))

    def settle(
        self, asked: Asked, extent: Extent, finders: Sequence[str], matches: WordMatches
    ) -> tuple[WordStatistics, WordMatches]:
        """How common the terms are, and enough of what they find to fill the page."""
        rest = [term for term in asked.terms if term not in finders]
        if matches.looked_at >= MOST_UNCOUNTED:
            counts = self._count(asked, asked.terms, extent.sequence)
            finders = finders_among(asked.terms, asked.query.phrases, counts, rows=FINDING_ROWS)
            matches = self._fetch_some(asked, finders)
        else:
            counts = self._count(asked, rest, extent.sequence)
        found = matches.frequencies([asked.terms.index(term) for term in finders])
        counts |= zip(finders, found, strict=True)
        self._counts.remember(asked.scope, counts, sequence=extent.sequence)
        for rows in (ROWS_PER_WANTED * asked.query.limit, _ALL):
            rest = [term for term in asked.terms if term not in finders and counts[term]]
            if not rest or asked.is_filled(matches):
                break
            finders = [*finders, *finders_among(rest, (), counts, rows=rows)]
            matches = self._fetch_allowed(asked, finders)
        frequencies = {term: counts[term] for term in asked.query.terms}
        return asked.query.statistics or WordStatistics(frequencies, extent.documents, extent.usual_length), matches

    @query
    def statistics(self, connection: Connection, scope: ReadScope, terms: Iterable[str]) -> WordStatistics:
        wanted = list(dict.fromkeys(terms))
        extent = ask_extent(connection, scope)
        counts = _count(connection, scope, numbers_of(wanted, self._team)) if wanted else None
        sequence, *figures = extent.fetchone()
        frequencies = dict.fromkeys(wanted, 0)
        if counts is not None:
            frequencies |= {wanted[place - 1]: count for place, count in counts}
        self._counts.remember(scope, frequencies, sequence=sequence)
        return WordStatistics(frequencies, *figures)

    def held(self, connection: Connection, numbers: Sequence[int]) -> Cursor:
        """Asks for the terms of memories that the scope was given by another method."""
        return in_bytes(connection, word_matches.HELD, {"numbers": numbers})

    def _count(self, asked: Asked, terms: Sequence[str], sequence: int) -> dict[str, int]:
        """As given with the question, as remembered where that is near enough, or counted now."""
        given = asked.query.statistics
        known = self._counts.fresh(asked.scope, terms, sequence=sequence)
        known |= {} if given is None else {term: given.frequencies[term] for term in terms if term in given.frequencies}
        unknown = [term for term in terms if term not in known]
        return known | (dict(self.statistics(asked.scope, unknown).frequencies) if unknown else {})

    @query
    def _fetch_some(self, connection: Connection, asked: Asked, finders: Sequence[str]) -> WordMatches:
        return self.read(asked, self._with_any(connection, asked, finders, most=_ALL))

    @query
    def _fetch_allowed(self, connection: Connection, asked: Asked, finders: Sequence[str]) -> WordMatches:
        values = {**asked.clauses.values, "finders": numbers_of(finders, self._team)}
        return self.read(asked, in_bytes(connection, word_matches.of_allowed(asked.clauses), values))

    def _with_any(self, connection: Connection, asked: Asked, finders: Sequence[str], *, most: int) -> Cursor:
        values = {**asked.clauses.values, "finders": numbers_of(finders, self._team), "most": most}
        return in_bytes(connection, word_matches.of_some(asked.clauses), values)


def ask_extent(connection: Connection, scope: ReadScope) -> Cursor:
    seen, values = visible(scope, "a")
    sql = f"""
        SELECT (SELECT coalesce(max(sequence), 0) FROM heads), coalesce(sum(a.documents), 0)::bigint,
          coalesce(sum(a.tokens)::double precision / nullif(sum(a.documents), 0)::double precision, 1)
        FROM audiences a WHERE {seen}"""
    return connection.execute(sql, values)


def _count(connection: Connection, scope: ReadScope, terms: Sequence[int]) -> Cursor:
    """In how many of the memories in sight each of them stands, by its place among them."""
    seen, values = visible(scope)
    sql = f"""
        SELECT w.place, count(*) FROM unnest(:terms::bigint[]) WITH ORDINALITY AS w (term, place)
        CROSS JOIN LATERAL (SELECT t.number FROM searched_terms t WHERE t.terms @> ARRAY[w.term]) t
        JOIN passages m ON m.number = t.number AND m.passage = 0
        WHERE {seen} AND m.deleted_at IS NULL GROUP BY w.place"""
    return connection.execute(sql, {**values, "terms": terms})
