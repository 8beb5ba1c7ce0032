"""Reading memories. Every function takes the scope of its reader and a connection, the writer's or a reader's."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.cursor import read_cursor, write_cursor
from mycel.domain.ids import MemoryId
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory, Usage, Version, Visibility
from mycel.domain.query import Filters, Folder, Order, Page, Statistics
from mycel.stores.sqlite.clauses import Clause, below, matching, visible
from mycel.stores.sqlite.rows import (
    HISTORY_COLUMNS,
    MEMORY_COLUMNS,
    columns_of,
    memory_from,
    moment,
    moment_or_none,
    packed_roles,
    version_from,
)

# Of statistics: a month's worth of days on which something was written.
MOST_DAYS = 30
_MEMORY = columns_of("m")
_VERSION = columns_of("v", MEMORY_COLUMNS + HISTORY_COLUMNS)
_CURRENT_AS_VERSION = columns_of("m", MEMORY_COLUMNS + HISTORY_COLUMNS)


def find_memory(connection: apsw.Connection, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory | None:
    """The memory if this scope sees it; a deleted one only when asked for."""
    sql, values = _find_sql(scope, deleted)
    row = connection.execute(sql, {"id": id, **values}).fetchone()
    return None if row is None else memory_from(row, scope.team)


# The one read that is on every path: putting its text together would cost as much as running it.
@lru_cache(maxsize=1024)
def _find_sql(scope: ReadScope, deleted: bool) -> Clause:  # noqa: FBT001 - a cache key
    seen, values = visible(scope)
    alive = "" if deleted else " AND m.deleted_at IS NULL"
    return f"SELECT {_MEMORY} FROM memories m WHERE m.id = :id AND {seen}{alive}", values


def list_versions(
    connection: apsw.Connection, scope: ReadScope, id: MemoryId, *, deleted: bool = False
) -> list[Version]:
    """Oldest first: the versions this scope sees, of a memory it sees today; of a deleted one only when asked for."""
    seen_then, values = visible(scope, "v")
    seen_now, _ = visible(scope)
    if not deleted:
        seen_now += " AND m.deleted_at IS NULL"
    sql = f"""
        SELECT {_VERSION}, v.valid_to FROM memory_versions v JOIN memories m ON m.id = v.id
        WHERE v.id = :id AND {seen_then} AND {seen_now}
        UNION ALL
        SELECT {_CURRENT_AS_VERSION}, NULL FROM memories m WHERE m.id = :id AND {seen_now}
        ORDER BY version"""
    return [version_from(row, scope.team) for row in connection.execute(sql, {**values, "id": id})]


def find_version(connection: apsw.Connection, scope: ReadScope, id: MemoryId, version: int) -> Memory | None:
    found = (entry.memory for entry in list_versions(connection, scope, id) if entry.memory.version == version)
    return next(found, None)


def find_as_of(connection: apsw.Connection, scope: ReadScope, id: MemoryId, at: datetime) -> Memory | None:
    """What was believed at that moment, deleted since or not, if the reader was allowed to see it then and is today."""
    found = [
        entry.memory
        for entry in list_versions(connection, scope, id, deleted=True)
        if entry.valid_from <= at and (entry.valid_to is None or at < entry.valid_to)
    ]
    return found[-1] if found and found[-1].deleted_at is None else None


def list_links(connection: apsw.Connection, scope: ReadScope, id: MemoryId) -> list[Link]:
    """Links from and to this memory whose other end the scope sees as well."""
    seen, values = visible(scope)
    here = f"SELECT 1 FROM memories m WHERE m.deleted_at IS NULL AND {seen} AND m.id ="
    sql = f"""
        SELECT l.from_id, l.to_id, l.relation, l.created_by, l.created_at FROM memory_links l
        WHERE (l.from_id = :id OR l.to_id = :id)
          AND EXISTS ({here} l.from_id)
          AND (l.to_id LIKE 'project:%' OR l.to_id LIKE 'repo:%' OR EXISTS ({here} l.to_id))
        ORDER BY l.created_at, l.to_id"""
    return [link_from(row) for row in connection.execute(sql, {**values, "id": id})]


def find_link(connection: apsw.Connection, like: Link) -> Link | None:
    """The link between the same ends, whoever made it."""
    sql = """
        SELECT from_id, to_id, relation, created_by, created_at FROM memory_links
        WHERE from_id = ? AND to_id = ? AND relation = ?"""
    row = connection.execute(sql, (like.from_id, like.to_id, like.relation)).fetchone()
    return None if row is None else link_from(row)


def link_from(row: tuple[Any, ...]) -> Link:
    from_id, to_id, relation, created_by, created_at = row
    return Link(from_id, to_id, Relation(relation), created_by, moment(created_at))


def list_memories(
    connection: apsw.Connection,
    scope: ReadScope,
    filters: Filters,
    *,
    order: Order,
    limit: int,
    cursor: str | None = None,
) -> Page[Memory]:
    """One page in a total order: ties are broken by age, so no row is skipped or doubled between pages."""
    source, values = _present(scope, filters) if filters.believed_at is None else _past(scope, filters)
    after = ""
    if cursor is not None:
        values["last"], values["last_number"] = read_cursor(cursor, order)
        beyond = "<" if order.descending else ">"
        after = f"AND (s.{order.field}, s.number) {beyond} (:last, :last_number)"
    direction = "DESC" if order.descending else "ASC"
    sql = f"""
        SELECT {columns_of("s")}, s.{order.field}, s.number {source} {after}
        ORDER BY s.{order.field} {direction}, s.number {direction} LIMIT :limit"""
    rows = connection.execute(sql, {**values, "limit": limit + 1}).fetchall()
    more = len(rows) > limit
    items = [memory_from(row, scope.team) for row in rows[:limit]]
    return Page(items, write_cursor(order, *rows[limit - 1][-2:]) if more else None)


def count_memories(connection: apsw.Connection, scope: ReadScope, filters: Filters) -> int:
    source, values = _present(scope, filters)
    row = connection.execute(f"SELECT count(*) {source}", values).fetchone()
    return 0 if row is None else row[0]


def _present(scope: ReadScope, filters: Filters) -> Clause:
    seen, values = visible(scope, "s")
    wanted, filter_values = matching(filters, "s")
    waiting = f"AND {_waiting(scope)}" if filters.waiting else ""
    return f"FROM memories s WHERE {seen} AND {wanted} {waiting}", values | filter_values


def _waiting(scope: ReadScope) -> str:
    """The inbox, and what says that it replaces another that stands; who may not see the other is told of nothing."""
    seen, _ = visible(scope, "o")
    return f"""
        s.number IN (
          SELECT i.number FROM memories i WHERE i.status = 'inbox' AND i.deleted_at IS NULL
          UNION ALL SELECT f.number FROM memory_links l
          JOIN memories f ON f.id = l.from_id JOIN memories o ON o.id = l.to_id
          WHERE l.relation = 'supersedes' AND f.status = 'active' AND o.status = 'active' AND o.deleted_at IS NULL
            AND {seen})"""


def _past(scope: ReadScope, filters: Filters) -> Clause:
    """What stood at that moment, deleted since or not, as the reader might see it then and may today."""
    seen_then, values = visible(scope, "s")
    seen_now, _ = visible(scope)
    wanted, filter_values = matching(filters, "s", past=True)
    names = ", ".join(("number", *MEMORY_COLUMNS, "valid_from"))
    source = f"""
        FROM (SELECT {names}, NULL AS valid_to FROM memories UNION ALL SELECT {names}, valid_to FROM memory_versions) s
        JOIN memories m ON m.id = s.id
        WHERE (s.valid_to IS NULL OR s.valid_to > :believed_at) AND {seen_then} AND {seen_now} AND {wanted}"""
    return source, values | filter_values


def list_folders(connection: apsw.Connection, scope: ReadScope, path: str, filters: Filters) -> list[Folder]:
    """The folders right below a path, each with the number of visible memories at or under it."""
    seen, values = visible(scope)
    wanted, filter_values = matching(filters)
    inside, path_values = below(path, "m.path", name="folder")
    skip = 1 if path == "/" else len(path) + 1
    sql = f"""
        SELECT substr(m.path, 1, :skip + instr(substr(m.path || '/', :skip + 1), '/') - 1) AS folder, count(*)
        FROM memories m WHERE {seen} AND {wanted} AND {inside} AND length(m.path) > :skip
        GROUP BY folder ORDER BY folder"""
    rows = connection.execute(sql, {**values, **filter_values, **path_values, "skip": skip})
    return [Folder(folder, count) for folder, count in rows]


def statistics(connection: apsw.Connection, scope: ReadScope, filters: Filters) -> Statistics:
    seen, values = visible(scope)
    wanted, filter_values = matching(filters)
    sql = f"""
        SELECT m.type, m.status, m.project_id, count(*) FROM memories m WHERE {seen} AND {wanted}
        GROUP BY m.type, m.status, m.project_id"""
    by_type: dict[str, int] = {}
    by_status: dict[str, int] = {}
    projects: set[str] = set()
    total = 0
    for type, status, project, count in connection.execute(sql, {**values, **filter_values}):
        total += count
        by_type[type] = by_type.get(type, 0) + count
        by_status[status] = by_status.get(status, 0) + count
        projects |= {project} if project else set()
    sql = f"""
        SELECT date(m.created_at / 1000000, 'unixepoch') AS day, count(*) FROM memories m WHERE {seen} AND {wanted}
        GROUP BY day ORDER BY day DESC LIMIT {MOST_DAYS}"""
    by_day = dict(reversed(connection.execute(sql, {**values, **filter_values}).fetchall()))
    return Statistics(total, dict(sorted(by_type.items())), by_status, len(projects), by_day)


def find_usage(connection: apsw.Connection, scope: ReadScope, id: MemoryId) -> Usage:
    seen, values = visible(scope)
    sql = f"""
        SELECT u.access_count, u.last_accessed_at FROM memory_usage u JOIN memories m ON m.id = u.memory_id
        WHERE u.memory_id = :id AND {seen}"""
    row = connection.execute(sql, {**values, "id": id}).fetchone()
    return Usage() if row is None else Usage(row[0], moment_or_none(row[1]))


def find_by_key(connection: apsw.Connection, scope: ReadScope, like: Memory) -> Memory | None:
    """The accepted knowledge with the same project, category, key and audience."""
    return _find_by_key(connection, scope, like, status="active", own=like.visibility is Visibility.PRIVATE)


def find_waiting_by_key(connection: apsw.Connection, scope: ReadScope, like: Memory) -> Memory | None:
    """The candidate for it that the same author has in the inbox."""
    return _find_by_key(connection, scope, like, status="inbox", own=True)


def _find_by_key(
    connection: apsw.Connection, scope: ReadScope, like: Memory, *, status: str, own: bool
) -> Memory | None:
    seen, values = visible(scope)
    owned = "AND m.agent_id = :owner" if own else ""
    # The status is written out: only so do the indexes for it apply.
    sql = f"""
        SELECT {_MEMORY} FROM memories m
        WHERE m.key = :key AND m.project_id IS :project AND m.category IS :category AND m.status = '{status}'
          AND m.deleted_at IS NULL AND m.visibility = :visibility AND m.allowed_roles IS :roles {owned} AND {seen}
        ORDER BY m.agent_id = :owner DESC, m.confidence DESC, m.number LIMIT 1"""
    values |= {
        "key": like.key,
        "project": like.project_id,
        "category": like.category,
        "visibility": like.visibility.value,
        "roles": packed_roles(like.allowed_roles),
        "owner": like.agent_id,
    }
    row = connection.execute(sql, values).fetchone()
    return None if row is None else memory_from(row, scope.team)
