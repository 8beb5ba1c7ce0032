"""The index of one team in memory, caught up from the store before each search."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Candidates, IndexQuery, WordStatistics
from mycel.domain.embedding import IndexRow
from mycel.domain.query import Filters
from mycel.stores.sql.index import OUTDATED
from mycel.stores.sqlite.connection import one_moment
from mycel.stores.sqlite.database import Database

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector
    from mycel.index.team_index import Cursor, TeamIndex

ResultT = TypeVar("ResultT")

# Below this, reading the rows from the store takes no longer than reading a file.
WORTH_A_FILE = 2_000
# What has changed since is read from the store in milliseconds; the file is written anew only for more.
WORTH_SAVING = 1_000
WORTH_SAVING_SHARE = 0.05
REMEMBERED_VECTORS = 8
# An index that was made anew and fails again has another fault; making it takes seconds for a large team.
RENEW_AGAIN_SECONDS = 60.0

_ROW = ", ".join(f"m.{name}" for name in IndexRow._fields)
_STATE = f"""
    SELECT ifnull((SELECT max(sequence) FROM changes), 0),
      ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'embeddings'), 0),
      ifnull((SELECT min(number) FROM memory_terms WHERE {OUTDATED}), 0)"""
_CHANGED = f"""
    SELECT DISTINCT {_ROW} FROM changes c CROSS JOIN memories m ON m.id = c.memory_id WHERE c.sequence > ?"""
_PURGED = """
    SELECT r.number FROM changes c JOIN receipts r ON r.memory_id = c.memory_id
    WHERE c.operation = 'purge' AND c.sequence > ? AND r.number IS NOT NULL"""
# The plus keeps SQLite from walking the whole index of numbers, which is in that order already.
_TERMS = """
    SELECT DISTINCT t.number, t.terms FROM changes c CROSS JOIN memories m ON m.id = c.memory_id
    CROSS JOIN memory_terms t ON t.number = m.number WHERE c.sequence > ?"""
# Those that were analysed again leave no entry in the log; they are gone through by number.
_RENEWED = "SELECT number, terms FROM memory_terms WHERE number >= ? AND (number < ? OR ? = 0)"
_ALL_TERMS = "SELECT number, terms FROM memory_terms ORDER BY number"
_VECTORS = "SELECT number, vector FROM embeddings WHERE id > ? AND model = ? ORDER BY +number, passage"
_LINKED = "SELECT m.number FROM memory_links l JOIN memories m ON m.id = l.from_id WHERE l.to_id IN (?, ?)"


# The last change, the last embedding, and the first memory whose terms are of an earlier analyser, 0 for none.
State = tuple[int, int, int]


class IndexKeeper:
    """The index is derived: whatever is wrong with it or its file, it is read anew from the store."""

    def __init__(self, database: Database[Any], *, file: Path) -> None:
        self._database = database
        self._file = file
        self._index: TeamIndex | None = None
        self._saved_at = (0, 0)
        self._catching_up = threading.Lock()
        self._renew_at = 0.0

    def candidates(self, scope: ReadScope, query: IndexQuery, *, quoted: frozenset[int] | None) -> Candidates:

        def ask() -> Candidates:
            index = self._caught_up() if query.vector is None else self._caught_up(query.model, len(query.vector))
            # Links are few, and kept in the store alone.
            return index.candidates(scope, query, linked=self._linked(query.filters), quoted=quoted)

        return self._asked(ask)

    def with_all(self, scope: ReadScope, terms: Iterable[str], *, filters: Filters) -> tuple[list[int], State]:
        """The memories that hold all of the terms, the newest first, and how the store stands by that."""
        wanted = list(terms)

        def ask() -> tuple[list[int], State]:
            index = self._caught_up()
            state = index.state
            return index.with_all(wanted, index.mask(scope, filters, linked=self._linked(filters))).tolist(), state

        return self._asked(ask)

    def word_statistics(self, scope: ReadScope, terms: Iterable[str]) -> WordStatistics:
        wanted = list(terms)
        return self._asked(lambda: self._caught_up().word_statistics(scope, wanted))

    def documents(self, scope: ReadScope, state: State) -> int:
        """How many the reader sees in a store that stands so."""
        return self._asked(lambda: self._caught_up(state=state).word_statistics(scope, ()).documents)

    def has_other_authors(self, author: str) -> bool:
        return self._asked(lambda: self._caught_up().has_other_authors(author))

    def similarities(
        self, scope: ReadScope, vector: Vector, numbers: Sequence[int], *, model: str
    ) -> Mapping[int, float]:
        def ask() -> Mapping[int, float]:
            index = self._caught_up(model, len(vector))
            cosines = index.similarities(vector, numbers).tolist()
            return {number: cosine for number, cosine in zip(numbers, cosines, strict=True) if cosine == cosine}

        return self._asked(ask)

    def _asked(self, ask: Callable[[], ResultT]) -> ResultT:
        """A value that nobody can read may have come into the index: it is made anew, once, without such rows."""
        try:
            return ask()
        except Exception as error:
            damage = self._database.row_damage
            if not damage.may_explain(error) or time.monotonic() < self._renew_at:
                raise
            damage.find()
            self._renew_at = time.monotonic() + RENEW_AGAIN_SECONDS
            with self._catching_up:
                self._index = None
                self.forget_file()
        return ask()

    def save(self, model: str | None = None, dimensions: int = 0) -> None:
        """Keeps the index in a file, if enough has changed since; with a model, it is read first if it is not."""
        index = self._index if model is None else self._caught_up(model, dimensions)
        if index is None or index.sequence < WORTH_A_FILE:
            return
        with self._catching_up:
            changed = index.sequence + index.embedding_id - sum(self._saved_at)
            if changed < max(WORTH_SAVING, WORTH_SAVING_SHARE * index.sequence):
                return
            self._catch_up(index)
            from mycel.index import index_file

            self._forget_unfinished()
            try:
                index_file.save(index, self._file)
            except OSError:
                # On a full disk, say. Without the file the next opening takes longer, and that is all.
                return
            self._saved_at = (index.sequence, index.embedding_id)
        self._forget_purged(index.sequence)

    def _forget_purged(self, sequence: int) -> None:
        """Of a file that knows the log so far: whoever wrote it may not have known, or was killed before it looked."""
        if self._database.read(_purged_since, sequence):
            self.forget_file()

    def forget_file(self) -> None:
        """What was purged may still be in it."""
        self._saved_at = (0, 0)
        self._forget_unfinished()
        self._file.unlink(missing_ok=True)

    def _forget_unfinished(self) -> None:
        """What a process that was killed left of a file. Whoever is writing one just now writes it again later."""
        for unfinished in self._file.parent.glob(f".{self._file.name}.*"):
            unfinished.unlink(missing_ok=True)

    def _caught_up(self, model: str | None = None, dimensions: int = 0, *, state: State | None = None) -> TeamIndex:
        """With the vectors of this model, or of whichever was last used. Whoever knows how the store stands says so."""
        index = self._index
        if (
            index is None
            or (model is not None and (model, dimensions) != (index.model, index.dimensions))
            or (state or self._database.read(_state)) != index.state
        ):
            with self._catching_up:
                index = self._index or self._open()
                if model is not None and (model, dimensions) != (index.model, index.dimensions):
                    index.use(model, dimensions)
                self._catch_up(index)
                self._index = index
        return index

    def _open(self) -> TeamIndex:
        from mycel.index import index_file
        from mycel.index.team_index import TeamIndex

        stored = index_file.load(self._file)
        if stored is not None and self._database.read(_same_history, stored):
            self._saved_at = (stored.sequence, stored.embedding_id)
            self._forget_purged(stored.sequence)
            return stored
        return TeamIndex()

    def _catch_up(self, index: TeamIndex) -> None:
        news = self._database.read(_read_news, index.state, index.model)
        if news is not None:
            index.apply(news.rows, terms=news.terms, gone=news.gone, embedded=news.embedded, cursor=news.cursor)

    def _linked(self, filters: Filters) -> list[int]:
        if not filters.is_within_reach:
            return []
        return self._database.read(_read_linked, filters)


@dataclass(frozen=True, slots=True)
class _News:
    rows: list[IndexRow]
    terms: list[tuple[int, bytes]]
    gone: list[int]
    embedded: list[tuple[int, list[bytes]]]
    cursor: Cursor


def _read_news(connection: apsw.Connection, known: State, model: str) -> _News | None:
    from mycel.index.team_index import Cursor

    with one_moment(connection):
        state = _state(connection)
        if state == known:
            return None
        sequence, embedding_id, outdated_from = known
        last_sequence, last_embedding, still_from = state
        # From the beginning, the memories themselves: most have more than one entry in the log.
        rows, terms = (
            (connection.execute(_CHANGED, (sequence,)), _TERMS)
            if sequence
            else (connection.execute(f"SELECT {_ROW} FROM memories m ORDER BY m.number"), _ALL_TERMS)
        )
        renewed = sequence and outdated_from and outdated_from != still_from
        vectors = connection.execute(_VECTORS, (embedding_id, model))
        return _News(
            rows=[IndexRow(*row) for row in rows],
            terms=[
                *connection.execute(terms, (sequence,) if sequence else ()),
                *(connection.execute(_RENEWED, (outdated_from, still_from, still_from)) if renewed else ()),
            ],
            gone=[number for (number,) in connection.execute(_PURGED, (sequence,))] if sequence else [],
            embedded=[
                (number, [vector for _, vector in group]) for number, group in groupby(vectors, key=lambda row: row[0])
            ],
            cursor=Cursor(
                last_sequence, last_embedding, _anchor(connection, last_sequence, last_embedding), still_from
            ),
        )


def _state(connection: apsw.Connection) -> State:
    return connection.execute(_STATE).fetchone()


def _same_history(connection: apsw.Connection, stored: TeamIndex) -> bool:
    """A store restored from a backup may have gone another way since, in its log or in its vectors.

    Vectors are replaced and purged, so some of those remembered may be gone; what is left must be the same.
    """
    _, last_embedding, _ = _state(connection)
    log, _, vectors = stored.anchor.partition(" | ")
    if last_embedding < stored.embedding_id or log != _log_entry(connection, stored.sequence):
        return False
    remembered = dict(part.split(":") for part in vectors.split())
    left = dict(_vector_hashes(connection, [int(id) for id in remembered]))
    return (not remembered or bool(left)) and all(remembered[id] == found for id, found in left.items())


def _anchor(connection: apsw.Connection, sequence: int, embedding_id: int) -> str:
    """What tells this history from another: the last entry of the log, and the last few vectors."""
    ids = range(max(1, embedding_id - REMEMBERED_VECTORS + 1), embedding_id + 1)
    vectors = " ".join(f"{id}:{found}" for id, found in _vector_hashes(connection, list(ids)))
    return f"{_log_entry(connection, sequence)} | {vectors}"


def _log_entry(connection: apsw.Connection, sequence: int) -> str:
    row = connection.execute(
        "SELECT memory_id || ' ' || committed_at FROM changes WHERE sequence = ?", (sequence,)
    ).fetchone()
    return row[0] if row else ""


def _vector_hashes(connection: apsw.Connection, ids: list[int]) -> list[tuple[str, str]]:
    sql = """
        SELECT CAST(e.id AS TEXT), hex(e.text_hash) FROM json_each(?) n CROSS JOIN embeddings e ON e.id = n.value"""
    return connection.execute(sql, (json.dumps(ids),)).fetchall()


def _purged_since(connection: apsw.Connection, sequence: int) -> bool:
    return connection.execute(f"{_PURGED} LIMIT 1", (sequence,)).fetchone() is not None


def _read_linked(connection: apsw.Connection, filters: Filters) -> list[int]:
    places = (f"project:{filters.reach_project}", f"repo:{filters.reach_repo}")
    return [number for (number,) in connection.execute(_LINKED, places)]
