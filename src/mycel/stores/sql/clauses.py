"""Read scopes and filters as SQL conditions. Values are always bound; only column names are written here."""

from __future__ import annotations

import json
from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.memory import Status
from mycel.domain.query import Filters
from mycel.stores.sql.rows import micros

Clause = tuple[str, dict[str, Any]]


_TIMES = (
    ("since", "{t}.created_at >= :{name}"),
    ("until", "{t}.created_at < :{name}"),
    ("alive_at", "({t}.expires_at IS NULL OR {t}.expires_at > :{name})"),
    ("expired_at", "{t}.expires_at <= :{name}"),
    ("believed_at", "{t}.valid_from <= :{name}"),
    (
        "valid_at",
        "({t}.holds_from IS NULL OR {t}.holds_from <= :{name})"
        " AND ({t}.holds_until IS NULL OR {t}.holds_until >= :{name})",
    ),
)


def visible(scope: ReadScope, table: str = "m", *, prefix: str = "") -> Clause:
    """What this scope may see of rows that carry an audience; agrees with `ReadScope.sees`."""
    columns = f"{table}.{prefix}" if table else prefix
    # Bound in any case: what is in reach may depend on it as well.
    values: dict[str, Any] = {"reader": scope.member_id}
    if scope.everything:
        return "true", values
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
        return "true", {}
    # '0' is the character after '/'.
    return (
        f"({column} = :{name} OR ({column} >= :{name}_below AND {column} < :{name}_after))",
        {name: path, f"{name}_below": f"{path}/", f"{name}_after": f"{path}0"},
    )


def matching(filters: Filters, table: str = "m", *, past: bool = False, found: bool = False) -> Clause:
    """Conditions on rows of memories under any name, or with `past` on their versions.

    Rows that something else has `found` are only checked: no filter may lead to them a second time.
    """
    parts: list[str] = [f"{table}.deleted_at IS {'NOT NULL' if filters.deleted else 'NULL'}"]
    values: dict[str, Any] = {}
    if filters.knowledge:
        parts.append(f"{table}.key IS NOT NULL AND {table}.type <> 'profile'")
        # Said in constants as well, so that the index of standing values can serve it.
        parts.extend([f"{table}.status = 'active'"] if filters.statuses == (Status.ACTIVE,) else [])
    if filters.taught:
        # In constants, so that its index can serve it.
        parts.append(f"{table}.made_by = 'inject_learning' AND {table}.status = 'active'")
    _add_options(filters, table, parts, values)
    _add_equals(filters, table, parts, values)
    _add_times(filters, table, parts, values)
    _add_reach(filters, table, parts, values)
    if filters.path != "/":
        path_part, path_values = below(filters.path, f"{table}.path")
        parts.append(path_part)
        values |= path_values
    if filters.not_by:
        parts.append(f"{table}.agent_id NOT IN (SELECT value FROM json_each(:not_by))")
        values["not_by"] = json.dumps(filters.not_by)
    for index, tag in enumerate(filters.tags):
        parts.append(_tagged(table, f":tag{index}", past=past, found=found))
        values[f"tag{index}"] = tag
    return " AND ".join(parts), values


def _tagged(table: str, tag: str, *, past: bool, found: bool) -> str:
    if found:
        return f"EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = {tag} AND t.number = +{table}.number)"
    if not past:
        return f"{table}.number IN (SELECT number FROM memory_tags WHERE tag = {tag})"
    return f"EXISTS (SELECT 1 FROM json_each({table}.tags) WHERE value = {tag})"


def _add_options(filters: Filters, table: str, parts: list[str], values: dict[str, Any]) -> None:
    options = {"status": filters.statuses, "type": filters.types, "scope": filters.scopes}
    for column, wanted in options.items():
        if wanted:
            names = [f"{column}{index}" for index in range(len(wanted))]
            parts.append(f"{table}.{column} IN ({', '.join(f':{name}' for name in names)})")
            values.update(zip(names, (option.value for option in wanted), strict=True))


def _add_equals(filters: Filters, table: str, parts: list[str], values: dict[str, Any]) -> None:
    equal = {name: getattr(filters, name) for name in ("category", "key", "agent_id", "session_id", "task_id")}
    equal |= {"project_id": filters.project_id, "repo_id": filters.repo_id, "path": filters.at_path}
    for column, wanted in equal.items():
        if wanted is not None:
            parts.append(f"{table}.{column} = :equal_{column}")
            values[f"equal_{column}"] = wanted


def _add_times(filters: Filters, table: str, parts: list[str], values: dict[str, Any]) -> None:
    for name, condition in _TIMES:
        bound = getattr(filters, name)
        if bound is not None:
            parts.append(condition.format(t=table, name=name))
            values[name] = micros(bound)


def _add_reach(filters: Filters, table: str, parts: list[str], values: dict[str, Any]) -> None:
    """The current project and repo, what is linked to them, what is global, and the reader's own."""
    near: list[str] = []
    places = (("project", filters.reach_project), ("repo", filters.reach_repo))
    for kind, name in places:
        if name is not None:
            near.append(f"{table}.{kind}_id = :reach_{kind}")
            near.append(f"{table}.id IN (SELECT from_id FROM memory_links WHERE to_id = :reach_{kind}_place)")
            values |= {f"reach_{kind}": name, f"reach_{kind}_place": f"{kind}:{name}"}
    if near:
        near.append(f"{table}.scope = 'global'")
        near.append(f"({table}.scope IN ('agent', 'session') AND {table}.agent_id = :reader)")
        parts.append("(" + " OR ".join(near) + ")")
