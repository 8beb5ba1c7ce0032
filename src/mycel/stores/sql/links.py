"""Links between memories, and from memories to projects and repos."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.change import Operation
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.log import log_change
from mycel.stores.sql.part import Part, WritingPart, query
from mycel.stores.sql.rows import micros, moment


class SqlLinks(Part):
    """See `contracts.memory_store.LinkReads`."""

    @query
    def of(self, connection: Connection, scope: ReadScope, id: MemoryId) -> list[Link]:
        seen, values = visible(scope)
        here = f"SELECT 1 FROM memories m WHERE m.deleted_at IS NULL AND {seen} AND m.id ="
        sql = f"""
            SELECT l.from_id, l.to_id, l.relation, l.created_by, l.created_at FROM memory_links l
            WHERE (l.from_id = :id OR l.to_id = :id)
              AND EXISTS ({here} l.from_id)
              AND (l.to_id LIKE 'project:%' OR l.to_id LIKE 'repo:%' OR EXISTS ({here} l.to_id))
            ORDER BY l.created_at, l.to_id"""
        return [link_from(row) for row in connection.execute(sql, {**values, "id": id})]

    @query
    def contests(self, connection: Connection, scope: ReadScope, ids: Sequence[MemoryId]) -> dict[MemoryId, int]:
        seen, values = visible(scope, "o")
        sql = f"""
            SELECT n.value, (
              SELECT count(*) FROM memories o
              WHERE o.deleted_at IS NULL AND o.status IN ('active', 'inbox') AND {seen} AND o.id IN (
                SELECT to_id FROM memory_links WHERE from_id = n.value AND relation = 'contradicts'
                UNION SELECT from_id FROM memory_links WHERE to_id = n.value AND relation = 'contradicts'))
            FROM json_each(:ids) n"""
        rows = connection.execute(sql, {**values, "ids": json.dumps(list(ids))})
        return {MemoryId(id): count for id, count in rows if count}

    @query
    def confirmations(self, connection: Connection, scope: ReadScope, ids: Sequence[MemoryId]) -> dict[MemoryId, int]:
        seen, values = visible(scope, "o")
        sql = f"""
            SELECT m.id, count(DISTINCT o.agent_id)
            FROM json_each(:ids) n CROSS JOIN memories m ON m.id = n.value
            CROSS JOIN memory_links l ON l.to_id = m.id CROSS JOIN memories o ON o.id = l.from_id
            WHERE l.relation = 'supports' AND o.status = 'superseded' AND o.key = m.key AND o.agent_id <> m.agent_id
              AND o.deleted_at IS NULL AND {seen}
            GROUP BY m.id"""
        rows = connection.execute(sql, {**values, "ids": json.dumps(list(ids))})
        return {MemoryId(id): count for id, count in rows}

    @query
    def made_since(
        self, connection: Connection, scope: ReadScope, since: datetime, *, by: MemberId | None
    ) -> list[Link]:
        seen, values = visible(scope)
        here = f"SELECT 1 FROM memories m WHERE m.deleted_at IS NULL AND {seen} AND m.id ="
        sql = f"""
            SELECT l.from_id, l.to_id, l.relation, l.created_by, l.created_at FROM memory_links l
            WHERE l.created_at >= :since AND l.created_by = coalesce(:by, l.created_by) AND EXISTS ({here} l.from_id)
              AND (l.to_id LIKE 'project:%' OR l.to_id LIKE 'repo:%' OR EXISTS ({here} l.to_id))
            ORDER BY l.created_at, l.from_id, l.to_id"""
        return [link_from(row) for row in connection.execute(sql, {**values, "since": micros(since), "by": by})]


class LinkWriter(WritingPart, SqlLinks):
    """See `contracts.memory_store.LinkWrites`."""

    @query
    def pointing_at(self, connection: Connection, id: MemoryId, relation: Relation) -> list[MemoryId]:
        sql = "SELECT from_id FROM memory_links WHERE to_id = ? AND relation = ? ORDER BY created_at, from_id"
        return [MemoryId(one) for (one,) in connection.execute(sql, (id, relation)).fetchall()]

    @query
    def find_same(self, connection: Connection, link: Link) -> Link | None:
        sql = """
            SELECT from_id, to_id, relation, created_by, created_at FROM memory_links
            WHERE from_id = ? AND to_id = ? AND relation = ?"""
        row = connection.execute(sql, (link.from_id, link.to_id, link.relation)).fetchone()
        return None if row is None else link_from(row)

    def add(self, link: Link, *, origin: Memory) -> Link:
        standing = self.find_same(link)
        if standing is not None:
            return standing
        self.batch.connection.execute(
            "INSERT INTO memory_links VALUES (?, ?, ?, ?, ?)",
            (link.from_id, link.to_id, link.relation, link.created_by, micros(link.created_at)),
        )
        log_change(self.batch, Operation.LINK, origin, by=link.created_by, other_id=link.to_id)
        return link

    @query
    def remove(self, connection: Connection, link: Link, *, origin: Memory) -> bool:
        sql = "DELETE FROM memory_links WHERE from_id = ? AND to_id = ? AND relation = ? RETURNING 1"
        gone = connection.execute(sql, (link.from_id, link.to_id, link.relation)).fetchone() is not None
        if gone:
            log_change(self.batch, Operation.UNLINK, origin, by=link.created_by, other_id=link.to_id)
        return gone


def link_from(row: tuple[Any, ...]) -> Link:
    from_id, to_id, relation, created_by, created_at = row
    return Link(from_id, to_id, Relation(relation), created_by, moment(created_at))
