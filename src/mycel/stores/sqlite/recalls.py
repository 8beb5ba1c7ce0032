"""What reading leaves behind, gathered in memory and written by the store's own writer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from mycel.contracts.clock import Clock
from mycel.domain.ids import MemberId, MemoryId, TeamName
from mycel.domain.recall import Recall
from mycel.errors import StoreDamaged
from mycel.stores.sql.recalls import ReadTraces, SqlRecalls, Trace
from mycel.stores.sqlite.database import Database

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")


class SqliteRecalls(SqlRecalls):
    """See `contracts.search_store.RecallReads`."""

    def __init__(self, database: Database[Any], traces: ReadTraces, *, team: TeamName, clock: Clock) -> None:
        super().__init__(_FlushedSession(database, traces, clock))
        self._database = database
        self._traces = traces
        self._team = team

    def count_access(self, ids: Iterable[MemoryId], *, by: MemberId, at: datetime) -> None:
        self._traces.count(ids, by=by, at=at)
        self._database.writer.request_flush()

    def log(self, recall: Recall, *, request: Mapping[str, Any], by: MemberId, at: datetime) -> bool:
        if not self._database.exists():
            return False
        self._traces.log(Trace(self._team, recall, request, by, at))
        self._database.writer.request_flush()
        return True


class _FlushedSession:
    """A recall is asked about right after it was answered, before its time to be written has come."""

    def __init__(self, database: Database[Any], traces: ReadTraces, clock: Clock) -> None:
        self._database = database
        self._traces = traces
        self._clock = clock

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
        if self._traces and self._database.exists():
            # What a damaged store knows is told without it.
            with contextlib.suppress(StoreDamaged):
                self._database.write(lambda batch: self._traces.write(batch.connection))
        return self._database.read(work, *args, **kwargs)
