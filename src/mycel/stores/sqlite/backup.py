"""Copies and checks of a whole database file."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from mycel.stores.sql.checks import find_inconsistency
from mycel.stores.sqlite.folders import sync

# Small steps let writers in between; each step re-reads only what changed.
PAGES_PER_STEP = 1000


def copy_to(connection: apsw.Connection, target: Path) -> None:
    """A consistent copy, complete under its final name or not there at all."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        _copy(connection, unfinished)
        sync(unfinished)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync(target.parent)


def _copy(connection: apsw.Connection, target: Path) -> None:
    copy = apsw.Connection(str(target))
    try:
        with copy.backup("main", connection, "main") as steps:
            while not steps.done:
                steps.step(PAGES_PER_STEP)
        copy.pragma("journal_mode", "delete")
    finally:
        copy.close()


def find_file_damage(connection: apsw.Connection) -> list[str]:
    """The full check: the quick one misses damaged indexes."""
    found = [str(text) for (text,) in connection.execute("PRAGMA integrity_check(20)")]
    return [] if found == ["ok"] else found


def find_damage(connection: apsw.Connection) -> list[str]:
    """Of a team's store: also whether what belongs together is there."""
    return find_file_damage(connection) or find_inconsistency(connection)
