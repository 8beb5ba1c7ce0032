"""Bytes that a mount holds itself: notes while somebody writes them, and files that are no notes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from mycel.domain.ids import new_id
from mycel.errors import StorageFull, TooLarge
from mycel.surfaces.vault.names import is_hidden
from mycel.surfaces.vault.scan import MAX_FILE_BYTES

# Editors leave a few small files about; nobody stores a disk here.
MAX_HELD_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class HeldFile:
    file: str
    content: bytearray = field(default_factory=bytearray)
    # Of the memory whose note it is; of one that an editor put aside under another name, whose note it was.
    id: str | None = None
    # What the note was called before it was put aside.
    was: str | None = None
    is_dirty: bool = False
    # It was told what is wrong with these very bytes.
    is_refused: bool = False
    writers: int = 0
    modified_ns: int = field(default_factory=time.time_ns)
    # Whoever saves a new note again, after an answer that got lost, says the same key.
    key: str = field(default_factory=new_id)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether somebody would miss it: no editor's own file, and no note that a memory has."""
        is_own = is_hidden(self.file.rpartition("/")[2]) or self.file.endswith("~")
        return bool(self.content.strip()) and not is_own and (self.id is None or self.is_dirty)

    def touch(self) -> None:
        self.is_dirty, self.is_refused = True, False
        self.modified_ns = time.time_ns()


class HeldFiles(dict[str, HeldFile]):
    """By their names."""

    def write(self, held: HeldFile, data: bytes, offset: int) -> int:
        end = offset + len(data)
        self._require_room(held, end)
        if len(held.content) < offset:
            held.content.extend(bytes(offset - len(held.content)))
        held.content[offset:end] = data
        held.touch()
        return len(data)

    def truncate(self, held: HeldFile, length: int) -> None:
        self._require_room(held, length)
        del held.content[length:]
        held.content.extend(bytes(length - len(held.content)))
        held.touch()

    def _require_room(self, held: HeldFile, size: int) -> None:
        if size > MAX_FILE_BYTES:
            raise TooLarge(f"a note has at most {MAX_FILE_BYTES:,} bytes")
        if size > len(held.content) and sum(len(one.content) for one in self.values()) + size > MAX_HELD_BYTES:
            raise StorageFull("a mount keeps notes; too many other files lie there")
