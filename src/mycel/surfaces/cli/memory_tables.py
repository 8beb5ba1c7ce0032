"""Memories as files for people and other tools: markdown to read, CSV for spreadsheets, JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from mycel.domain.fields import MAX_PAGE
from mycel.surfaces.cli.output import one_line, visible
from mycel.wire.shapes import to_json

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.memory import Memory

# What a spreadsheet takes for the beginning of a formula; it also looks behind white space.
_FORMULA = frozenset("=+-@|%\uff1d\uff0b\uff0d\uff20")
_CSV_COLUMNS = (
    *("id", "team", "type", "status", "title", "content", "summary", "category", "key", "path", "tags", "scope"),
    *("project_id", "repo_id", "agent_id", "session_id", "task_id", "visibility", "confidence", "trust"),
    *("source_kind", "made_by", "created_at", "updated_at", "observed_at", "expires_at", "version", "rationale"),
)


class TableFormat(StrEnum):
    MARKDOWN = "markdown"
    CSV = "csv"
    NDJSON = "ndjson"


def listed(memory: MemoryApi, **filters: Any) -> Iterator[Memory]:
    """All that the filters leave, the oldest first, page by page."""
    cursor: str | None = None
    while True:
        page = memory.list(order_by="created_at", limit=MAX_PAGE, cursor=cursor, **filters)
        yield from page
        cursor = page.next_cursor
        if cursor is None:
            return


def rendered(memories: Iterable[Memory], format: TableFormat) -> Iterator[bytes]:
    """Piece by piece: however many there are, no more than one is held."""
    return _RENDERERS[format](memories)


def _markdown(memories: Iterable[Memory]) -> Iterator[bytes]:
    for memory in memories:
        about = [memory.type.value, memory.path, memory.agent_id, memory.created_at.date().isoformat(), memory.id]
        tags = " ".join(f"#{tag}" for tag in memory.tags)
        parts = [f"## {one_line(memory.title)}", f"*{one_line(' · '.join([*about, *([tags] if tags else [])]))}*"]
        parts.append(visible(memory.content).strip())
        if memory.rationale:
            parts.append(f"**Because** {visible(memory.rationale).strip()}")
        yield ("\n\n".join(parts) + "\n\n---\n\n").encode()


def _csv(memories: Iterable[Memory]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(_CSV_COLUMNS)
    for memory in memories:
        writer.writerow([_cell(getattr(memory, name)) for name in _CSV_COLUMNS])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def _cell(value: object) -> object:
    """As a spreadsheet may open it: text stays text, whatever it begins with."""
    if isinstance(value, tuple):
        value = "; ".join(str(one) for one in cast(tuple[object, ...], value))
    if isinstance(value, datetime):
        value = value.isoformat()
    if not isinstance(value, str):
        return "" if value is None else value
    shown = visible(value)
    return f"'{shown}" if shown.lstrip()[:1] in _FORMULA or shown[:1] in {"\t", "\r", "\n"} else shown


def _ndjson(memories: Iterable[Memory]) -> Iterator[bytes]:
    for memory in memories:
        yield to_json(memory) + b"\n"


_RENDERERS: dict[TableFormat, Callable[[Iterable[Memory]], Iterator[bytes]]] = {
    TableFormat.MARKDOWN: _markdown,
    TableFormat.CSV: _csv,
    TableFormat.NDJSON: _ndjson,
}
