"""The database files that this process has open. Nothing but SQLite may open and close them here.

POSIX drops all locks that a process holds on a file as soon as the process closes any descriptor of that file. A plain
read of a database or of its `-shm` therefore takes SQLite's locks away: another process then believes itself alone,
truncates `-shm`, and this process dies with SIGBUS or damages the database (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

ENDINGS = ("", "-wal", "-shm", "-journal")


class _Name(NamedTuple):
    """A database by its folder, so that two ways to one folder lead to the same file."""

    device: int
    folder: int
    name: str


class HeldFile:
    """A database that one connection has open. Release it after the connection was closed."""

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        self._name = _name_of(self._path)
        self._is_held = True
        with _changing:
            _held[self._name] += 1
            _paths[self._name] = self._path

    def release(self) -> None:
        """Count this connection no longer; a second call does nothing."""
        with _changing:
            if not self._is_held:
                return
            self._is_held = False
            _held[self._name] -= 1
            if not _held[self._name]:
                del _held[self._name], _paths[self._name]


@contextmanager
def nobody_opens(path: Path) -> Generator[bool]:
    """Yield whether no connection of this process has the database open; none is opened until the block ends.

    The block must be short: every other connection that is about to be opened waits for it.
    """
    name = _name_of(Path(os.path.realpath(path)))
    with _changing:
        yield name not in _held


def is_held(found: os.stat_result) -> bool:
    """Whether a file, under whatever name, belongs to a database that this process has open."""
    with _changing:
        paths = list(_paths.values())
    for path in paths:
        for ending in ENDINGS:
            try:
                known = os.stat(f"{path}{ending}")  # noqa: PTH116 - asked for every file of a folder
            except OSError:
                continue
            if os.path.samestat(known, found):
                return True
    return False


def open_unheld(path: Path) -> BinaryIO:
    """Open a file that somebody named for reading. Raises `OSError` for one of a database that is open here."""
    if is_held(path.stat()):
        raise OSError(errno.EBUSY, "it belongs to a database that is in use", str(path))
    return path.open("rb")


def _name_of(path: Path) -> _Name:
    try:
        folder = path.parent.stat()
    except OSError:
        return _Name(0, 0, str(path))
    return _Name(folder.st_dev, folder.st_ino, path.name)


_changing = threading.Lock()
_held: Counter[_Name] = Counter()
_paths: dict[_Name, Path] = {}


def _renew_lock() -> None:
    """Give a child a lock of its own: another thread of the parent may have held the old one."""
    global _changing  # noqa: PLW0603 - one for the whole process
    _changing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
