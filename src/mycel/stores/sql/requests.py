"""What idempotency keys stood for, for a week."""

from __future__ import annotations

from mycel.contracts.memory_store import Request
from mycel.domain.ids import MemberId
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros
from mycel.stores.sql.statements import upsert

_PUT = upsert("requests", ("member_id", "operation", "key"), ("request_hash", "memory_id", "version", "requested_at"))


class SqlRequests(Part):
    """See `contracts.memory_store.Requests`."""

    @query
    def find(self, connection: Connection, member_id: MemberId, operation: str, key: str) -> Request | None:
        """Up to a week after now as well: the clock may have been set back since it was made."""
        sql = """
            SELECT member_id, operation, key, request_hash, memory_id, version FROM requests
            WHERE member_id = ? AND operation = ? AND key = ? AND abs(requested_at - ?) < ?"""
        within = (micros(self.session.now), Request.KEPT_MICROSECONDS)
        row = connection.execute(sql, (member_id, operation, key, *within)).fetchone()
        return None if row is None else Request(*row)

    @query
    def remember(self, connection: Connection, request: Request) -> None:
        # Counted from the last request: the first one by a clock that was set ahead must not forget all the others.
        connection.execute(
            "DELETE FROM requests WHERE requested_at <= min(?1, (SELECT max(requested_at) FROM requests)) - ?2",
            (micros(self.session.now), Request.KEPT_MICROSECONDS),
        )
        connection.execute(
            _PUT,
            (
                request.member_id,
                request.operation,
                request.key,
                request.request_hash,
                request.memory_id,
                request.version,
                micros(self.session.now),
            ),
        )
