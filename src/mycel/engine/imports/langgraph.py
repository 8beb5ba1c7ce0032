"""Stores of LangGraph: rows of a namespace, a key and a JSON value, from SQLite or written out from Postgres."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mycel.engine.imports.json_stream import Element, parsed
from mycel.engine.imports.material import ForeignTables
from mycel.engine.imports.records import Found, Left, Remembered
from mycel.engine.imports.values import filled, in_parts, label, listed, mapping, moment, tags, text

COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
# Where such values usually keep their text; otherwise the value itself is shown.
_TEXTS = ("content", "text", "memory", "data", "value", "fact")


def has_store(tables: ForeignTables) -> bool:
    return {"prefix", "key", "value"} <= set(tables.columns("store"))


def recognises(value: object) -> bool:
    one = mapping(value)
    return ("prefix" in one or "namespace" in one) and "key" in one and "value" in one


def read_tables(tables: ForeignTables) -> Iterator[Found]:
    columns = [name for name in COLUMNS if name in set(tables.columns("store"))]
    for row in tables.rows("store", columns, order_by="rowid"):
        yield from _row(row)


def read_element(element: Element, where: str) -> Iterator[Found]:
    if element.problem is not None or not recognises(element.value):
        yield Left("item", where, element.problem or "is no row of a store", refused=True)
    else:
        yield from _row(mapping(element.value))


def _row(row: Mapping[str, Any]) -> Iterator[Found]:
    parts = [str(part) for part in listed(row.get("namespace"))]
    prefix = ".".join(parts) if parts else text(row.get("prefix") or row.get("namespace"))
    key = text(row.get("key"))
    id = f"{prefix}/{key}"
    if not key:
        yield Left("item", id, "has no key", refused=True)
        return
    try:
        value: Any = parsed(row["value"]) if isinstance(row["value"], str | bytes) else row["value"]
    except ValueError as error:
        yield Left("item", id, str(error), refused=True)
        return
    said = _said(value)
    if not said:
        yield Left("item", id, "holds no text")
        return
    created = moment(row.get("created_at"))
    is_shown = said == _shown(value)
    beside = filled(namespace=prefix, key=key, source_updated_at=moment(row.get("updated_at")))
    others = {name: one for name, one in mapping(value).items() if name not in _TEXTS}
    metadata = {**beside, **({"value": others} if others and not is_shown else {})}
    fields = filled(
        tags=tags(parts or prefix.replace(".", ",")),
        observed_at=created,
        expires_at=moment(row.get("expires_at")),
        # A value that is shown as it is begins with a bracket.
        title=label(mapping(value).get("title")) or (label(key) if is_shown else None),
        metadata=metadata,
    )
    yield from in_parts(Remembered("item", id, said, fields))


def _said(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    one = mapping(value)
    for name in _TEXTS:
        inner = one.get(name)
        if text(inner):
            return text(inner)
        # As the memory tools of LangMem keep it: `{"kind": …, "content": {"content": …}}`.
        if isinstance(inner, Mapping) and (found := _said(inner)):
            return found
    return _shown(value)


def _shown(value: Any) -> str:
    return "" if value in (None, {}, []) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
