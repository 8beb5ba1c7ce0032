"""Finding memories by words: rare terms bring them in, common ones only score them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import IndexQuery, WordStatistics
from mycel.domain.ids import TeamName
from mycel.stores.postgres import term_sample, word_matches
from mycel.stores.postgres.connection import as_array, in_bytes
from mycel.stores.postgres.search_clauses import SearchClauses, search_clauses
from mycel.stores.postgres.team_terms import numbers_of
from mycel.stores.postgres.term_sample import FINDING_ROWS, TermSample, finders_among
from mycel.stores.postgres.word_matches import Flags, Numbers, WordMatches
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection, Cursor
from mycel.stores.sql.part import Part, Session, query

# Of so many readers of a large team it is remembered how common the terms are to them: some 20 KB each.
REMEMBERED_READERS = 64
# More rows than this are not fetched before it is known how common the terms are.
MOST_UNCOUNTED = 2_000
# What common words find by themselves comes after what rare ones have found: this share of a page is enough of that.
FILLED = 1 / 6
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

    def is_filled(self, matches: WordMatches, *, share: float) -> bool:
        return all(np.count_nonzero(flags) >= share * self.query.limit for flags in self.sets(matches))


class Extent(NamedTuple):
    """The last change of the team; how many memories a reader sees that are not deleted, and their usual length."""

    sequence: int
    documents: int
    usual_length: float


class Finders(NamedTuple):
    """Terms that bring memories in: those that hold any of them, or where all are common, those that hold all."""

    terms: list[str]
    together: bool = False


class WordSearch(Part):
    """By the terms of one team. Where they are many, it remembers how common they were."""

    def __init__(self, session: Session, team: TeamName) -> None:
        super().__init__(session)
        self._team = team
        self._samples: OrderedDict[ReadScope, TermSample] = OrderedDict()

    def size(self, scope: ReadScope) -> int:
        """How many memories the reader of a large team saw when a sample was last taken; otherwise none."""
        sample = self._samples.get(scope)
        return 0 if sample is None else sample.documents

    def finders(self, asked: Asked) -> Finders:
        """The terms to look up at first, by what is known of them."""
        return self._finders(asked, self._estimated(asked.terms, self._samples.get(asked.scope)))

    def ask(self, connection: Connection, asked: Asked, finders: Finders) -> Cursor:
        return self._ask(connection, asked, finders, most=_ALL if finders.together else MOST_UNCOUNTED)

    def read(self, asked: Asked, answer: Cursor) -> WordMatches:
        return word_matches.read(answer.fetchone(), numbers_of(asked.terms, self._team))

    def settle(
        self, asked: Asked, extent: Extent, finders: Finders, matches: WordMatches, *, left: Numbers | None
    ) -> tuple[WordStatistics, WordMatches]:
        """How common the terms are, and enough of what they find to fill the page.

        `left` are all that the filters leave, where they are known and few: then these are looked at instead.
        """
        counts: dict[str, int] = {}
        is_cut = not finders.together and matches.looked_at >= MOST_UNCOUNTED
        if is_cut or finders.together or len(finders.terms) < len(asked.terms):
            counts = self._estimated(asked.terms, self._sample(asked.scope, extent))
        if is_cut:
            finders = self._finders(asked, counts)
            matches = self._fetch_some(asked, finders)
        if not (finders.together and asked.is_filled(matches, share=1)):
            counts, matches = self._fill(asked, finders, matches, counts, left)
        frequencies = {term: counts[term] for term in asked.query.terms}
        return asked.query.statistics or WordStatistics(frequencies, extent.documents, extent.usual_length), matches

    def _fill(
        self,
        asked: Asked,
        finders: Finders,
        matches: WordMatches,
        counts: dict[str, int],
        left: Numbers | None,
    ) -> tuple[dict[str, int], WordMatches]:
        """Takes in more and more of the common terms, until the page is full enough."""
        terms = finders.terms
        if finders.together and left is not None:
            return counts, self._fetch_listed(asked, left)
        if finders.together:
            terms = finders_among(asked.terms, (), counts, rows=FINDING_ROWS)
            matches = self._fetch_some(asked, Finders(terms))
        found = matches.frequencies([asked.terms.index(term) for term in terms])
        counts |= zip(terms, found, strict=True)
        if left is not None and len(terms) < len(asked.terms):
            return counts, self._fetch_listed(asked, left)
        for rows, fetch in ((ROWS_PER_WANTED * asked.query.limit, self._fetch_some), (_ALL, self._fetch_allowed)):
            rest = [term for term in asked.terms if term not in terms]
            if not rest or asked.is_filled(matches, share=FILLED):
                break
            terms = [*terms, *finders_among(rest, (), counts, rows=rows)]
            matches = fetch(asked, Finders(terms))
        return counts, matches

    def statistics(self, scope: ReadScope, terms: Iterable[str]) -> WordStatistics:
        wanted = list(dict.fromkeys(terms))
        extent = self._extent(scope)
        counts = dict.fromkeys(wanted, 0)
        if wanted and extent.documents > MOST_UNCOUNTED:
            counts = self._estimated(wanted, self._sample(scope, extent))
        rare = [term for term in wanted if counts[term] <= FINDING_ROWS]
        if rare:
            counts |= self._counted(scope, rare)
        return WordStatistics(counts, extent.documents, extent.usual_length)

    def held(self, connection: Connection, numbers: Iterable[int]) -> Cursor:
        """Asks for the terms of memories that the scope was given by another method."""
        return in_bytes(connection, word_matches.HELD, {"numbers": as_array(numbers)})

    def _finders(self, asked: Asked, counts: Mapping[str, int]) -> Finders:
        terms, phrases = asked.terms, asked.query.phrases
        if len(terms) > 1 and not phrases and min(counts.values()) > FINDING_ROWS:
            return Finders(list(terms), together=True)
        return Finders(finders_among(terms, phrases, counts, rows=FINDING_ROWS))

    def _estimated(self, terms: Sequence[str], sample: TermSample | None) -> dict[str, int]:
        counts = [0] * len(terms) if sample is None else sample.estimates(numbers_of(terms, self._team))
        return dict(zip(terms, counts, strict=True))

    def _sample(self, scope: ReadScope, extent: Extent) -> TermSample:
        """The one that is remembered, or where that has grown too old a new one."""
        sample = self._samples.get(scope)
        if sample is None or not sample.serves(extent.sequence):
            sample = self._samples[scope] = self._take_sample(scope, extent)
            if len(self._samples) > REMEMBERED_READERS:
                self._samples.popitem(last=False)
        return sample

    @query
    def _take_sample(self, connection: Connection, scope: ReadScope, extent: Extent) -> TermSample:
        row = in_bytes(connection, *term_sample.of_sample(scope, extent.documents)).fetchone()
        return term_sample.read(row, documents=extent.documents, sequence=extent.sequence)

    @query
    def _extent(self, connection: Connection, scope: ReadScope) -> Extent:
        return Extent(*ask_extent(connection, scope).fetchone())

    @query
    def _counted(self, connection: Connection, scope: ReadScope, terms: Sequence[str]) -> dict[str, int]:
        rows = _count(connection, scope, numbers_of(terms, self._team)).fetchall()
        counts: dict[int, int] = dict(rows)
        return {term: counts.get(place, 0) for place, term in enumerate(terms, start=1)}

    @query
    def _fetch_some(self, connection: Connection, asked: Asked, finders: Finders) -> WordMatches:
        return self.read(asked, self._ask(connection, asked, finders, most=_ALL))

    def _fetch_listed(self, asked: Asked, numbers: Numbers) -> WordMatches:
        if not len(numbers):
            return word_matches.read(word_matches.NOTHING, numbers_of(asked.terms, self._team))
        return self._fetch_numbers(asked, numbers)

    @query
    def _fetch_numbers(self, connection: Connection, asked: Asked, numbers: Numbers) -> WordMatches:
        values = {**asked.clauses.values, "numbers": as_array(numbers.tolist())}
        return self.read(asked, in_bytes(connection, word_matches.of_listed(asked.clauses), values))

    @query
    def _fetch_allowed(self, connection: Connection, asked: Asked, finders: Finders) -> WordMatches:
        values = {**asked.clauses.values, "finders": as_array(numbers_of(finders.terms, self._team))}
        return self.read(asked, in_bytes(connection, word_matches.of_allowed(asked.clauses), values))

    def _ask(self, connection: Connection, asked: Asked, finders: Finders, *, most: int) -> Cursor:
        values = {**asked.clauses.values, "finders": as_array(numbers_of(finders.terms, self._team))}
        return in_bytes(connection, word_matches.of_some(asked.clauses, together=finders.together, most=most), values)


def ask_extent(connection: Connection, scope: ReadScope) -> Cursor:
    seen, values = visible(scope, "a")
    sql = f"""
        SELECT (SELECT coalesce(max(sequence), 0) FROM heads WHERE team_id = current_team()),
          coalesce(sum(a.documents), 0)::bigint,
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
    return connection.execute(sql, {**values, "terms": as_array(terms)})
