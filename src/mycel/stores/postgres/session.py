"""How the parts of a store reach Postgres: in a transaction of their own, or inside one that writes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg

from mycel.contracts.clock import Clock
from mycel.domain.ids import MemoryId, TeamName
from mycel.domain.packed_terms import PackedTerms
from mycel.retrieval.terms import ANALYSER
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.damaged_rows import ROWS_OF_TEAM
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.records import insert_records
from mycel.stores.postgres.team_terms import unpacked
from mycel.stores.sql import log
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.damaged_rows import Exclusion, mend_memory
from mycel.stores.sql.deferred import DeferredWrites, Rows, Statement
from mycel.stores.sql.rows import Row, micros, moment

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")

_PUT_TERMS = Statement(
    2,
    "INSERT INTO memory_terms (number, tokens, terms, counts, numbers, analyser) VALUES ",
    "(?, ?, ?, ?, ?, ?)",
    " ON CONFLICT (number) DO UPDATE"
    " SET tokens = excluded.tokens, terms = excluded.terms, counts = excluded.counts, numbers = excluded.numbers,"
    " analyser = excluded.analyser",
)
# Whoever holds it is the only one to write to the team: what it has read stays so until it commits.
# The team is named, here and wherever its head is read: two policies let rows of `heads` pass; no index serves both.
_READ = "SELECT committed_at, number, sequence FROM heads WHERE team_id = current_team()"
_LOCK = f"{_READ} FOR UPDATE"
_REQUIRE = "SELECT require_head(?, ?, ?)"
_FIRST = "INSERT INTO heads DEFAULT VALUES ON CONFLICT DO NOTHING"
# The moment is that of the last change: what leaves none in the log takes no place in the history.
_RAISE = """
    UPDATE heads SET committed_at =
      least(?, coalesce((SELECT c.committed_at FROM changes c ORDER BY c.sequence DESC LIMIT 1), committed_at)),
      number = ?, sequence = ?, writes = writes + 1
    WHERE team_id = current_team()"""
# Raised for each row by the database, the counter of a thousand rows would leave a thousand versions of it.
_LOG = Statement(log.INSERT.order, log.INSERT.sql.replace("(", "(sequence, ", 1), f"(?, {log.INSERT.marks[1:]}")


@dataclass(slots=True)
class _Head:
    """Of a team, while nobody else writes to it."""

    committed_at: int
    number: int
    sequence: int


class ReadSession:
    """Each query by itself, on a connection of the pool."""

    def __init__(self, database: Database, team: str, clock: Clock, *, at_one_moment: bool = False) -> None:
        self._read = database.read_at_one_moment if at_one_moment else database.read
        self._team = team
        self._clock = clock

    @property
    def now(self) -> datetime:
        return self._clock.now()

    def run(
        self,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        return self._read(self._team, work, *args, **kwargs)


class WriteSession:
    """See `stores.sql.part.WriteSession`. The team is locked with the first statement that needs its state.

    A lock whose answer was waited for would be held until this process goes on, which takes long where many threads
    want to. So the head is read without one; what there is to write is sent together with the lock, and begun again
    where the head has moved meanwhile.

    The operations of one batch share it. Most only leave rows to be written at the end; one that needs the database
    before that gets a savepoint, so that it can be undone alone.
    """

    def __init__(
        self,
        connection: PostgresConnection,
        *,
        team: TeamName,
        clock: Clock,
        locks_first: bool = True,
    ) -> None:
        """One that `locks_first` never has to be begun again for what others write."""
        self._connection = connection
        self._team = team
        self._locks_first = locks_first
        self._head: _Head | None = None
        self._unproven: Row | None = None
        self._mark = 0
        self._operating = False
        self._has_savepoint = False
        self._sequence_before = 0
        self.later = DeferredWrites(self._insert)
        self.now: datetime = clock.now()

    @property
    def committed_at(self) -> datetime:
        return moment(self.committed_micros)

    @property
    def committed_micros(self) -> int:
        return max(micros(self.now), 1 + self._as_it_stands().committed_at)

    @property
    def clock_micros(self) -> int | None:
        now = micros(self.now)
        return None if self.committed_micros == now else now

    @property
    def connection(self) -> PostgresConnection:
        head = self._as_it_stands()
        self._prove()
        if self._operating and not self._has_savepoint:
            self.later.run_before(self._mark, self._connection)
            self._mark = 0
            self._sequence_before = head.sequence
            self._connection.execute("SAVEPOINT operation")
            self._has_savepoint = True
        if self.later:
            self.later.run_before(len(self.later), self._connection)
        return self._connection

    @property
    def unlocked(self) -> PostgresConnection:
        """For what locks its own rows, and goes by nothing else; in a batch, whoever comes next may need the team."""
        return self._connection if self._head is None and not self._operating else self.connection

    def run(
        self,
        work: Callable[Concatenate[Any, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        return work(self.connection, *args, **kwargs)

    @contextmanager
    def excluding(self, exclusion: Exclusion) -> Generator[None]:
        """Queries within leave these rows out."""
        self._connection.exclusion = exclusion
        try:
            yield
        finally:
            self._connection.exclusion = None

    def mend(self, id: MemoryId) -> None:
        """Write what can be read of a damaged memory; from then on queries of this operation find it."""
        connection = self.connection
        exclusion, connection.exclusion = connection.exclusion, None
        key = mend_memory(connection, ROWS_OF_TEAM, id)
        if exclusion is not None:
            connection.exclusion = exclusion if key is None else exclusion.without("memories", key)

    def begin(self) -> None:
        self._operating = True
        self._has_savepoint = False
        self._mark = len(self.later)

    def keep(self) -> None:
        if self._has_savepoint:
            self._connection.execute("RELEASE operation")

    def undo(self, error: Exception) -> None:
        if isinstance(error, psycopg.Error):
            # Statements travel together: it may be that of another operation, and whatever was sent after it is void.
            raise error
        self.later.forget_after(self._mark)
        if self._has_savepoint:
            self._connection.execute("ROLLBACK TO operation")
            self._connection.execute("RELEASE operation")
            self._as_it_stands().sequence = self._sequence_before

    def next_number(self) -> int:
        head = self._as_it_stands()
        head.number += 1
        return head.number

    def put_terms(self, words: PackedTerms, *, number: int) -> None:
        self.later.add(_PUT_TERMS, (number, *unpacked(words, self._team), ANALYSER))

    def finish(self) -> None:
        """Right before COMMIT."""
        head = self._head
        if head is not None:
            self._operating = False
            self.connection.execute(_RAISE, (self.committed_micros, head.number, head.sequence))

    def _insert(self, connection: Connection, statement: Statement, rows: Rows) -> None:
        if statement is log.INSERT:
            statement, rows = _LOG, [(self._next_sequence(), *row) for row in rows]
        insert_records(connection, statement, rows)

    def _next_sequence(self) -> int:
        head = self._as_it_stands()
        head.sequence += 1
        return head.sequence

    def _as_it_stands(self) -> _Head:
        if self._head is None:
            row = None if self._locks_first else self._connection.execute(_READ).fetchone()
            if row is None:
                self._head = self._lock()
            else:
                self._head, self._unproven = _Head(*row), row
        return self._head

    def _prove(self) -> None:
        """As late as may be: from here on nobody else writes to the team."""
        read, self._unproven = self._unproven, None
        if read is not None:
            self._connection.lock(_REQUIRE, read)

    def _lock(self) -> _Head:
        row = self._connection.lock(_LOCK).fetchone()
        if row is None:
            self._connection.execute(_FIRST)
            row = self._connection.lock(_LOCK).fetchone()
        return _Head(*row[:3])
