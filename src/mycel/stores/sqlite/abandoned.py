"""What becomes of files that somebody has moved from under a running process."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import apsw

from mycel.stores.sqlite import damage_marker
from mycel.stores.sqlite.backup import copy_to
from mycel.stores.sqlite.faults import translate
from mycel.stores.sqlite.file_guard import ENDINGS, Identity, identity_of

_log = logging.getLogger("mycel.stores")


def set_aside(path: Path, *others: Path) -> None:
    """Everything of a store into a folder beside it, the log with its database; the note of damage goes."""
    files = [path.with_name(f"{path.name}{ending}") for ending in ENDINGS]
    left = [file for file in (*files, *others) if file.exists()]
    folder = path.with_name(f"set-aside-{_moment()}")
    try:
        if left:
            folder.mkdir(mode=0o700)
        # The log first: a database without it is a loss that is told, a log without it would go to the next one.
        for file in sorted(left, key=lambda file: file == path):
            file.replace(folder / file.name)
    except OSError as error:
        raise translate(error) from error
    damage_marker.remove(path)


def _moment() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")


class Abandoned:
    """Keeps a copy of what an open connection still reads, and the old log away from a new file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left: Mapping[str, Identity] = {}
        self._is_rescued = False

    def rescue(self, connection: apsw.Connection) -> None:
        """As well as it can be done: a folder that is gone as well is not made again."""
        if self._is_rescued or not self._path.parent.is_dir():
            return
        copy = self._path.with_name(f"{self._path.name}.rescued-{_moment()}")
        try:
            copy_to(connection, copy)
        except (apsw.Error, OSError) as error:
            _log.error("what the moved file held could not be copied: %s", type(error).__name__)
            return
        self._is_rescued = True
        _log.warning("%s was moved or replaced while in use: what it held is kept in %s", self._path.name, copy.name)

    def leave(self, known: Mapping[str, Identity]) -> None:
        """Nobody in this process has the files open any more."""
        self._left = known

    def set_aside_log(self) -> None:
        """SQLite would apply the log of the old file to whatever stands in its place.

        A file that is back under its name keeps its log.
        """
        if not self._left or (now := identity_of(self._path)) is None:
            return
        left, self._left = self._left, {}
        was_rescued, self._is_rescued = self._is_rescued, False
        if now == left[""]:
            return
        log, index = (self._path.with_name(f"{self._path.name}{ending}") for ending in ("-wal", "-shm"))
        with contextlib.suppress(OSError):
            if identity_of(index) == left.get("-shm"):
                index.unlink()
            if identity_of(log) == left.get("-wal"):
                log.unlink() if was_rescued else log.replace(f"{log}.left")
