"""Searching, and what ranking needs to know of the memories that a search may return."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Candidates, IndexQuery, Standing
from mycel.domain.query import Filters
from mycel.retrieval.lexical import holds_phrase
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.index import SqlIndex
from mycel.stores.sql.part import query
from mycel.stores.sql.rows import micros
from mycel.stores.sqlite.index_keeper import IndexKeeper
from mycel.stores.sqlite.session import ReadSession

# Quoted words must be there, so every memory that has them counts; more than these are not looked through.
PHRASE_ROWS = 2_000
# The last entry with its moment: where files are exchanged for older ones, its number alone may come a second time.
_REVISION = """
    SELECT (SELECT coalesce(max(sequence), 0) FROM changes),
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'embeddings'), 0),
      (SELECT committed_at FROM changes ORDER BY sequence DESC LIMIT 1), (SELECT signals FROM search_revision),
      (SELECT min(expires_at) FROM memories WHERE expires_at > ?)"""


class SqliteIndex(SqlIndex):
    """See `contracts.search_store.IndexReads`."""

    # A join with the list takes three times as long; its rows have no order here either.
    BY_NUMBER = "memories m NOT INDEXED WHERE m.number IN (SELECT value FROM json_each(:numbers))"

    def __init__(self, session: ReadSession, keeper: IndexKeeper) -> None:
        super().__init__(session)
        self._keeper = keeper
        self.word_statistics = keeper.word_statistics
        self.similarities = keeper.similarities
        self.has_other_authors = keeper.has_other_authors

    def candidates(self, scope: ReadScope, query: IndexQuery) -> Candidates:
        return self._keeper.candidates(scope, query, quoted=self._quoting(scope, query) or None)

    def standing(self, scope: ReadScope, now: datetime) -> Standing:
        sequence, embedding_id, *others = self._revision(now)
        documents = self._keeper.documents(scope, (sequence, embedding_id))
        return Standing((sequence, embedding_id, *others), sequence, documents)

    @query
    def _revision(self, connection: Connection, now: datetime) -> tuple[int, int, *tuple[int | None, ...]]:
        return connection.execute(_REVISION, (micros(now),)).fetchone()

    def _quoting(self, scope: ReadScope, query: IndexQuery) -> frozenset[int]:
        """Those that hold every phrase."""
        wide = query.filters.beyond_reach()
        found = [self._with_phrase(scope, phrase, wide) for phrase in query.phrases]
        return frozenset[int]().union(*found[:1]).intersection(*found)

    def _with_phrase(self, scope: ReadScope, phrase: Sequence[str], filters: Filters) -> frozenset[int]:
        """Of those that hold all of its terms, those in whose texts they follow each other."""
        numbers = self._keeper.with_all(scope, phrase, filters=filters)[:PHRASE_ROWS]
        memories = self.load(scope, numbers, filters=filters)
        return frozenset(number for number, memory in memories.items() if holds_phrase(memory, phrase))
