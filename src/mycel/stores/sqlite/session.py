"""How the parts of a store reach SQLite: on a connection lent for reading, or inside a transaction."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import apsw

from mycel.contracts.clock import Clock
from mycel.domain.ids import MemoryId
from mycel.domain.packed_terms import PackedTerms
from mycel.retrieval.terms import ANALYSER
from mycel.stores.sql.damaged_rows import ExcludingConnection, Exclusion, mend_memory
from mycel.stores.sql.deferred import DeferredWrites, Statement
from mycel.stores.sql.rows import LAST_MOMENT, micros, moment
from mycel.stores.sql.writer import BatchLost
from mycel.stores.sqlite.connection import one_moment
from mycel.stores.sqlite.damaged_rows import SQLITE_ROWS
from mycel.stores.sqlite.database import Database

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")

# A number is never given out twice: what holds copies by number may still know the purged one.
_LATEST = """
    SELECT (SELECT committed_at FROM changes ORDER BY sequence DESC LIMIT 1),
      max(ifnull((SELECT max(number) FROM memories), 0), ifnull((SELECT max(number) FROM receipts), 0))"""
_LATEST_POSSIBLE = "SELECT max(committed_at) FROM changes WHERE typeof(committed_at) = 'integer' AND committed_at < ?"
PUT_TERMS = Statement(2, "INSERT OR REPLACE INTO memory_terms (number, terms, analyser) VALUES ", f"(?, ?, {ANALYSER})")


class ReadSession:
    """Each query by itself, on a connection of the pool."""

    def __init__(self, database: Database[Any], clock: Clock) -> None:
        self._clock = clock
        self.run = database.read

    @property
    def now(self) -> datetime:
        return self._clock.now()


class SnapshotSession:
    """Each query at one moment, however many statements it has."""

    def __init__(self, database: Database[Any], clock: Clock) -> None:
        self._clock = clock
        self._database = database

    @property
    def now(self) -> datetime:
        return self._clock.now()

    def run(
        self,
        work: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        def at_one_moment(connection: apsw.Connection) -> ResultT:
            with one_moment(connection):
                return work(connection, *args, **kwargs)

        return self._database.read(at_one_moment)


class WriteSession:
    """Shared by the operations of one batch; the writer opens and ends the transaction around them.

    New rows, tags, words and the log are written at the end, for all operations together. An operation that needs
    the database before that gets a savepoint, so that it can be undone alone; most need none.
    """

    def __init__(self, connection: apsw.Connection, *, clock: Clock) -> None:
        self._connection = connection
        self._mark = 0
        self._operating = False
        self._has_savepoint = False
        self._exclusion: Exclusion | None = None
        latest, number = connection.execute(_LATEST).fetchone()
        if not isinstance(latest, int | None) or (latest or 0) >= LAST_MOMENT:
            # The last entry of the log is damaged.
            latest = connection.execute(_LATEST_POSSIBLE, (LAST_MOMENT,)).fetchone()[0]
        self.later = DeferredWrites()
        self._last_number: int = number
        self.now: datetime = clock.now()
        self.committed_at: datetime = max(self.now, moment((latest or 0) + 1))
        self.committed_micros = micros(self.committed_at)
        # What the clock says, where that is another moment.
        self.clock_micros = None if self.committed_at == self.now else micros(self.now)

    @property
    def connection(self) -> apsw.Connection:
        """The database as this operation must see it: with everything written that was left for later."""
        if self._operating and not self._has_savepoint:
            self._run_later(self._mark)
            self._mark = 0
            self._connection.execute("SAVEPOINT operation")
            self._has_savepoint = True
        if self.later:
            self.later.run_before(len(self.later), self._connection)
        return self._connection

    def run(
        self,
        work: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        connection = self.connection
        if self._exclusion is not None:
            connection = cast(apsw.Connection, ExcludingConnection(connection, self._exclusion))
        return work(connection, *args, **kwargs)

    @contextmanager
    def excluding(self, exclusion: Exclusion) -> Generator[None]:
        """Queries within leave these rows out."""
        self._exclusion = exclusion
        try:
            yield
        finally:
            self._exclusion = None

    def mend(self, id: MemoryId) -> None:
        """Write what can be read of a damaged memory; from then on queries of this operation find it."""
        key = mend_memory(self.connection, SQLITE_ROWS, id)
        if key is not None and self._exclusion is not None:
            self._exclusion = self._exclusion.without("memories", key)

    def begin(self) -> None:
        self._operating = True
        self._has_savepoint = False
        self._mark = len(self.later)

    def keep(self) -> None:
        if self._has_savepoint:
            self._connection.execute("RELEASE operation")

    def undo(self, error: Exception) -> None:
        if not self._connection.in_transaction:
            raise BatchLost from error
        self.later.forget_after(self._mark)
        if self._has_savepoint:
            self._connection.execute("ROLLBACK TO operation")
            self._connection.execute("RELEASE operation")

    def finish(self) -> None:
        self._run_later(len(self.later))

    def next_number(self) -> int:
        self._last_number += 1
        return self._last_number

    def put_terms(self, words: PackedTerms, *, number: int) -> None:
        self.later.add(PUT_TERMS, (number, words))

    def _run_later(self, mark: int) -> None:
        """These are writes of other operations: if they fail, it is not this one's fault."""
        try:
            self.later.run_before(mark, self._connection)
        except apsw.Error as error:
            raise BatchLost from error
