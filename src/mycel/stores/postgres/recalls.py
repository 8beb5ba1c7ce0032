"""What reading leaves behind, gathered in memory and written by a thread of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from mycel.contracts.clock import Clock
from mycel.domain.ids import MemberId, MemoryId, TeamName
from mycel.domain.recall import Recall
from mycel.errors import MycelError
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.records import insert_records
from mycel.stores.postgres.session import ReadSession
from mycel.stores.sql.recalls import ReadTraces, SqlRecalls, TakenTraces, Trace

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")

FLUSH_SECONDS = 0.5
_RAISE = "UPDATE heads SET readings = readings + 1 WHERE team_id = current_team() RETURNING readings"


class PostgresRecalls(SqlRecalls):
    """See `contracts.search_store.RecallReads`."""

    def __init__(self, database: Database, *, team: TeamName, clock: Clock) -> None:
        self._traces = ReadTraces()
        super().__init__(_FlushedSession(self._flush_now, database, team, clock))
        self._database = database
        self._team = team
        self._due: threading.Timer | None = None
        self._scheduling = threading.Lock()
        self._flushing = threading.Lock()

    def count_access(self, ids: Iterable[MemoryId], *, by: MemberId, at: datetime) -> None:
        self._traces.count(ids, by=by, at=at)
        self._schedule()

    def log(self, recall: Recall, *, request: Mapping[str, Any], by: MemberId, at: datetime) -> bool:
        self._traces.log(Trace(self._team, recall, request, by, at))
        self._schedule()
        return True

    def close(self) -> None:
        with self._scheduling:
            if self._due is not None:
                self._due.cancel()
        self._flush()

    def _schedule(self) -> None:
        if self._due is not None:
            return
        with self._scheduling:
            if self._due is None:
                self._due = threading.Timer(FLUSH_SECONDS, self._flush)
                self._due.daemon = True
                self._due.start()

    def _flush(self) -> None:
        self._due = None
        # None of it was acknowledged.
        with contextlib.suppress(MycelError):
            self._flush_now()

    def _flush_now(self) -> None:
        """When it returns, all that was there is written, whoever was about to."""
        with self._flushing:
            if self._traces:
                self._database.write(self._team, _Flush(self._traces).write)


class _Flush:
    """What was there when the database first listened: one that is begun again writes the same."""

    def __init__(self, traces: ReadTraces) -> None:
        self._traces = traces
        self._taken: TakenTraces | None = None

    def write(self, connection: PostgresConnection) -> None:
        self._taken = self._taken or self._traces.take()
        if self._taken.write(connection, insert_records):
            connection.lock(_RAISE)


class _FlushedSession(ReadSession):
    """A recall is asked about right after it was answered, before its time to be written has come."""

    def __init__(self, flush: Callable[[], None], database: Database, team: TeamName, clock: Clock) -> None:
        super().__init__(database, team, clock)
        self._flush = flush

    def run(
        self,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        self._flush()
        return super().run(work, *args, **kwargs)
