"""The texts of a memory that are searched by words."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from mycel.domain.indexed_words import IndexedText
from mycel.domain.memory import INDEXED, Memory
from mycel.domain.memory_field import Index
from mycel.retrieval.analysis import index_text


def index_values(values: Mapping[str, Any]) -> IndexedText:
    """Of a memory's fields by their names, of which some may be missing."""
    return IndexedText(*(index_text(text) if (text := text_in(values, index)) else "" for index in Index))


def indexed_text(memory: Memory) -> IndexedText:
    return index_values(vars(memory))


def text_in(values: Mapping[str, Any], index: Index) -> str:
    """What a column of the index is made from."""
    found: list[str] = []
    for name in INDEXED[index]:
        value = values.get(name)
        if value:
            found += (value,) if isinstance(value, str) else value
    return " ".join(found) if len(found) != 1 else found[0]


def searched_values(memory: Memory) -> tuple[object, ...]:
    """The values behind the words: when they are the same, so are the words."""
    return _SEARCHED(memory)


_SEARCHED = attrgetter(*(name for names in INDEXED.values() for name in names))
