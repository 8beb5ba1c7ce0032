"""The texts of a memory that are searched by words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mycel.domain.indexed_words import IndexedText
from mycel.domain.memory import Memory
from mycel.retrieval.analysis import index_text


def index_values(values: Mapping[str, Any]) -> IndexedText:
    """Of a memory's fields by their names, of which some may be missing."""
    summary, labels = values.get("summary"), labels_of(values)
    return IndexedText(
        index_text(values["title"]),
        index_text(summary) if summary else "",
        index_text(values["content"]),
        index_text(labels) if labels else "",
    )


def indexed_text(memory: Memory) -> IndexedText:
    return index_values(vars(memory))


def labels_of(values: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (*values.get("tags", ()), values.get("category"), values.get("key"))))
