"""Who looks at a candidate, and who has put one off: rows that end by themselves, and are part of no history."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime

from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.inbox import Claim
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros, moment
from mycel.stores.sql.statements import upsert

TABLES = ("review_claims", "review_snoozes")
_CLAIM = upsert("review_claims", ("memory_id",), ("member_id", "until"))
_SNOOZE = upsert("review_snoozes", ("memory_id", "member_id"), ("until",))


class SqlReviews(Part):
    """See `contracts.review_store.ReviewReads`."""

    @query
    def claims(self, connection: Connection, ids: Collection[MemoryId], *, at: datetime) -> Mapping[MemoryId, Claim]:
        sql = """
            SELECT c.memory_id, c.member_id, c.until FROM json_each(?) n JOIN review_claims c ON c.memory_id = n.value
            WHERE c.until > ?"""
        rows = connection.execute(sql, (json.dumps(list(ids)), micros(at)))
        return {MemoryId(id): Claim(MemoryId(id), MemberId(member), moment(until)) for id, member, until in rows}

    @query
    def snoozes(
        self, connection: Connection, member_id: MemberId, ids: Collection[MemoryId], *, at: datetime
    ) -> Mapping[MemoryId, datetime]:
        sql = """
            SELECT s.memory_id, s.until FROM json_each(?) n JOIN review_snoozes s ON s.memory_id = n.value
            WHERE s.member_id = ? AND s.until > ?"""
        rows = connection.execute(sql, (json.dumps(list(ids)), member_id, micros(at)))
        return {MemoryId(id): moment(until) for id, until in rows}


class ReviewWriter(SqlReviews):
    """See `contracts.review_store.ReviewWrites`."""

    @query
    def claim(self, connection: Connection, claim: Claim, *, at: datetime) -> Claim:
        standing = self.claims([claim.memory_id], at=at).get(claim.memory_id)
        if standing is not None and standing.member_id != claim.member_id:
            return standing
        connection.execute("DELETE FROM review_claims WHERE member_id = ?", (claim.member_id,))
        connection.execute(_CLAIM, (claim.memory_id, claim.member_id, micros(claim.until)))
        return claim

    @query
    def snooze(self, connection: Connection, member_id: MemberId, id: MemoryId, *, until: datetime | None) -> None:
        if until is None:
            connection.execute("DELETE FROM review_snoozes WHERE memory_id = ? AND member_id = ?", (id, member_id))
        else:
            connection.execute(_SNOOZE, (id, member_id, micros(until)))

    @query
    def forget(self, connection: Connection, id: MemoryId) -> None:
        forget_reviews_of(connection, id)


def forget_reviews_of(connection: Connection, id: MemoryId) -> None:
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE memory_id = ?", (id,))
