"""The ledger of episodes: entries beside their memories, read under the scope of those."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.episode import NO_WORDING, Action, Episode, EpisodeDetail, EpisodeFilters, month_path
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory, MemoryType, Status, Visibility
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.query import Page
from mycel.errors import InvalidInput
from mycel.stores.sql.clauses import Clause, visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.deferred import DeferredWrites, Statement
from mycel.stores.sql.memory_rows import insert_memories
from mycel.stores.sql.part import Part, WritingPart, query
from mycel.stores.sql.rows import MEMORY_COLUMNS, columns_of, memory_from, micros

# Who counts an entry: everybody, who sees the memory, nobody.
TEAM, SOME, OUT = "team", "some", "out"

# An approach whose words are known has the group that was found for them.
_INSERT_EPISODE = Statement(
    3,
    """
    INSERT INTO episodes (number, task_id, agent_id, action, logged_at, ledger, project_id, wording, approach_group,
      duration_ms, tokens_in, tokens_out, approach_end, outcome_start) VALUES """,
    "(?, ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT approach_group FROM approaches WHERE wording = ?), ?), ?, ?, ?, ?, ?)",
)
_INSERT_WORDING = Statement(
    4, "INSERT INTO approaches (wording, approach_group, model) VALUES ", "(?, ?, '')", " ON CONFLICT DO NOTHING"
)

_DETAIL = "e.agent_id, e.action, e.approach_end, e.outcome_start, e.wording, e.duration_ms, e.tokens_in, e.tokens_out"
_EPISODE = f"SELECT {columns_of('m')}, {_DETAIL}, e.number FROM episodes e CROSS JOIN memories m ON m.number = e.number"


def add_episode(later: DeferredWrites, number: int, memory: Memory, detail: EpisodeDetail) -> None:
    # An archive may come from a time when such an episode had the words of its title.
    wording = detail.wording if detail.approach_end else NO_WORDING
    later.add(_INSERT_EPISODE, _episode_row(number, memory, detail, wording))
    if wording != NO_WORDING:
        later.add(_INSERT_WORDING, (wording, wording))


def _episode_row(number: int, memory: Memory, detail: EpisodeDetail, wording: int) -> tuple[object, ...]:
    return (
        number,
        memory.task_id,
        detail.agent_id,
        detail.action,
        micros(memory.created_at),
        ledger_of(memory),
        memory.project_id,
        wording,
        wording,
        wording,
        detail.duration_ms,
        detail.tokens_in,
        detail.tokens_out,
        detail.approach_end,
        detail.outcome_start,
    )


def ledger_of(memory: Memory) -> str:
    if memory.type is not MemoryType.EPISODE or memory.status is not Status.ACTIVE or memory.deleted_at is not None:
        return OUT
    return TEAM if memory.visibility is Visibility.TEAM else SOME


def follow_memory(connection: Connection, number: int, memory: Memory) -> None:
    """After a change of the memory. What was pruned is counted by its month and project, and stays out."""
    connection.execute(
        """
        UPDATE episodes SET task_id = ?, project_id = CASE pruned WHEN 1 THEN project_id ELSE ? END,
          ledger = CASE pruned WHEN 1 THEN 'out' ELSE ? END
        WHERE number = ?""",
        (memory.task_id, memory.project_id, ledger_of(memory), number),
    )
    if memory.deleted_at is not None or memory.visibility is not Visibility.TEAM:
        # Its month may quote it, and is told anew.
        connection.execute(
            """
            UPDATE episode_months SET told = 0 WHERE (month, project_id) IN (
              SELECT strftime('%Y-%m', logged_at / 1000000, 'unixepoch'), coalesce(project_id, '')
              FROM episodes WHERE number = ? AND pruned = 1)""",
            (number,),
        )


def forget_wording(connection: Connection, number: int) -> None:
    """Of an episode that goes: if only it has that wording, its vector and its number would outlive the text."""
    row = connection.execute(
        """
        SELECT e.wording, a.approach_group FROM episodes e JOIN approaches a ON a.wording = e.wording
        WHERE e.number = ?1 AND NOT EXISTS (SELECT 1 FROM episodes o WHERE o.wording = e.wording AND o.number <> ?1)""",
        (number,),
    ).fetchone()
    if row is None:
        return
    wording, group = row
    connection.execute("DELETE FROM approaches WHERE wording = ?", (wording,))
    if group == wording:
        # The others of its group go on under a number that says nothing.
        group = secrets.randbits(63)
        connection.execute("UPDATE approaches SET approach_group = ? WHERE approach_group = ?", (group, wording))
        connection.execute(
            """
            UPDATE episodes SET approach_group = ?1
            WHERE wording IN (SELECT wording FROM approaches WHERE approach_group = ?1)""",
            (group,),
        )
    _rename_in_months(connection, wording, group)


def _rename_in_months(connection: Connection, wording: int, group: int) -> None:
    connection.execute(
        """
        INSERT INTO episode_months
        SELECT month, project_id, agent_id, ?2, action, episodes, timed, timed_ms, tokens_in, tokens_out, told
        FROM episode_months WHERE approach_group = ?1
        ON CONFLICT (month, project_id, agent_id, approach_group, action) DO UPDATE SET
          episodes = episode_months.episodes + excluded.episodes, timed = episode_months.timed + excluded.timed,
          timed_ms = episode_months.timed_ms + excluded.timed_ms,
          tokens_in = episode_months.tokens_in + excluded.tokens_in,
          tokens_out = episode_months.tokens_out + excluded.tokens_out,
          told = min(episode_months.told, excluded.told)""",
        (wording, group),
    )
    connection.execute("DELETE FROM episode_months WHERE approach_group = ?", (wording,))


class SqlEpisodes(Part):
    """See `contracts.episode_store.EpisodeReads`."""

    @query
    def find(self, connection: Connection, scope: ReadScope, id: MemoryId) -> Episode | None:
        seen, values = visible(scope)
        sql = f"""
            SELECT {columns_of("m")}, {_DETAIL} FROM memories m JOIN episodes e ON e.number = m.number
            WHERE m.id = :id AND m.deleted_at IS NULL AND {seen}"""
        row = connection.execute(sql, {**values, "id": id}).fetchone()
        return None if row is None else _episode_from(row, scope)

    @query
    def page(
        self,
        connection: Connection,
        scope: ReadScope,
        filters: EpisodeFilters,
        *,
        limit: int,
        cursor: str | None = None,
    ) -> Page[Episode]:
        """Newest first. Numbers grow with time, so the last one seen is the cursor."""
        seen, values = visible(scope)
        wanted, filter_values = matching_episodes(filters)
        before = ""
        if cursor is not None:
            before = "AND e.number < :cursor"
            values["cursor"] = _read_cursor(cursor)
        sql = f"""
            {_EPISODE} WHERE e.ledger <> '{OUT}' AND {wanted} AND {seen} {before}
            ORDER BY e.number DESC LIMIT :limit"""
        rows = connection.execute(sql, {**values, **filter_values, "limit": limit + 1}).fetchall()
        found = [_episode_from(row, scope) for row in rows[:limit]]
        return Page(found, str(rows[limit - 1][-1]) if len(rows) > limit else None)

    @query
    def details(self, connection: Connection, ids: Collection[MemoryId]) -> dict[MemoryId, EpisodeDetail]:
        marks = ", ".join("?" * len(ids))
        sql = f"""
            SELECT m.id, {_DETAIL} FROM memories m JOIN episodes e ON e.number = m.number
            WHERE m.id IN ({marks}) AND e.ledger <> '{OUT}'"""
        return {MemoryId(id): _detail_from(rest) for id, *rest in connection.execute(sql, tuple(ids))}

    @query
    def prunable(self, connection: Connection, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
        """The conditions are those of the indexes, word for word; by itself the planner takes one with the pruned."""
        seen, values = visible(scope)
        to_prune = "m.type = 'episode' AND m.status <> 'archived' AND m.deleted_at IS NULL"
        sql = f"""
            SELECT {columns_of("m")} FROM memories m INDEXED BY episodes_to_prune
            WHERE {to_prune} AND m.created_at <= :before AND {seen}
            UNION ALL SELECT {columns_of("m")} FROM memories m INDEXED BY episodes_to_prune_by_clock
            WHERE {to_prune} AND m.clock_at <= :before AND m.created_at > :before AND {seen}
            LIMIT :limit"""
        rows = connection.execute(sql, {**values, "before": micros(before), "limit": limit})
        return [memory_from(row, scope.team) for row in rows]

    @query
    def find_month(self, connection: Connection, scope: ReadScope, path: str) -> Memory | None:
        seen, values = visible(scope)
        sql = f"""
            SELECT {columns_of("m")} FROM memories m
            WHERE m.path = :path AND m.made_by = 'episode_summary' AND m.deleted_at IS NULL AND {seen} LIMIT 1"""
        row = connection.execute(sql, {**values, "path": path}).fetchone()
        return None if row is None else memory_from(row, scope.team)


class EpisodeWriter(WritingPart, SqlEpisodes):
    """See `contracts.episode_store.EpisodeWrites`."""

    def insert(self, memory: Memory, words: PackedTerms, detail: EpisodeDetail, *, by: MemberId) -> None:
        [number] = insert_memories(self.batch, [(memory, words)], by=by)
        add_episode(self.batch.later, number, memory, detail)

    @query
    def tell_again(self, connection: Connection, memory: Memory) -> list[Memory]:
        row = connection.execute(
            """
            SELECT strftime('%Y-%m', e.logged_at / 1000000, 'unixepoch'), e.project_id
            FROM memories m JOIN episodes e ON e.number = m.number WHERE m.id = ? AND e.pruned = 1""",
            (memory.id,),
        ).fetchone()
        if row is None:
            return []
        connection.execute("UPDATE episode_months SET told = 0 WHERE month = ? AND project_id = coalesce(?, '')", row)
        sql = f"SELECT {columns_of('m')} FROM memories m WHERE m.path = ? AND m.made_by = 'episode_summary'"
        return [memory_from(found, memory.team) for found in connection.execute(sql, (month_path(*row),))]


def find_detail(connection: Connection, number: int) -> EpisodeDetail | None:
    """Of a memory that another query has found in sight; also of one that the ledger no longer counts."""
    row = connection.execute(f"SELECT {_DETAIL} FROM episodes e WHERE e.number = ?", (number,)).fetchone()
    return None if row is None else _detail_from(row)


def matching_episodes(filters: EpisodeFilters) -> Clause:
    parts = ["true"]
    values: dict[str, Any] = {}
    for column in ("task_id", "agent_id", "action", "project_id"):
        wanted = getattr(filters, column)
        if wanted is not None:
            parts.append(f"e.{column} = :of_{column}")
            values[f"of_{column}"] = wanted
    if filters.since is not None:
        parts.append("e.logged_at >= :logged_since")
        values["logged_since"] = micros(filters.since)
    if filters.until is not None:
        parts.append("e.logged_at < :logged_until")
        values["logged_until"] = micros(filters.until)
    return " AND ".join(parts), values


def _read_cursor(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise InvalidInput("is not from a page of this list", field="cursor")
    return int(cursor)


def _episode_from(row: Sequence[Any], scope: ReadScope) -> Episode:
    width = len(MEMORY_COLUMNS)
    return Episode(memory_from(tuple(row[:width]), scope.team), _detail_from(row[width:]))


def _detail_from(row: Sequence[Any]) -> EpisodeDetail:
    return EpisodeDetail(
        agent_id=MemberId(row[0]),
        action=Action(row[1]),
        approach_end=row[2],
        outcome_start=row[3],
        wording=row[4],
        duration_ms=row[5],
        tokens_in=row[6],
        tokens_out=row[7],
    )
