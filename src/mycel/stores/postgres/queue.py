"""The queue on Postgres: workers on any machine claim without waiting for each other or for those who write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Concatenate, ParamSpec, TypeVar

from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.session import WriteSession
from mycel.stores.sql.queue import QueueWriter, claim_statement

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")

# What another worker is claiming is passed over.
_NEXT = """
    SELECT n.id FROM ingestion_events n
    WHERE n.state IN ('pending', 'failed') AND (n.due_at <= :now OR n.due_at > :ahead AND n.updated_at > :ahead)
      OR n.state = 'running' AND n.lease_until <= :now
    ORDER BY CASE n.state WHEN 'running' THEN n.lease_until ELSE n.due_at END LIMIT 1 FOR UPDATE SKIP LOCKED"""


class PostgresQueueWriter(QueueWriter):
    """See `contracts.engine_store.QueueWrites`."""

    claim_next = claim_statement(_NEXT)

    def __init__(self, batch: WriteSession) -> None:
        super().__init__(batch)
        self._leasing = QueueWriter(_Unlocked(batch))
        self._leasing.claim_next = self.claim_next
        self.claim = self._leasing.claim
        self.extend_lease = self._leasing.extend_lease


class _Unlocked:
    """Leases go by the rows of their events alone: the team need not be locked for them."""

    def __init__(self, batch: WriteSession) -> None:
        self._batch = batch

    @property
    def now(self) -> datetime:
        return self._batch.now

    def run(
        self,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        return work(self._batch.unlocked, *args, **kwargs)
