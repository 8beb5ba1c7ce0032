"""Reading memories, each under the scope of its reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

from mycel.access.scope import ReadScope
from mycel.domain.cursor import write_cursor
from mycel.domain.ids import (
    ID_LENGTH,
    LEAST_SHORT,
    MemberId,
    MemoryId,
    SourceId,
    is_short_for,
    may_begin,
    may_end,
)
from mycel.domain.memory import MadeBy, Memory, Version, Visibility
from mycel.domain.query import Filters, Folder, Order, Page, Statistics
from mycel.domain.receipt import Receipt
from mycel.domain.source import Source
from mycel.domain.surroundings import Usage
from mycel.errors import MemoryDamaged, NotFound
from mycel.stores.sql.clauses import Clause, below, matching, visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.memory_pages import page_of, present
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.receipts import DETAIL_TABLES, read_receipt
from mycel.stores.sql.rows import (
    HISTORY_COLUMNS,
    MEMORY_COLUMNS,
    audience_from,
    columns_of,
    memory_from,
    micros,
    moment_or_none,
    packed_roles,
    version_from,
)
from mycel.stores.sql.sources import SAME_DOCUMENT, document_values

# After every digit that an id may have.
_BEHIND_DIGITS = "g"
_END_PLACE = ID_LENGTH - LEAST_SHORT + 1
# Of statistics: a month's worth of days on which something was written.
MOST_DAYS = 30
MOST_TAGS = 200
# Of a moment in microseconds.
_DAY = 86_400_000_000
_FIRST_DAY = date(1970, 1, 1)
_MEMORY = columns_of("m")
_HAS_DETAIL = f"""
    SELECT 1 FROM memories m WHERE m.id = ?
      AND ({" OR ".join(f"EXISTS (SELECT 1 FROM {table} d WHERE d.number = m.number)" for table in DETAIL_TABLES)})"""
# Its purge says who could read a memory that is gone.
_PURGED = """
    SELECT visibility, agent_id, allowed_roles FROM changes WHERE memory_id = ? AND operation = 'purge'
    ORDER BY sequence DESC LIMIT 1"""
_VERSION = columns_of("v", MEMORY_COLUMNS + HISTORY_COLUMNS)
_CURRENT_AS_VERSION = columns_of("m", MEMORY_COLUMNS + HISTORY_COLUMNS)


class SqlMemories(Part):
    """See `contracts.memory_store.MemoryReads`."""

    @query
    def find(self, connection: Connection, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory | None:
        sql, values = _find_sql(scope, deleted)
        row = connection.execute(sql, {"id": id, **values}).fetchone()
        return None if row is None else memory_from(row, scope.team)

    def get(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory:
        memory = self.find(scope, id, deleted=deleted)
        if memory is None:
            raise self.absence(scope, id, deleted=deleted)
        return memory

    def absence(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> NotFound:
        is_there = self._is_there(scope, id, deleted=deleted)
        if not is_there or self.find(scope, id, deleted=deleted) is not None:
            return NotFound(f"no memory {id}")
        return MemoryDamaged(
            f"memory {id} is damaged and cannot be read: `mycel check` names what is wrong with it; "
            "delete or purge it by its whole id, or restore it from a backup"
        )

    @query
    def _is_there(self, connection: Connection, scope: ReadScope, id: MemoryId, *, deleted: bool) -> bool:
        """Whether the reader would see it, if only its values could be read: no row is left out of this query."""
        seen, values = visible(scope)
        alive = "" if deleted else " AND m.deleted_at IS NULL"
        sql = f"SELECT 1 FROM memories m WHERE m.id = :id AND {seen}{alive}"
        return connection.execute(sql, {"id": id, **values}).fetchone() is not None

    @query
    def ids_with(
        self, connection: Connection, scope: ReadScope, parts: Sequence[str], *, limit: int, deleted: bool = False
    ) -> list[MemoryId]:
        seen, values = visible(scope)
        alive = "" if deleted else "AND m.deleted_at IS NULL"
        begins: list[str] = []
        for number, part in enumerate(one for one in parts if may_begin(one)):
            begins.append(f"b.id >= :first{number} AND b.id < :behind{number}")
            values |= {f"first{number}": part, f"behind{number}": part + _BEHIND_DIGITS}
        # Nothing but the index of ids is read to find them, all of it once for the ends.
        named = [f"SELECT b.id FROM memories b WHERE {' OR '.join(begins)}"] if begins else []
        ends = sorted({part[-LEAST_SHORT:] for part in parts if may_end(part)})
        if ends:
            places = [f":end{number}" for number in range(len(ends))]
            named.append(f"SELECT e.id FROM memories e WHERE substr(e.id, {_END_PLACE}) IN ({', '.join(places)})")
            values |= {f"end{number}": end for number, end in enumerate(ends)}
        sql = f"""
            SELECT m.id FROM memories m WHERE m.id IN ({" UNION ".join(named)}) {alive} AND {seen}
            ORDER BY m.id LIMIT :limit"""
        found = [MemoryId(id) for (id,) in connection.execute(sql, {**values, "limit": limit})]
        return [id for id in found if any(is_short_for(part, id) for part in parts)]

    def find_version(self, scope: ReadScope, id: MemoryId, version: int) -> Memory | None:
        found = (entry.memory for entry in self.versions(scope, id) if entry.memory.version == version)
        return next(found, None)

    @query
    def written_since(
        self, connection: Connection, scope: ReadScope, since: datetime, *, by: MemberId | None
    ) -> list[MemoryId]:
        seen, values = visible(scope)
        own = "valid_from >= :since AND changed_by = coalesce(:by, changed_by)"
        sql = f"""
            SELECT m.id FROM memories m
            WHERE {seen} AND (({own}) OR m.id IN (SELECT v.id FROM memory_versions v WHERE {own})) ORDER BY m.number"""
        rows = connection.execute(sql, {**values, "since": micros(since), "by": by})
        return [MemoryId(id) for (id,) in rows]

    @query
    def drawn_since(
        self, connection: Connection, scope: ReadScope, since: datetime, *, by: MemberId | None
    ) -> list[MemoryId]:
        seen, values = visible(scope)
        sql = f"""
            SELECT m.id FROM memories m JOIN sources s ON s.id = m.source_id
            WHERE {seen} AND m.deleted_at IS NULL AND s.created_at >= :since AND s.agent_id = coalesce(:by, s.agent_id)
            ORDER BY m.number"""
        rows = connection.execute(sql, {**values, "since": micros(since), "by": by})
        return [MemoryId(id) for (id,) in rows]

    def find_as_of(self, scope: ReadScope, id: MemoryId, at: datetime) -> Memory | None:
        found = [
            entry.memory
            for entry in self.versions(scope, id, deleted=True)
            if entry.believed_from <= at and (entry.believed_until is None or at < entry.believed_until)
        ]
        return found[-1] if found and found[-1].deleted_at is None else None

    def find_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        return self._find_by_key(scope, like, status="active", own=like.visibility is Visibility.PRIVATE)

    def find_waiting_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        return self._find_by_key(scope, like, status="inbox", own=True)

    @query
    def _find_by_key(
        self, connection: Connection, scope: ReadScope, like: Memory, *, status: str, own: bool
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

    @query
    def find_made(
        self, connection: Connection, scope: ReadScope, source_id: SourceId, made_by: MadeBy
    ) -> Memory | None:
        seen, values = visible(scope)
        sql = f"""
            SELECT {_MEMORY} FROM memories m
            WHERE m.source_id = :source AND m.made_by = :made_by AND m.deleted_at IS NULL AND {seen}
            ORDER BY m.number LIMIT 1"""
        row = connection.execute(sql, {**values, "source": source_id, "made_by": made_by}).fetchone()
        return None if row is None else memory_from(row, scope.team)

    @query
    def made_from(
        self, connection: Connection, scope: ReadScope, source_id: SourceId, *, deleted: bool = False
    ) -> list[Memory]:
        seen, values = visible(scope)
        alive = "" if deleted else "AND m.deleted_at IS NULL"
        sql = f"""
            SELECT {_MEMORY} FROM memories m
            WHERE m.source_id = :source {alive} AND {seen} ORDER BY m.number"""
        return [memory_from(row, scope.team) for row in connection.execute(sql, {**values, "source": source_id})]

    @query
    def indexed_from(self, connection: Connection, scope: ReadScope, source: Source, *, shared: bool) -> list[Memory]:
        seen, values = visible(scope)
        sql = f"""
            SELECT {_MEMORY} FROM sources s CROSS JOIN memories m ON m.source_id = s.id
            WHERE {SAME_DOCUMENT} AND s.id <> :id AND m.made_by = 'file_index' AND m.deleted_at IS NULL
              AND m.status = 'active' AND m.visibility = :visibility AND m.allowed_roles IS :roles
              AND (m.agent_id = :author OR :shared) AND {seen}
            ORDER BY m.number"""
        bound = {**values, **document_values(source, shared=shared), "id": source.id}
        return [memory_from(row, scope.team) for row in connection.execute(sql, bound)]

    @query
    def versions(
        self, connection: Connection, scope: ReadScope, id: MemoryId, *, deleted: bool = False
    ) -> list[Version]:
        """The versions this scope sees, of a memory it sees today."""
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

    @query
    def page(
        self,
        connection: Connection,
        scope: ReadScope,
        filters: Filters,
        *,
        order: Order,
        limit: int,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """One page in a total order: ties are broken by age, so no row is skipped or doubled between pages."""
        rows = connection.execute(*page_of(scope, filters, order=order, limit=limit + 1, cursor=cursor)).fetchall()
        more = len(rows) > limit
        items = [memory_from(row, scope.team) for row in rows[:limit]]
        return Page(items, write_cursor(order, *rows[limit - 1][-2:]) if more else None)

    @query
    def newest(
        self, connection: Connection, scope: ReadScope, lists: Sequence[tuple[Filters, int]]
    ) -> list[list[Memory]]:
        asked = [
            connection.execute(*page_of(scope, filters, order=Order(), limit=limit, cursor=None))
            for filters, limit in lists
        ]
        return [[memory_from(row, scope.team) for row in rows] for rows in asked]

    @query
    def count(self, connection: Connection, scope: ReadScope, filters: Filters) -> int:
        source, values = present(scope, filters)
        row = connection.execute(f"SELECT count(*) {source}", values).fetchone()
        return 0 if row is None else row[0]

    @query
    def folders(self, connection: Connection, scope: ReadScope, path: str, filters: Filters) -> list[Folder]:
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

    @query
    def statistics(self, connection: Connection, scope: ReadScope, filters: Filters) -> Statistics:
        """Days come first, for no index has their order: one that leads to every row in another costs time."""
        seen, values = visible(scope)
        wanted, filter_values = matching(filters)
        sql = f"""
            SELECT m.type, m.status, m.project_id, m.created_at / {_DAY} AS day, count(*)
            FROM memories m WHERE {seen} AND {wanted}
            GROUP BY day, m.type, m.status, m.project_id"""
        by_type, by_status, by_day = Counter[str](), Counter[str](), Counter[int]()
        projects: set[str] = set()
        for type, status, project, day, count in connection.execute(sql, {**values, **filter_values}):
            by_type[type] += count
            by_status[status] += count
            by_day[day] += count
            projects |= {project} if project else set()
        days = {str(_FIRST_DAY + timedelta(day)): by_day[day] for day in sorted(by_day)[-MOST_DAYS:]}
        return Statistics(by_type.total(), dict(sorted(by_type.items())), dict(by_status), len(projects), days)

    @query
    def count_tags(self, connection: Connection, scope: ReadScope, filters: Filters) -> Mapping[str, int]:
        seen, values = visible(scope)
        wanted, filter_values = matching(filters)
        sql = f"""
            SELECT t.tag, count(*) FROM memory_tags t
            WHERE t.number IN (SELECT m.number FROM memories m WHERE {seen} AND {wanted})
            GROUP BY t.tag ORDER BY 2 DESC, 1 LIMIT {MOST_TAGS}"""
        return dict(connection.execute(sql, {**values, **filter_values}).fetchall())

    @query
    def usage(self, connection: Connection, scope: ReadScope, id: MemoryId) -> Usage:
        seen, values = visible(scope)
        sql = f"""
            SELECT u.access_count, u.last_accessed_at FROM memory_usage u JOIN memories m ON m.id = u.memory_id
            WHERE u.memory_id = :id AND {seen}"""
        row = connection.execute(sql, {**values, "id": id}).fetchone()
        return Usage() if row is None else Usage(row[0], moment_or_none(row[1]))

    @query
    def was_changed_by_others(self, connection: Connection, id: MemoryId, by: MemberId) -> bool:
        sql = """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM memories WHERE id = :id AND changed_by <> :by)
              OR EXISTS (SELECT 1 FROM memory_versions WHERE id = :id AND changed_by <> :by)"""
        return connection.execute(sql, {"id": id, "by": by}).fetchone() is not None

    @query
    def changed_last_by(self, connection: Connection, id: MemoryId) -> MemberId | None:
        row = connection.execute("SELECT changed_by FROM memories WHERE id = ?", (id,)).fetchone()
        return None if row is None else row[0]

    @query
    def has_detail(self, connection: Connection, id: MemoryId) -> bool:
        return connection.execute(_HAS_DETAIL, (id,)).fetchone() is not None

    @query
    def was_purged(self, connection: Connection, scope: ReadScope, id: MemoryId) -> bool:
        row = connection.execute(_PURGED, (id,)).fetchone()
        return row is not None and scope.sees(audience_from(*row))

    @query
    def find_receipt(self, connection: Connection, id: MemoryId) -> Receipt | None:
        return read_receipt(connection, id)

    @query
    def expired(self, connection: Connection, scope: ReadScope, *, limit: int) -> list[Memory]:
        """The condition is that of the index, word for word. What the ledger counts leaves with the ledger."""
        seen, values = visible(scope)
        sql = f"""
            SELECT {_MEMORY} FROM memories m
            WHERE m.expires_at <= :now AND m.status <> 'archived' AND m.deleted_at IS NULL
              AND m.made_by <> 'task_completion' AND {seen}
              AND NOT EXISTS (SELECT 1 FROM episodes e WHERE e.number = m.number AND e.ledger <> 'out')
            ORDER BY m.expires_at LIMIT :limit"""
        rows = connection.execute(sql, {**values, "now": micros(self.session.now), "limit": limit})
        return [memory_from(row, scope.team) for row in rows]

    @query
    def forgotten(self, connection: Connection, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
        seen, values = visible(scope)
        sql = f"""
            SELECT {_MEMORY} FROM memories m
            WHERE (m.deleted_at <= :before OR (m.status = 'archived' AND coalesce(m.clock_at, m.valid_from) <= :before))
              AND {seen}
            ORDER BY m.number LIMIT :limit"""
        rows = connection.execute(sql, {**values, "before": micros(before), "limit": limit})
        return [memory_from(row, scope.team) for row in rows]

    @query
    def settled(self, connection: Connection, scope: ReadScope, *, limit: int) -> list[Memory]:
        """The condition on the metadata is that of the index, word for word."""
        seen, values = visible(scope)
        sql = f"""
            SELECT {_MEMORY} FROM memories m
            WHERE instr(m.metadata, '"mycel_contested"') > 0 AND m.deleted_at IS NULL AND {seen} AND NOT EXISTS (
              SELECT 1 FROM memories o WHERE o.deleted_at IS NULL AND o.status IN ('active', 'inbox') AND o.id IN (
                SELECT to_id FROM memory_links WHERE from_id = m.id AND relation = 'contradicts'
                UNION ALL SELECT from_id FROM memory_links WHERE to_id = m.id AND relation = 'contradicts')
              AND o.visibility = m.visibility AND o.allowed_roles IS NOT DISTINCT FROM m.allowed_roles
              AND (o.visibility = 'team' OR o.agent_id = m.agent_id))
            ORDER BY m.number LIMIT :limit"""
        return [memory_from(row, scope.team) for row in connection.execute(sql, {**values, "limit": limit})]


# The one read that is on every path: putting its text together would cost as much as running it.
@lru_cache(maxsize=1024)
def _find_sql(scope: ReadScope, deleted: bool) -> Clause:  # noqa: FBT001 - a cache key
    seen, values = visible(scope)
    alive = "" if deleted else " AND m.deleted_at IS NULL"
    return f"SELECT {_MEMORY} FROM memories m WHERE m.id = :id AND {seen}{alive}", values
