"""Copies and checks of a whole database file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from mycel.errors import StoreDamaged
from mycel.stores.sql.checks import find_inconsistency
from mycel.stores.sqlite.connection import StoreConnection, one_moment, open_unchanging
from mycel.stores.sqlite.file_access import make_empty, sync, sync_open

# 4 MB at a time: a writer that syncs its commit waits for at most so much of the copy.
PAGES_PER_STEP = 1000


def copy_to(connection: apsw.Connection, target: Path) -> None:
    """A consistent copy, complete under its final name or not there at all."""
    with new_copy(target) as unfinished:
        _copy(connection, unfinished, pause=False)


def copy_beside(connection: apsw.Connection, target: Path, find: Callable[[apsw.Connection], list[str]]) -> None:
    """The same while others write, who get as much of the machine as the copy does; checked in full before it counts.

    Raises `StoreDamaged` where the copy is not sound.
    """
    with new_copy(target) as unfinished:
        _copy(connection, unfinished, pause=True)
        problems = _check(unfinished, find)
        if problems:
            raise StoreDamaged(f"the copy of {target.name} is damaged, so the store is: {problems[0]}")


@contextmanager
def new_copy(target: Path) -> Generator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    make_empty(unfinished)
    try:
        yield unfinished
        sync(unfinished)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync(target.parent)


def _copy(connection: apsw.Connection, target: Path, *, pause: bool) -> None:
    copy = StoreConnection(target)
    try:
        # It counts for nothing before it is whole and synced.
        copy.pragma("synchronous", "off")
        copy.pragma("journal_mode", "off")
        # One moment for all steps: otherwise the copy would begin again after every write of somebody else.
        with one_moment(connection), copy.backup("main", connection, "main") as steps:
            connection.pragma("schema_version")
            while not steps.done:
                started = time.monotonic()
                steps.step(PAGES_PER_STEP)
                if pause:
                    # Bit by bit to the disk: all of it at the end would be a sync that everybody waits for.
                    sync_open(copy)
                    time.sleep(time.monotonic() - started)
        copy.pragma("journal_mode", "delete")
    finally:
        copy.close()


def _check(copy: Path, find: Callable[[apsw.Connection], list[str]]) -> list[str]:
    connection = open_unchanging(copy)
    try:
        return find(connection)
    finally:
        connection.close()


# What SQLite says of one value, which costs its row alone; see `stores.sql.damaged_rows`.
_OF_A_ROW = re.compile(r"(NULL|[A-Z]+|non-[A-Z]+) value in \w+\.\w+$")


def find_file_damage(connection: apsw.Connection) -> list[str]:
    """The full check: the quick one misses damaged indexes."""
    found = [str(text) for (text,) in connection.execute("PRAGMA integrity_check(20)")]
    of_files = [text for text in found if text != "ok" and not _OF_A_ROW.match(text)]
    if found and not of_files and len(found) >= 20:
        # So many values were told of that nothing else was.
        found = [str(text) for (text,) in connection.execute("PRAGMA integrity_check(1000000)")]
        of_files = [text for text in found if not _OF_A_ROW.match(text)]
    return of_files


def find_damage(connection: apsw.Connection) -> list[str]:
    """Of a team's store: also whether what belongs together is there."""
    return find_file_damage(connection) or find_inconsistency(connection)
