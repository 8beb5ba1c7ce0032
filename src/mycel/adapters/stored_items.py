"""A LangGraph item as a memory: its value, its time to live and when it was written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from mycel.adapters.json_content import REST, readable, texts_in, value_of
from mycel.contracts.memory_fields import ChangedFields, MemoryFields
from mycel.domain.draft import first_sentence
from mycel.domain.fields import lifetime, one_line
from mycel.domain.hidden_text import program_text
from mycel.domain.marks import without_marks
from mycel.domain.memory import Memory

# Names in the metadata: the time to live as it was given; when the value was written, once a read has renewed that
# time; and that the item is not to be ranked.
TTL, WRITTEN_AT, UNRANKED = "ttl_minutes", "written_at", "unranked"
_OURS = frozenset({REST, TTL, WRITTEN_AT, UNRANKED})
# Each renewal is a version: a read so soon after the last one makes none.
RENEWED_AFTER = 0.01
# What an object is called that somebody has made a plain text of.
PLAIN = "content"


class NewItem(NamedTuple):
    """A value that was checked and can be written."""

    content: str
    title: str
    metadata: dict[str, Any]
    ttl: timedelta | None

    def fields(self) -> MemoryFields:
        return {"title": self.title, "metadata": self.metadata, "ttl": self.ttl}

    def over(self, standing: Memory) -> ChangedFields:
        """What others have noted in the metadata stays."""
        others = {name: kept for name, kept in without_marks(standing.metadata).items() if name not in _OURS}
        return {**self.fields(), "content": self.content, "metadata": {**others, **self.metadata}}


def new_item(value: Mapping[str, Any], *, key: str, ttl_minutes: float | None, ranked: bool) -> NewItem:
    """Raises `InvalidInput` for what is no JSON object, and for a time to live that is none."""
    spots = [(name,) for name in value] if len(value) == 1 else []
    content, metadata, shown = readable(value, spots=spots, field="value")
    if ttl_minutes is not None:
        metadata[TTL] = ttl_minutes
    if not ranked:
        metadata[UNRANKED] = True
    said = next((text for text in texts_in(shown) if text.strip()), "")
    title = one_line(first_sentence(f"{key}: {one_line(said)}" if REST not in metadata else content))
    ttl = None if ttl_minutes is None else lifetime(ttl_minutes * 60)
    return NewItem(content, title or "item", metadata, ttl)


def value_in(memory: Memory) -> dict[str, Any]:
    found = value_of(memory)
    return {PLAIN: program_text(memory.content)} if found is None else found


def written_at(memory: Memory) -> datetime:
    kept = memory.metadata.get(WRITTEN_AT)
    try:
        return datetime.fromisoformat(kept) if isinstance(kept, str) else memory.updated_at
    except ValueError:
        return memory.updated_at


def renewal(memory: Memory) -> ChangedFields | None:
    """What gives an item that was read its whole time to live again; None where there is nothing to do."""
    minutes = memory.metadata.get(TTL)
    if memory.expires_at is None or not isinstance(minutes, int | float):
        return None
    ttl = timedelta(minutes=minutes)
    # Also when the clock here is far from that of the store.
    if abs(datetime.now(UTC) + ttl - memory.expires_at) < ttl * RENEWED_AFTER:
        return None
    metadata = {**without_marks(memory.metadata), WRITTEN_AT: written_at(memory).isoformat()}
    return {"ttl": ttl, "metadata": metadata, "expected_version": memory.version}
