"""claude-mem: a SQLite database of observations, summaries of sessions and prompts, told by the columns it has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from mycel.engine.imports.material import ForeignTables
from mycel.engine.imports.records import Found, Left, Remembered
from mycel.engine.imports.values import filled, in_parts, label, moment, place, tags, text

_OBSERVATION = (
    *("id", "project", "type", "title", "subtitle", "text", "facts", "narrative", "concepts", "files_read"),
    *("files_modified", "prompt_number", "created_at", "created_at_epoch", "memory_session_id", "sdk_session_id"),
)
_SUMMARY = (
    *("id", "project", "request", "investigated", "learned", "completed", "next_steps", "files_read", "files_edited"),
    *("notes", "created_at", "created_at_epoch", "memory_session_id", "sdk_session_id"),
)
_TOLD = {
    "request": "Asked for",
    "investigated": "Looked at",
    "learned": "Learned",
    "completed": "Done",
    "next_steps": "Next",
    "notes": "Notes",
}
# What its sorts of observation are here.
_TYPES = {
    "decision": ("decision", "decision"),
    "bugfix": ("lesson", "mistake-pattern"),
    "discovery": ("fact", "codebase-knowledge"),
    "feature": ("fact", "codebase-knowledge"),
    "refactor": ("fact", "codebase-knowledge"),
    "change": ("fact", "codebase-knowledge"),
}


def recognises(tables: ForeignTables) -> bool:
    return {"project", "type"} <= set(tables.columns("observations")) and bool(
        tables.columns("session_summaries") or tables.columns("sdk_sessions")
    )


def read(tables: ForeignTables) -> Iterator[Found]:
    yield from _table(tables, "observations", _OBSERVATION, _observation)
    yield from _table(tables, "session_summaries", _SUMMARY, _summary)
    prompts = _known(tables, "user_prompts", ("id",))
    if prompts:
        for row in tables.rows("user_prompts", prompts, order_by="rowid"):
            yield Left("prompt", f"prompt {row.get('id')}", "what was asked is no memory; its session is summed up")


def _known(tables: ForeignTables, table: str, wanted: Sequence[str]) -> list[str]:
    there = set(tables.columns(table))
    return [name for name in wanted if name in there]


def _table(tables: ForeignTables, table: str, wanted: Sequence[str], reader: Any) -> Iterator[Found]:
    columns = _known(tables, table, wanted)
    if "id" in columns:
        for row in tables.rows(table, columns, order_by="rowid"):
            yield from reader(row)


def _observation(row: Mapping[str, Any]) -> Iterator[Found]:
    facts = _list(row.get("facts"))
    parts = [text(row.get("subtitle")), text(row.get("narrative")) or text(row.get("text"))]
    body = "\n\n".join(filter(None, [*parts, "\n".join(f"- {fact}" for fact in facts)]))
    title = text(row.get("title"))
    id = f"observation:{row['id']}"
    if not (body or title):
        yield Left("observation", id, "has no text")
        return
    type, category = _TYPES.get(text(row.get("type")), ("fact", text(row.get("type")) or None))
    beside = filled(
        observation_type=text(row.get("type")),
        files_read=_list(row.get("files_read")),
        files_modified=_list(row.get("files_modified")),
        prompt_number=row.get("prompt_number"),
    )
    fields = filled(type=type, category=label(category), title=label(title), tags=tags(_list(row.get("concepts"))))
    yield from in_parts(Remembered("observation", id, body or title, {**fields, **_place(row, beside)}))


def _summary(row: Mapping[str, Any]) -> Iterator[Found]:
    id = f"summary:{row['id']}"
    told = [f"{name}: {text(row.get(column))}" for column, name in _TOLD.items() if text(row.get(column))]
    if not told:
        yield Left("summary", id, "has no text")
        return
    beside = filled(files_read=_list(row.get("files_read")), files_edited=_list(row.get("files_edited")))
    title = label(text(row.get("request"))[:160])
    fields = filled(type="thread_summary", title=title) | _place(row, beside)
    yield from in_parts(Remembered("summary", id, "\n\n".join(told), fields))


def _place(row: Mapping[str, Any], beside: Mapping[str, Any]) -> dict[str, Any]:
    happened = moment(row.get("created_at_epoch")) or moment(row.get("created_at"))
    session = label(row.get("memory_session_id") or row.get("sdk_session_id"))
    return filled(
        project=place(row.get("project")),
        session_id=session,
        observed_at=happened,
        metadata=dict(beside),
    )


def _list(value: object) -> list[str]:
    """Lists are kept as JSON, in older rows as text with commas or lines."""
    if not isinstance(value, str) or not value.strip():
        return []
    try:
        found: object = json.loads(value)
    except (ValueError, RecursionError):
        return [one.strip("- ").strip() for one in value.replace("\n", ",").split(",") if one.strip()]
    many = cast("list[object]", found) if isinstance(found, list) else [found]
    return [str(one).strip() for one in many if isinstance(one, str | int | float) and str(one).strip()]
