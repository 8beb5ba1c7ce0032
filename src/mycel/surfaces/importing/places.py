"""A file, a folder or a packed folder as readers see it: nothing outside is reached, nothing is unpacked to disk."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from mycel.engine.imports.material import Entry, ForeignTables
from mycel.errors import InvalidInput, NotFound
from mycel.held_files import open_unheld
from mycel.stores.sqlite.foreign_database import MAGIC, ForeignDatabase

MAX_FILES = 200_000
# Text packs to a tenth; what unpacks to far more was made to fill a disk or memory.
MAX_RATIO = 200
FREE_BYTES = 64 * 1024 * 1024
# Folders that hold no memory: settings, versions and what was thrown away.
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "__MACOSX"})


class Place:
    """See `engine.imports.material.Material`. A context, since a database stays open meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:
            raise NotFound(f"there is no file or folder {path.name!r}") from error
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InvalidInput("must be a file or a folder", field="from")
        self._is_directory = stat.S_ISDIR(mode)
        self._database: ForeignDatabase | None = None
        self._head = b"" if self._is_directory else _head(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def origin(self) -> str:
        """What the whole goes by: its name without what says its form."""
        return self.path.resolve().stem if not self._is_directory else self.name

    @property
    def is_packed(self) -> bool:
        return self._head.startswith(b"PK")

    @property
    def is_folder(self) -> bool:
        return self._is_directory or self.is_packed

    def tables(self) -> ForeignTables | None:
        if self._database is None and self._head.startswith(MAGIC):
            self._database = ForeignDatabase(self.path)
        return self._database

    def entries(self) -> Sequence[Entry]:
        return self._entries

    @cached_property
    def _entries(self) -> Sequence[Entry]:
        if self._is_directory:
            found = list(_walk(self.path))
        elif self.is_packed:
            found = list(_packed(self.path))
        else:
            found = [_file(self.path, self.path.name)]
        return sorted(found, key=lambda entry: entry.name)


def _head(path: Path) -> bytes:
    try:
        with open_unheld(path) as file:
            return file.read(len(MAGIC))
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}", field="from") from error


def _file(path: Path, name: str) -> Entry:
    about = path.stat()
    return Entry(name, about.st_size, lambda: open_unheld(path))


def _walk(root: Path) -> Iterator[Entry]:
    """Links are not followed, whatever they lead to, and neither pipes nor devices are opened."""
    number = 0
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            inside = sorted(os.scandir(folder), key=lambda one: one.name)
        except OSError as error:
            yield _unreadable(_name(folder, root), f"cannot be read: {error.strerror}")
            continue
        for one in inside:
            if one.name.startswith(".") or one.name in _PASSED_OVER:
                continue
            number += 1
            if number > MAX_FILES:
                raise InvalidInput(f"holds more than {MAX_FILES:,} files", field="from")
            path = Path(one.path)
            if one.is_symlink():
                yield _unreadable(_name(path, root), "is a link, which is not followed")
            elif one.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif one.is_file(follow_symlinks=False):
                yield _file(path, _name(path, root))
            else:
                yield _unreadable(_name(path, root), "is no file")


def _name(path: Path, root: Path) -> str:
    """As text that can be stored, also where the file system has bytes that are none."""
    return os.fsencode(path.relative_to(root)).decode("utf-8", "replace").replace(os.sep, "/")


def _unreadable(name: str, problem: str) -> Entry:
    return Entry(name, 0, _nothing, problem=problem)


@contextmanager
def _nothing() -> Generator[IO[bytes]]:
    raise OSError("cannot be read")
    yield


def _packed(path: Path) -> Iterator[Entry]:
    """Names inside are only names: nothing is written anywhere."""
    try:
        with zipfile.ZipFile(path) as packed:
            inside = packed.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot be read as a zip file: {error}", field="from") from error
    if len(inside) > MAX_FILES:
        raise InvalidInput(f"holds more than {MAX_FILES:,} files", field="from")
    unpacked = sum(one.file_size for one in inside)
    if unpacked > max(FREE_BYTES, MAX_RATIO * path.stat().st_size):
        raise InvalidInput(
            f"unpacks to {unpacked:,} bytes, more than {MAX_RATIO} times its size: text never packs so well, "
            "and nothing of it was read",
            field="from",
        )
    for one in inside:
        name = one.filename.replace("\\", "/").lstrip("/")
        parts = name.split("/")
        if one.is_dir() or any(part.startswith(".") and part not in {".", ".."} for part in parts):
            continue
        if parts[0] in _PASSED_OVER:
            continue
        if ".." in parts or stat.S_ISLNK(one.external_attr >> 16):
            yield _unreadable(name, "leads out of the file, which is not followed")
        elif one.flag_bits & 0x1:
            yield _unreadable(name, "is encrypted")
        else:
            yield Entry(name, one.file_size, _opening(path, one))


def _opening(path: Path, info: zipfile.ZipInfo) -> Callable[[], AbstractContextManager[IO[bytes]]]:
    most = max(FREE_BYTES, MAX_RATIO * info.compress_size)

    @contextmanager
    def opened() -> Generator[IO[bytes]]:
        try:
            with zipfile.ZipFile(path) as packed, packed.open(info) as file:
                yield cast("IO[bytes]", _Bounded(file, most))
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise OSError(None, "the packed file is damaged") from error

    return opened


class _Bounded:
    """Reads no more than so many bytes."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._left = most

    def read(self, size: int = -1) -> bytes:
        return self._counted(self._file.read(size if 0 <= size <= self._left else self._left + 1))

    def readline(self, size: int = -1) -> bytes:
        return self._counted(self._file.readline(size if 0 <= size <= self._left else self._left + 1))

    def _counted(self, part: bytes) -> bytes:
        self._left -= len(part)
        if self._left < 0:
            raise OSError(None, f"unpacks to more than {MAX_RATIO} times its size")
        return part
