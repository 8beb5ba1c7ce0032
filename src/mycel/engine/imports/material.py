"""What readers are given: files by their names and rows of databases, wherever these lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """A file by its name below the whole, with `/` between folders. `problem` says why it cannot be opened."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    problem: str | None = None

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def base(self) -> str:
        return PurePosixPath(self.name).name

    @property
    def folder(self) -> str:
        above = str(PurePosixPath(self.name).parent)
        return "" if above == "." else above


class ForeignTables(Protocol):
    """A database of another program, only read."""

    def columns(self, table: str) -> Sequence[str]:
        """Empty where there is no such table."""
        ...

    def rows(self, table: str, columns: Sequence[str], *, order_by: str) -> Iterator[Mapping[str, Any]]: ...


class Material(Protocol):
    @property
    def name(self) -> str:
        """Of the file or folder itself."""
        ...

    @property
    def is_folder(self) -> bool:
        """Whether it may hold many files: a folder, or a packed one."""
        ...

    def entries(self) -> Sequence[Entry]:
        """Every file, in the order of their names."""
        ...

    def tables(self) -> ForeignTables | None:
        """None where it is no database."""
        ...


MAX_TEXT_BYTES = 16 * 1024 * 1024
HEAD_BYTES = 64 * 1024


class Unreadable(Exception):
    """Why the text of a file cannot be had."""


def text_of(entry: Entry, *, most: int = MAX_TEXT_BYTES) -> str:
    """A whole file as text; raises `Unreadable`."""
    if entry.problem is not None:
        raise Unreadable(entry.problem)
    try:
        with entry.open() as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or 'damaged'}") from error
    if len(raw) > most:
        raise Unreadable(f"is larger than {most:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("is not text in UTF-8") from None


def head_of(entry: Entry) -> bytes:
    """How a file begins, to see what it is."""
    if entry.problem is not None:
        return b""
    try:
        with entry.open() as file:
            return file.read(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")
    except OSError:
        return b""
