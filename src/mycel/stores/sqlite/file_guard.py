"""Whether the files that a process has open are still those that their names lead to.

A process goes on writing into a file that somebody has unlinked, renamed or replaced, and nobody ever finds what it
wrote. Looking at the names costs microseconds, so that no write is acknowledged without it.
"""

from __future__ import annotations

import ctypes
import os
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

import apsw

ENDINGS = {"": "file", "-wal": "write-ahead log", "-shm": "shared index"}


class Identity(NamedTuple):
    device: int
    inode: int


class Kind(Enum):
    """What has changed."""

    # The database itself is another file by now, or none.
    MOVED = auto()
    # One beside it is gone; nobody else has opened the database since, or it would be there again.
    BESIDE = auto()
    # One beside it is that of somebody else, who knows nothing of ours.
    FOREIGN = auto()
    SHORTER = auto()


class Change(NamedTuple):
    kind: Kind
    what: str


class FileGuard:
    """Knows nothing until the first connection is open: SQLite makes the files beside the database by then."""

    def __init__(self, path: Path) -> None:
        self._names = {f"{path}{ending}": ending for ending in ENDINGS}
        self._known: tuple[tuple[str, Identity], ...] = ()
        self._written: tuple[tuple[str, Identity], ...] = ()
        self._sizes = (0, 0)

    def remember(self, connection: apsw.Connection) -> bool:
        """The files of this connection; False where its database has been moved in the meantime."""
        known = tuple((name, identity) for name in self._names if (identity := identity_of(name)) is not None)
        if not known or self._names[known[0][0]] or _has_moved(connection):
            return False
        if not self._known:
            self._known, self._written, self._sizes = known, known[:2], (0, 0)
        return True

    def forget(self) -> dict[str, Identity]:
        """Returns what was remembered, by the end of the name."""
        known, self._known, self._written = self._known, (), ()
        return {self._names[name]: identity for name, identity in known}

    def accept(self) -> None:
        """What has become shorter has done so for a good reason."""
        self._sizes = (0, 0)

    def find_change(self, *, thoroughly: bool = True) -> Change | None:
        """Otherwise only the files that a commit is written to: that is asked with every one."""
        sizes: list[int] = []
        for name, identity in self._known if thoroughly else self._written:
            try:
                found = os.stat(name)  # noqa: PTH116 - a path would take four times as long, in every commit
            except OSError:
                return self._change(name, Kind.BESIDE, "is gone")
            if (found.st_dev, found.st_ino) != identity:
                return self._change(name, Kind.FOREIGN, "was replaced")
            sizes.append(found.st_size)
        if not sizes:
            return None
        now = (sizes[0], sizes[1] if len(sizes) > 1 else 0)
        if now[0] < self._sizes[0] or now[1] < self._sizes[1]:
            return Change(Kind.SHORTER, "its file or its write-ahead log has become shorter")
        self._sizes = now
        return None

    def _change(self, name: str, beside: Kind, what: str) -> Change:
        ending = self._names[name]
        return Change(beside if ending else Kind.MOVED, f"its {ENDINGS[ending]} {what}")


def identity_of(name: str | Path) -> Identity | None:
    try:
        found = os.stat(name)  # noqa: PTH116 - also for names that are no paths yet
    except OSError:
        return None
    return Identity(found.st_dev, found.st_ino)


def _has_moved(connection: apsw.Connection) -> bool:
    """Asked of SQLite, which knows the file it has open."""
    moved = ctypes.c_int(0)
    connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved))
    return bool(moved.value)
