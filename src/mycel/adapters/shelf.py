"""Memories that are known by their place: whatever several members or processes do at once, one stands at each path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import takewhile
from typing import Unpack
from urllib.parse import unquote

from mycel.contracts.memory_api import MemoryApi
from mycel.contracts.written_fields import ChangedFields, MemoryFields
from mycel.domain.fields import UNPRINTABLE
from mycel.domain.fields import path as checked_path
from mycel.domain.hidden_text import hides
from mycel.domain.memory import Memory, MemoryType, Status
from mycel.errors import Conflict, InvalidInput, NotFound, install_command


def missing_package(package: str, error: ImportError) -> ImportError:
    """What to raise instead of an error that names only a module."""
    text = f"this adapter needs {package}: {install_command('adapters')} ({error})"
    return ImportError(text, name=error.name, path=error.path)


# What a path cannot hold, what separates its parts, and the sign that stands for such a character.
_ODD = re.compile(rf"[%/\\{UNPRINTABLE}]|^ | $|^\.(?=\.?$)")
# The sign alone: no other text becomes this.
_EMPTY = "%"


def path_part(name: str) -> str:
    """The name itself, with `%2F` and the like for the characters that no part of a path can hold."""
    return _ODD.sub(_escaped, name) or _EMPTY


def name_of(part: str) -> str:
    return "" if part == _EMPTY else unquote(part)


def path_of(folder: str, names: tuple[str, ...]) -> str:
    return "/".join((folder.rstrip("/"), *map(path_part, names))) or "/"


def names_below(folder: str, path: str) -> tuple[str, ...]:
    """The names by which a path continues that of the folder."""
    below = path.removeprefix(folder.rstrip("/")).strip("/")
    return tuple(map(name_of, below.split("/"))) if below else ()


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode(errors="surrogatepass"))


# The engine compares and merges statements, never documents: what was put here stays as it is.
KIND = MemoryType.DOCUMENT
# What waits for a review is still there for whoever wrote it.
STATUSES = (Status.ACTIVE, Status.INBOX)
PAGE = 500
# Every try that fails is another's write that was stored.
MOST_TRIES = 500


class Shelf:
    """The memories of one tag below one folder. `fields` is what each new one is given beside its content and path."""

    def __init__(self, memory: MemoryApi, *, folder: str, tag: str, **fields: Unpack[MemoryFields]) -> None:
        self.memory = memory
        self.folder = checked_path(folder, field="folder")
        if self.folder == "/":
            raise InvalidInput("must be a folder below '/', which is everybody's", field="folder")
        self.tag = tag
        given = fields.get("tags", ())
        own = given.split(",") if isinstance(given, str) else given
        self._fields: MemoryFields = {**fields, "tags": [tag, *own]}

    # Asked once: the client has to ask the service.
    @cached_property
    def _member_id(self) -> str:
        return self.memory.member_id

    @cached_property
    def _team(self) -> str:
        return self.memory.team

    def walk(self, path: str, *, order_by: str = "path", page: int = PAGE) -> Iterator[Memory]:
        """What lies at a path and below it; of equal paths the one that was there first comes first."""
        cursor = None
        while True:
            found = self.memory.list(path=path, status=STATUSES, order_by=order_by, limit=page, cursor=cursor)
            yield from (memory for memory in found if self.holds(memory))
            cursor = found.next_cursor
            if cursor is None:
                return

    def holds(self, memory: Memory) -> bool:
        """Not what a lead reads of the teams above, nor what waits for a review and is another's."""
        if self.tag not in memory.tags or memory.path == self.folder or memory.team != self._team:
            return False
        return memory.status is Status.ACTIVE or memory.agent_id == self._member_id

    def first(self, path: str) -> Memory | None:
        """At the path or, where nothing lies right there, the next below it."""
        return next(self.walk(path, page=20), None)

    def find(self, path: str) -> Memory | None:
        found = self.first(path)
        return found if found is not None and found.path == path else None

    def below(self, path: str, *, page: int = PAGE) -> Iterator[Memory]:
        """One for each path, the oldest first."""
        seen: set[str] = set()
        for memory in self.walk(path, order_by="created_at", page=page):
            if memory.path not in seen:
                seen.add(memory.path)
                yield memory

    def add(self, path: str, content: str, fields: MemoryFields) -> Memory | None:
        """None when another has come first; then nothing is left of this one but its history."""
        saved = self.memory.save(content, **self.described(path, fields))
        first = self.find(path)
        if first is None or first.id == saved.id:
            return saved
        self.remove(saved)
        return None

    def described(self, path: str, fields: MemoryFields) -> MemoryFields:
        # A name comes back as it was given, whatever it holds: one that could steer its reader waits.
        odd: MemoryFields = {"needs_review": True} if any(map(hides, names_below(self.folder, path))) else {}
        return {**self._fields, **fields, **odd, "path": path, "type": KIND.value}

    def change(self, path: str, changed: Callable[[Memory], ChangedFields]) -> Memory | None:
        """What stands at the path as `changed` makes it; made again when another was faster. None: nothing stands."""
        for _ in range(MOST_TRIES):
            standing = self.find(path)
            if standing is None:
                return None
            try:
                fields = changed(standing)
                return self.memory.update(standing.id, **{**fields, "expected_version": standing.version})
            except (Conflict, NotFound):
                continue
        raise Conflict("others write here all the time: try again later")

    def remove(self, memory: Memory) -> bool:
        """False when it was gone already."""
        try:
            self.memory.delete(memory.id)
        except NotFound:
            return False
        return True

    def clear(self, path: str) -> int:
        """Right at the path, also what was hidden behind another; how many there were."""
        there = list(takewhile(lambda memory: memory.path == path, self.walk(path, page=20)))
        return sum(self.remove(memory) for memory in there)
