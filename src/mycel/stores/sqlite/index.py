"""Searching, and what ranking needs to know of the memories that a search may return."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Candidates, IndexQuery, Standing
from mycel.domain.query import Filters
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.index import OUTDATED, SqlIndex
from mycel.stores.sql.part import query
from mycel.stores.sql.rows import micros
from mycel.stores.sqlite.index_keeper import IndexKeeper, State
from mycel.stores.sqlite.session import ReadSession

# Of so many phrases it is remembered which memories hold them.
REMEMBERED_PHRASES = 8
# The last entry with its moment: where files are exchanged for older ones, its number alone may come a second time.
_REVISION = f"""
    SELECT (SELECT coalesce(max(sequence), 0) FROM changes),
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'embeddings'), 0),
      coalesce((SELECT min(number) FROM memory_terms WHERE {OUTDATED}), 0),
      (SELECT committed_at FROM changes ORDER BY sequence DESC LIMIT 1), (SELECT signals FROM search_revision),
      (SELECT min(expires_at) FROM memories WHERE expires_at > ?)"""


class _KnownPhrase(NamedTuple):
    """At one state of the store, whose texts were read, and which of them hold the phrase."""

    state: State
    read: frozenset[int]
    holding: frozenset[int]


class SqliteIndex(SqlIndex):
    """See `contracts.search_store.IndexReads`."""

    # A join with the list takes three times as long; its rows have no order here either.
    BY_NUMBER = "memories m NOT INDEXED WHERE m.number IN (SELECT value FROM json_each(:numbers))"

    def __init__(self, session: ReadSession, keeper: IndexKeeper) -> None:
        super().__init__(session)
        self._keeper = keeper
        self._phrases: dict[tuple[str, ...], _KnownPhrase] = {}
        self.word_statistics = keeper.word_statistics
        self.similarities = keeper.similarities
        self.has_other_authors = keeper.has_other_authors

    def candidates(self, scope: ReadScope, query: IndexQuery) -> Candidates:
        return self._keeper.candidates(scope, query, quoted=self._quoting(scope, query) or None)

    def standing(self, scope: ReadScope, now: datetime) -> Standing:
        sequence, embedding_id, outdated_from, *others = self._revision(now)
        documents = self._keeper.documents(scope, (sequence, embedding_id, outdated_from))
        revision = (sequence, embedding_id, outdated_from, *others)
        return Standing(revision, sequence, documents, is_outdated=outdated_from > 0)

    @query
    def _revision(self, connection: Connection, now: datetime) -> tuple[int, int, int, *tuple[int | None, ...]]:
        return connection.execute(_REVISION, (micros(now),)).fetchone()

    def _quoting(self, scope: ReadScope, query: IndexQuery) -> frozenset[int]:
        """Those that hold every phrase."""
        wide = query.filters.beyond_reach()
        found = [self._with_phrase(scope, phrase, wide) for phrase in query.phrases]
        return frozenset[int]().union(*found[:1]).intersection(*found)

    def _with_phrase(self, scope: ReadScope, phrase: Sequence[str], filters: Filters) -> frozenset[int]:
        """Of those that hold all of its terms, those in whose texts they follow each other.

        What was found of a phrase is remembered for as long as nothing is written: asked again, no text is read.
        """
        holding, state = self._keeper.with_all(scope, phrase, filters=filters)
        known = self._phrases.get(tuple(phrase))
        if known is None or known.state != state:
            known = _KnownPhrase(state, frozenset(), frozenset())
        unread = [number for number in holding if number not in known.read]
        everything = Filters(statuses=())
        found = self.holding_phrase(scope, unread, phrase, filters=everything) if unread else frozenset[int]()
        known = _KnownPhrase(state, known.read.union(unread), known.holding | found)
        if len(self._phrases) >= REMEMBERED_PHRASES:
            self._phrases = {}
        self._phrases[tuple(phrase)] = known
        return known.holding.intersection(holding)
