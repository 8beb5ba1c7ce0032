"""Read scopes and filters as SQL conditions. Values are always bound; only column names are written here."""

from __future__ import annotations

from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.query import Filters
from mycel.stores.sqlite.rows import micros

Clause = tuple[str, dict[str, Any]]


def visible(scope: ReadScope, table: str = "m", *, prefix: str = "") -> Clause:
    """What this scope may see of rows that carry an audience; agrees with `ReadScope.sees`."""
    columns = f"{table}.{prefix}" if table else prefix
    # Bound in any case: what is in reach may depend on it as well.
    values: dict[str, Any] = {"reader": scope.member_id}
    if scope.everything:
        return "1", values
    seen = [f"{columns}visibility = 'team'"]
    if scope.member_id is not None:
        seen.append(f"{columns}agent_id = :reader")
    if scope.every_role:
        seen.append(f"{columns}visibility = 'role'")
    elif scope.role is not None:
        # Role names hold no quotes and are matched with theirs, so one is never found inside another.
        seen.append(f"({columns}visibility = 'role' AND instr({columns}allowed_roles, :reader_role) > 0)")
        values["reader_role"] = f'"{scope.role}"'
    return "(" + " OR ".join(seen) + ")", values


def below(path: str, column: str, *, name: str = "path") -> Clause:
    """The path itself and everything under it, as a range an index can serve."""
    if path == "/":
        return "1", {}
    # '0' is the character after '/'.
    return (
        f"({column} = :{name} OR ({column} >= :{name}_below AND {column} < :{name}_after))",
        {name: path, f"{name}_below": f"{path}/", f"{name}_after": f"{path}0"},
    )


def matching(filters: Filters) -> Clause:
    """Conditions on the memories table, named m."""
    parts: list[str] = ["m.deleted_at IS NOT NULL" if filters.deleted else "m.deleted_at IS NULL"]
    values: dict[str, Any] = {}
    _add_options(filters, parts, values)
    _add_equals(filters, parts, values)
    _add_times(filters, parts, values)
    _add_reach(filters, parts, values)
    if filters.path != "/":
        path_part, path_values = below(filters.path, "m.path")
        parts.append(path_part)
        values |= path_values
    if filters.at_path is not None:
        parts.append("m.path = :at_path")
        values["at_path"] = filters.at_path
    for index, tag in enumerate(filters.tags):
        parts.append(f"m.number IN (SELECT number FROM memory_tags WHERE tag = :tag{index})")
        values[f"tag{index}"] = tag
    return " AND ".join(parts), values


def _add_options(filters: Filters, parts: list[str], values: dict[str, Any]) -> None:
    options = {"status": filters.statuses, "type": filters.types, "scope": filters.scopes}
    for column, wanted in options.items():
        if wanted:
            names = [f"{column}{index}" for index in range(len(wanted))]
            parts.append(f"m.{column} IN ({', '.join(f':{name}' for name in names)})")
            values.update(zip(names, (option.value for option in wanted), strict=True))


def _add_equals(filters: Filters, parts: list[str], values: dict[str, Any]) -> None:
    for column in ("category", "key", "project_id", "repo_id", "agent_id", "session_id", "task_id"):
        wanted = getattr(filters, column)
        if wanted is not None:
            parts.append(f"m.{column} = :{column}")
            values[column] = wanted


def _add_times(filters: Filters, parts: list[str], values: dict[str, Any]) -> None:
    if filters.since is not None:
        parts.append("m.created_at >= :since")
        values["since"] = micros(filters.since)
    if filters.until is not None:
        parts.append("m.created_at < :until")
        values["until"] = micros(filters.until)
    if filters.alive_at is not None:
        parts.append("(m.expires_at IS NULL OR m.expires_at > :alive_at)")
        values["alive_at"] = micros(filters.alive_at)


def _add_reach(filters: Filters, parts: list[str], values: dict[str, Any]) -> None:
    """The current project and repo, what is global, and the reader's own agent and session memories."""
    near: list[str] = []
    if filters.reach_project is not None:
        near.append("m.project_id = :reach_project")
        values["reach_project"] = filters.reach_project
    if filters.reach_repo is not None:
        near.append("m.repo_id = :reach_repo")
        values["reach_repo"] = filters.reach_repo
    if near:
        near.append("m.scope = 'global'")
        near.append("(m.scope IN ('agent', 'session') AND m.agent_id = :reader)")
        parts.append("(" + " OR ".join(near) + ")")
