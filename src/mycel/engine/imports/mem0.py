"""mem0: what `get_all` gives, pages of its platform, and the history table of a local store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mycel.engine.imports.json_stream import Cut, elements
from mycel.engine.imports.material import Entry, ForeignTables
from mycel.engine.imports.records import Found, Left, Remembered, Warned
from mycel.engine.imports.values import cut_in, filled, in_parts, label, mapping, moment, tags, text

# What `get_all` gives unless asked for more.
USUAL_PAGE = 20
_WHO = ("user_id", "agent_id", "run_id", "actor_id", "app_id", "role")
_HISTORY = ("memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted", "actor_id")


def recognises(value: object) -> bool:
    one = mapping(value)
    return isinstance(one.get("memory"), str) and "id" in one


def read(entry: Entry) -> Iterator[Found]:
    read = 0
    count: object = None
    further: object = None
    with entry.open() as file:
        try:
            for element in elements(file):
                if element.name == "count":
                    count = element.value
                elif element.name == "next":
                    further = element.value
                elif element.name in ("", "results", "memories"):
                    read += 1
                    yield from _read(element.value, element.problem, f"record {element.number}")
        except Cut:
            yield cut_in(entry.name)
    if further:
        yield Warned(f"{entry.name} is one page: it names a next one, which is not here")
    elif isinstance(count, int) and count > read:
        yield Warned(f"{entry.name} says that there are {count} memories and holds {read}")
    elif count is None and read == USUAL_PAGE:
        yield Warned(f"{entry.name} holds exactly {USUAL_PAGE}, which `get_all` gives unless asked for more: maybe cut")


def _read(value: object, problem: str | None, where: str) -> Iterator[Found]:
    one = mapping(value)
    id, said = label(one.get("id")), text(one.get("memory"))
    if problem or not id or not said:
        reason = problem or ("has no id" if not id else "has no text")
        yield Left("memory", where, reason, refused=True)
        return
    yield from in_parts(Remembered("memory", id, said, _fields(one)))


def _fields(one: Mapping[str, Any]) -> dict[str, Any]:
    beside = mapping(one.get("metadata"))
    own = filled(**{name: one.get(name) for name in _WHO}, **({"metadata": dict(beside)} if beside else {}))
    return filled(
        tags=tags(one.get("categories")),
        session_id=label(one.get("run_id")),
        observed_at=moment(one.get("created_at")),
        expires_at=moment(one.get("expiration_date")),
        metadata={**own, **_times(one)},
    )


def _times(one: Mapping[str, Any]) -> dict[str, Any]:
    return filled(source_updated_at=moment(one.get("updated_at")))


def has_history(tables: ForeignTables) -> bool:
    return {"memory_id", "old_memory", "new_memory", "event"} <= set(tables.columns("history"))


def read_history(tables: ForeignTables) -> Iterator[Found]:
    """Of each memory the last state that its history tells; the rows before it count as skipped."""
    columns = [name for name in _HISTORY if name in set(tables.columns("history"))]
    latest: dict[str, Mapping[str, Any]] = {}
    for row in tables.rows("history", columns, order_by="rowid"):
        id = text(row.get("memory_id"))
        if not id:
            yield Left("history", "a row", "names no memory", refused=True)
            continue
        if id in latest:
            yield Left("history", id, "a later row tells what became of it")
        latest[id] = row
    for id, row in latest.items():
        if row.get("is_deleted") or row.get("event") == "DELETE" or not text(row.get("new_memory")):
            yield Left("history", id, "was deleted there")
            continue
        metadata = {**filled(actor_id=row.get("actor_id")), **_times(row)}
        fields = filled(observed_at=moment(row.get("created_at")), metadata=metadata)
        yield from in_parts(Remembered("history", id, text(row["new_memory"]), fields))
