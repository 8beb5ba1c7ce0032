"""How often things worked: counts of episodes, and what is left of those that were pruned.

What everybody may count is counted from an index alone; the rest is looked up and checked one by one, and is little.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from mycel.access.scope import ReadScope
from mycel.contracts.episode_store import MonthOfEpisodes, TimeBucket
from mycel.domain.episode import NO_WORDING, Action, EpisodeFilters, RateBy, Tally
from mycel.domain.ids import MemoryId
from mycel.stores.sql.clauses import Clause, visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.episodes import OUT, SOME, TEAM, matching_episodes
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros

# More would not be read; the most frequent come first.
MOST_GROUPS = 1000
# How many approaches and agents the summary of a month tells of.
MOST_TOLD = 20
_SUMS = """
    count(*) AS episodes, count(e.duration_ms) AS timed, total(e.duration_ms) AS timed_ms,
    total(e.tokens_in) AS tokens_in, total(e.tokens_out) AS tokens_out"""
# A group is named by its first wording, which may have joined another group since.
_MONTHS = """
    (SELECT p.month, p.project_id, p.agent_id, coalesce(a.approach_group, p.approach_group) AS approach_group, p.action,
      p.episodes, p.timed, p.timed_ms, p.tokens_in, p.tokens_out
    FROM episode_months p LEFT JOIN approaches a ON a.wording = p.approach_group)"""
_COLUMNS = {RateBy.AGENT: "agent_id", RateBy.APPROACH: "approach_group"}
_NO_PROJECT = ""
# A sum beyond 64 bits is none that the column takes, and would stop the pruning for good.
_MOST_SUM = 2**62

GroupT = TypeVar("GroupT")


class SqlRates(Part):
    """See `contracts.episode_store.RateReads`."""

    @query
    def by(self, connection: Connection, scope: ReadScope, filters: EpisodeFilters, *, by: RateBy) -> dict[str, Tally]:
        column = _COLUMNS[by]
        groups = _live_groups(connection, scope, filters, column=column)
        rows = (*groups, *_pruned_groups(connection, filters, column=column))
        if by is RateBy.APPROACH:
            rows = [row for row in rows if row[0] != NO_WORDING]
        # By plain numbers first: of a ledger in which nobody says the same twice, most groups are not told.
        sizes: Counter[Any] = Counter()
        for group, _, _, episodes, *_ in rows:
            sizes[group] += episodes
        frequent: dict[Any, Tally] = {group: Tally() for group, _ in sizes.most_common(MOST_GROUPS)}
        for group, action, _, *sums in rows:
            if group in frequent:
                frequent[group] += _tally(action, sums)
        return (
            frequent if by is RateBy.AGENT else _named(frequent, _names(connection, scope, frequent, _latest(groups)))
        )

    @query
    def outcomes_after(
        self, connection: Connection, scope: ReadScope, ids: Collection[MemoryId]
    ) -> dict[MemoryId, Tally]:
        seen, values = visible(scope)

        def count(action: Action, more: str = "") -> str:
            of_it = f"e.approach_group = f.approach_group AND e.action = '{action.value}'{more}"
            return f"""
                (SELECT count(*) FROM episodes e WHERE e.ledger = '{TEAM}' AND {of_it})
                + (SELECT count(*) FROM episodes e CROSS JOIN memories m ON m.number = e.number
                  WHERE e.ledger = '{SOME}' AND {of_it} AND {seen})"""

        sql = f"""
            SELECT o.id, {count(Action.COMPLETED, " AND e.logged_at > f.logged_at")}, {count(Action.FAILED)}
            FROM json_each(:ids) i CROSS JOIN memories o ON o.id = i.value CROSS JOIN episodes f ON f.number = o.number
            WHERE f.approach_group <> {NO_WORDING} AND {visible(scope, "o")[0]}"""
        rows = connection.execute(sql, {**values, "ids": json.dumps(list(ids))})
        return {id: Tally(completed=completed, failed=failed) for id, completed, failed in rows}

    @query
    def over_time(
        self, connection: Connection, scope: ReadScope, filters: EpisodeFilters, buckets: Sequence[TimeBucket]
    ) -> list[Tally]:
        wanted, values = matching_episodes(filters)
        seen, scope_values = visible(scope)
        counts = ", ".join(f"count(*) FILTER (WHERE e.action = '{action.value}')" for action in Action)
        within = f"e.logged_at >= :from AND e.logged_at < :to AND {wanted}"
        sql = f"""
            SELECT {counts}, {_SUMS} FROM episodes e INDEXED BY episodes_rated_by_time
            WHERE e.ledger = '{TEAM}' AND {within}
            UNION ALL SELECT {counts}, {_SUMS} FROM episodes e CROSS JOIN memories m ON m.number = e.number
            WHERE e.ledger = '{SOME}' AND {within} AND {seen}"""
        found: list[Tally] = []
        for start, end in buckets:
            bound = {**values, **scope_values, "from": micros(start), "to": micros(end)}
            live = [_whole_tally(row) for row in connection.execute(sql, bound)]
            inside = _pruned_groups(connection, replace(filters, since=start, until=end), column="agent_id")
            found.append(sum((*live, *(_tally(action, sums) for _, action, _, *sums in inside)), start=Tally()))
        return found

    @query
    def untold_month(self, connection: Connection, scope: ReadScope) -> MonthOfEpisodes | None:
        row = connection.execute("SELECT month, project_id FROM episode_months WHERE told = 0 LIMIT 1").fetchone()
        return None if row is None else _month(connection, scope, *row)


class RateWriter(SqlRates):
    """See `contracts.episode_store.RateWrites`."""

    @query
    def count_pruned(self, connection: Connection, ids: Sequence[MemoryId]) -> None:
        """Only what everybody could count: of the others nothing is left to see."""
        marks = ", ".join("?" * len(ids))
        numbers = f"SELECT number FROM memories WHERE id IN ({marks})"
        # What nobody could count is not marked either: it must not lend its words to a group. The plus keeps the
        # planner off the indexes of the ledger, in which it would look at everything.
        chosen = f"e.number IN ({numbers}) AND e.pruned = 0 AND +e.ledger = '{TEAM}'"
        connection.execute(
            f"""
            INSERT INTO episode_months
            SELECT strftime('%Y-%m', e.logged_at / 1000000, 'unixepoch') AS month,
              coalesce(e.project_id, '{_NO_PROJECT}'), e.agent_id, e.approach_group, e.action, count(*),
              count(e.duration_ms), coalesce(sum(e.duration_ms), 0),
              coalesce(sum(e.tokens_in), 0), coalesce(sum(e.tokens_out), 0), 0
            FROM episodes e WHERE {chosen} GROUP BY 1, 2, 3, 4, 5
            ON CONFLICT (month, project_id, agent_id, approach_group, action) DO UPDATE SET
              episodes = episode_months.episodes + excluded.episodes, timed = episode_months.timed + excluded.timed,
              timed_ms = min({_MOST_SUM}, episode_months.timed_ms + excluded.timed_ms),
              tokens_in = min({_MOST_SUM}, episode_months.tokens_in + excluded.tokens_in),
              tokens_out = min({_MOST_SUM}, episode_months.tokens_out + excluded.tokens_out), told = 0""",
            tuple(ids),
        )
        connection.execute(f"UPDATE episodes AS e SET pruned = 1 WHERE {chosen}", tuple(ids))

    @query
    def mark_told(self, connection: Connection, month: MonthOfEpisodes) -> None:
        connection.execute(
            "UPDATE episode_months SET told = 1 WHERE month = ? AND project_id = ?",
            (month.month, month.project_id or _NO_PROJECT),
        )


def _live_groups(
    connection: Connection, scope: ReadScope, filters: EpisodeFilters, *, column: str
) -> list[tuple[Any, ...]]:
    wanted, values = matching_episodes(filters)
    seen, scope_values = visible(scope)
    index = "episodes_rated_by_agent" if column == "agent_id" else "episodes_rated_by_approach"
    kept = f"e.{column} AS grouped, e.action, max(e.number), {_SUMS}"
    sql = f"""
        SELECT {kept} FROM episodes e INDEXED BY {index}
        WHERE e.ledger = '{TEAM}' AND {wanted} GROUP BY e.{column}, e.action
        UNION ALL SELECT {kept} FROM episodes e CROSS JOIN memories m ON m.number = e.number
        WHERE e.ledger = '{SOME}' AND {wanted} AND {seen} GROUP BY e.{column}, e.action"""
    return connection.execute(sql, {**values, **scope_values}).fetchall()


def _pruned_groups(connection: Connection, filters: EpisodeFilters, *, column: str) -> list[tuple[Any, ...]]:
    """Of months that lie in the asked time as a whole: their days are no longer known."""
    if filters.task_id is not None:
        return []
    wanted, values = _whole_months(filters)
    sql = f"""
        SELECT {column}, action, NULL, sum(episodes), sum(timed), total(timed_ms), total(tokens_in), total(tokens_out)
        FROM {_MONTHS} WHERE {wanted} GROUP BY {column}, action"""
    return connection.execute(sql, values).fetchall()


def _whole_months(filters: EpisodeFilters) -> Clause:
    parts = ["true"]
    values: dict[str, Any] = {}
    for column in ("agent_id", "project_id"):
        wanted = getattr(filters, column)
        if wanted is not None:
            parts.append(f"{column} = :of_{column}")
            values[f"of_{column}"] = wanted
    if filters.since is not None:
        parts.append("month >= :first_month" if _begins_month(filters.since) else "month > :first_month")
        values["first_month"] = _month_of(filters.since)
    if filters.until is not None:
        parts.append("month < :last_month")
        values["last_month"] = _month_of(filters.until)
    return " AND ".join(parts), values


def _month_of(moment: datetime) -> str:
    """`%Y` would write the year 500 with three digits."""
    return f"{moment.year:04}-{moment.month:02}"


def _begins_month(moment: datetime) -> bool:
    return moment == moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _latest(groups: Iterable[Sequence[Any]]) -> dict[int, int]:
    latest: dict[int, int] = {}
    for group, _, number, *_ in groups:
        latest[group] = max(number, latest.get(group, 0))
    return latest


def _names(
    connection: Connection, scope: ReadScope, groups: Iterable[int], latest: Mapping[int, int]
) -> dict[int, str]:
    """The latest wording of each group that this reader sees; where all were pruned, of what is left of them."""
    seen, values = visible(scope)
    text = "SELECT CASE WHEN e.approach_end > 0 THEN substr(m.content, 1, e.approach_end) ELSE m.title END FROM"
    by_number = f"{text} episodes e CROSS JOIN memories m ON m.number = e.number WHERE e.number = :number AND {seen}"
    # In the order of both indexes, so that it ends with the first row.
    by_group = f"""
        {text} approaches a CROSS JOIN episodes e ON e.wording = a.wording CROSS JOIN memories m ON m.number = e.number
        WHERE a.approach_group = :group AND (e.pruned = 1 OR e.ledger <> '{OUT}') AND m.deleted_at IS NULL AND {seen}
        ORDER BY a.id DESC, e.number DESC LIMIT 1"""
    names: dict[int, str] = {}
    for group in groups:
        number = latest.get(group)
        sql = by_group if number is None else by_number
        row = connection.execute(sql, {**values, "number": number, "group": group}).fetchone()
        if row is not None:
            names[group] = row[0]
    return names


def _named(tallies: Mapping[int, Tally], names: Mapping[int, str]) -> dict[str, Tally]:
    """Groups that go by the same words are told as one."""
    named: dict[str, Tally] = {}
    for group, tally in tallies.items():
        if group in names:
            named[names[group]] = named.get(names[group], Tally()) + tally
    return named


def _month(connection: Connection, scope: ReadScope, month: str, project: str) -> MonthOfEpisodes:
    by_agent = _month_by(connection, month, project, column="agent_id")
    by_group = _month_by(connection, month, project, column="approach_group")
    by_group.pop(NO_WORDING, None)
    by_group = _most_frequent(by_group, MOST_TOLD)
    named = _named(by_group, _names(connection, scope, by_group, {}))
    return MonthOfEpisodes(month, project or None, _most_frequent(by_agent, MOST_TOLD), named)


def _month_by(connection: Connection, month: str, project: str, *, column: str) -> dict[Any, Tally]:
    sql = f"""
        SELECT {column}, action, sum(episodes), sum(timed), total(timed_ms), total(tokens_in), total(tokens_out)
        FROM {_MONTHS} WHERE month = ? AND project_id = ? GROUP BY {column}, action"""
    found: dict[Any, Tally] = {}
    for group, action, *sums in connection.execute(sql, (month, project)):
        found[group] = found.get(group, Tally()) + _tally(action, sums)
    return found


def _most_frequent(tallies: Mapping[GroupT, Tally], most: int) -> dict[GroupT, Tally]:
    return dict(sorted(tallies.items(), key=lambda item: -item[1].episodes)[:most])


def _tally(action: str, sums: Sequence[Any]) -> Tally:
    episodes, timed, timed_ms, tokens_in, tokens_out = (int(value) for value in sums)
    return Tally(
        **{Action(action).value: episodes}, timed=timed, timed_ms=timed_ms, tokens_in=tokens_in, tokens_out=tokens_out
    )


def _whole_tally(row: Sequence[Any]) -> Tally:
    counts = dict(zip((action.value for action in Action), row, strict=False))
    _, timed, timed_ms, tokens_in, tokens_out = (int(value) for value in row[len(Action) :])
    return Tally(**counts, timed=timed, timed_ms=timed_ms, tokens_in=tokens_in, tokens_out=tokens_out)
