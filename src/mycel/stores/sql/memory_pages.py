"""The SQL of lists of memories: what is in them, and one page of them in order."""

from __future__ import annotations

from mycel.access.scope import ReadScope
from mycel.domain.cursor import read_cursor
from mycel.domain.query import Filters, Order
from mycel.stores.sql.clauses import Clause, matching, visible
from mycel.stores.sql.rows import MEMORY_COLUMNS, columns_of, micros


def page_of(scope: ReadScope, filters: Filters, *, order: Order, limit: int, cursor: str | None) -> Clause:
    """So many rows behind the cursor; the last two columns say where each stands in the order."""
    source, values = present(scope, filters) if filters.believed_at is None else _past(scope, filters)
    after = ""
    if cursor is not None:
        values["last"], values["last_number"] = read_cursor(cursor, order)
        beyond = "<" if order.descending else ">"
        after = f"AND (s.{order.field}, s.number) {beyond} (:last, :last_number)"
    direction = "DESC" if order.descending else "ASC"
    by = f"ORDER BY s.{order.field} {direction}, s.number {direction}"
    if filters.believed_at is None:
        # Only numbers are sorted: where no index has the order, whole rows would be carried along.
        chosen = f"SELECT s.number {source} {after} {by} LIMIT :limit"
        source, after = f"FROM memories s WHERE s.number IN ({chosen})", ""
    sql = f"SELECT {columns_of('s')}, s.{order.field}, s.number {source} {after} {by} LIMIT :limit"
    return sql, {**values, "limit": limit}


def present(scope: ReadScope, filters: Filters) -> Clause:
    seen, values = visible(scope, "s")
    wanted, filter_values = matching(filters, "s")
    values = values | filter_values
    parts = [f"{seen} AND {wanted}", *([_waiting(scope)] if filters.waiting else [])]
    if filters.source_id is not None:
        parts.append("s.source_id = :source_id")
        values["source_id"] = filters.source_id
    if filters.snoozes is not None:
        chosen = "NOT IN" if filters.snoozes.are_left_out else "IN"
        parts.append(
            f"s.id {chosen} (SELECT memory_id FROM review_snoozes WHERE member_id = :snoozer AND until > :snoozed_at)"
        )
        values |= {"snoozer": filters.snoozes.member_id, "snoozed_at": micros(filters.snoozes.at)}
    return f"FROM memories s WHERE {' AND '.join(parts)}", values


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
