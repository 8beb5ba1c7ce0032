"""The session of the OpenAI Agents SDK, on a team's memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from mycel.adapters.json_content import Spot, readable, texts_in, value_of
from mycel.adapters.shelf import PAGE, Shelf, missing_package, path_of
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.draft import first_sentence
from mycel.domain.fields import MAX_ITEMS, label, one_line
from mycel.domain.memory import Memory, Scope
from mycel.errors import InvalidInput

try:
    from agents.memory import SessionSettings
except ImportError as error:
    raise missing_package("openai-agents", error) from error

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

FOLDER = "/sessions"
TAG = "openai-session"
# Where an item has its text, as one text or as a list with one part; the first of them is its content.
_TEXTS = ("content", "output", "summary")
_ARGUMENTS: Spot = ("arguments",)


class MycelSession:
    """Each item of the conversation is one memory at `folder/session_id`, in the order in which they were added.

    Items that one call adds stay together, whoever else adds some at the same time. What is popped or cleared can be
    restored as any memory.
    """

    def __init__(
        self,
        session_id: str,
        memory: MemoryApi,
        *,
        folder: str = FOLDER,
        project: str | None = None,
        visibility: str = "team",
        tags: Sequence[str] = (),
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._shelf = Shelf(
            memory,
            folder=folder,
            tag=TAG,
            project=project,
            visibility=visibility,
            tags=tags,
            session_id=label(session_id, field="session_id"),
            scope=Scope.SESSION.value,
        )
        self._path = path_of(self._shelf.folder, (session_id,))

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest `limit` of them, or all; the oldest first."""
        most = limit
        if most is None and self.session_settings is not None:
            most = self.session_settings.limit
        return await asyncio.to_thread(self._latest, most)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """All of them or none, up to 1000 at once."""
        new = [self._new(cast(Mapping[str, Any], item)) for item in items]
        for start in range(0, len(new), MAX_ITEMS):
            await asyncio.to_thread(self._shelf.memory.save_many, new[start : start + MAX_ITEMS])

    async def pop_item(self) -> TResponseInputItem | None:
        """Each item is popped once, whoever else pops at the same time."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self._clear)

    def _newest_first(self, *, page: int = PAGE) -> Iterator[Memory]:
        there = self._shelf.walk(self._path, order_by="-created_at", page=page)
        return (memory for memory in there if memory.path == self._path)

    def _latest(self, limit: int | None) -> list[TResponseInputItem]:
        most = None if limit is None or limit < 0 else limit
        page = PAGE if most is None else min(max(most, 1), PAGE)
        found = (value for memory in self._newest_first(page=page) if (value := value_of(memory)) is not None)
        return cast("list[TResponseInputItem]", list(islice(found, most))[::-1])

    def _pop(self) -> TResponseInputItem | None:
        while (last := next(self._newest_first(page=1), None)) is not None:
            # What somebody has made plain text of is no item any more, and goes.
            if self._shelf.remove(last) and (item := value_of(last)) is not None:
                return cast("TResponseInputItem", item)
        return None

    def _clear(self) -> None:
        for memory in list(self._newest_first()):
            self._shelf.remove(memory)

    def _new(self, item: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(item, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput("must be an object of names and values", field="item")
        content, metadata, shown = readable(item, spots=_spots(item), field="item")
        fields = self._shelf.described(self._path, {"title": _title(shown), "metadata": metadata})
        return {**fields, "content": content}


def _spots(item: Mapping[str, Any]) -> Iterator[Spot]:
    for name in _TEXTS:
        found = item.get(name)
        if isinstance(found, list) and len(cast(list[object], found)) == 1:
            yield (name, 0, "text")
        else:
            yield (name,)
    yield _ARGUMENTS


def _title(item: Mapping[str, Any]) -> str:
    """Who says what, or which tool is called."""
    who = item.get("role") or item.get("type") or "item"
    what = item.get("name") or next((text for name in _TEXTS for text in texts_in(item.get(name)) if text.strip()), "")
    return first_sentence(one_line(f"{who}: {what}"))
