"""Titles of memories that an answer only names by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from mycel.errors import NotFound

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.memory import Memory


def present(memory: MemoryApi, id: str) -> Memory:
    """As it is now; unlike `get`, looking it up this way does not count as using it."""
    return memory.history(id)[-1].memory


def titles_of(memory: MemoryApi, ids: Iterable[str]) -> dict[str, str]:
    """By id; of a memory that is gone or out of sight, the id itself."""
    found: dict[str, str] = {}
    for id in dict.fromkeys(ids):
        found[id] = id
        with suppress(NotFound):
            found[id] = present(memory, id).title
    return found
