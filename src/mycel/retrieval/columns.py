"""The texts of a memory that are searched by words."""

from __future__ import annotations

from mycel.domain.memory import Memory
from mycel.domain.words import IndexedText
from mycel.retrieval.analysis import index_text


def index_texts(*, title: str, content: str, summary: str | None = None, tags: tuple[str, ...] = ()) -> IndexedText:
    return IndexedText(
        index_text(title),
        index_text(summary) if summary else "",
        index_text(content),
        index_text(" ".join(tags)) if tags else "",
    )


def indexed_text(memory: Memory) -> IndexedText:
    return index_texts(title=memory.title, content=memory.content, summary=memory.summary, tags=memory.tags)
