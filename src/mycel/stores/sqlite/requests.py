"""What idempotency keys stood for, for a week."""

from __future__ import annotations

from datetime import datetime

import apsw

from mycel.contracts.store import Request
from mycel.domain.ids import MemberId
from mycel.stores.sqlite.rows import micros


def find_request(
    connection: apsw.Connection, member_id: MemberId, operation: str, key: str, *, now: datetime
) -> Request | None:
    """Up to a week after now as well: the clock may have been set back since it was made."""
    sql = """
        SELECT member_id, operation, key, request_hash, memory_id, version FROM requests
        WHERE member_id = ? AND operation = ? AND key = ? AND abs(requested_at - ?) < ?"""
    within = (micros(now), Request.KEPT_MICROSECONDS)
    row = connection.execute(sql, (member_id, operation, key, *within)).fetchone()
    return None if row is None else Request(*row)


def remember_request(connection: apsw.Connection, request: Request, *, now: datetime) -> None:
    # Counted from the last request: the first one by a clock that was set ahead must not forget all the others.
    connection.execute(
        "DELETE FROM requests WHERE requested_at <= min(?1, (SELECT max(requested_at) FROM requests)) - ?2",
        (micros(now), Request.KEPT_MICROSECONDS),
    )
    connection.execute(
        "INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            request.member_id,
            request.operation,
            request.key,
            request.request_hash,
            request.memory_id,
            request.version,
            micros(now),
        ),
    )
