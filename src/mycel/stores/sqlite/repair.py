"""Makes a store anew whose memories are whole and whose indexes are not."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import apsw

from mycel.domain.ids import TeamName
from mycel.retrieval.terms import packed_terms
from mycel.stores.migrate import migrations
from mycel.stores.sql.deferred import DeferredWrites
from mycel.stores.sql.rows import columns_of, memory_from
from mycel.stores.sqlite import connection as connections
from mycel.stores.sqlite.backup import find_damage
from mycel.stores.sqlite.database import migrate
from mycel.stores.sqlite.faults import DAMAGE
from mycel.stores.sqlite.file_access import make_empty, sync
from mycel.stores.sqlite.file_guard import ENDINGS
from mycel.stores.sqlite.session import PUT_TERMS
from mycel.stores.sqlite.write_ahead_log import LogIndex, count_frames, empty_log, has_lost_commits, read_index

ENDING = ".anew"
MOST_PROBLEMS = 5_000
BATCH = 500

# What a check says of something that can be made again: of a tree it gives the number of its first page.
_TREE = re.compile(r"Tree (\d{1,12}) ")
_ANYWHERE = re.compile(
    r"Freelist: |Page \d{1,12}: never used|wrong # of entries in index |row \d{1,20} missing from index "
)
_TABLES = """
    SELECT name FROM fresh.sqlite_schema WHERE type = 'table' AND rootpage > 0
      AND (name = 'sqlite_sequence' OR name NOT LIKE 'sqlite\\_%' ESCAPE '\\')"""
# Tables that are made again from the memories: how, once the memories are there. Vectors are made by the engine, and
# terms by the analyser.
TERMS = "memory_terms"
_REMADE = {
    TERMS: "DELETE FROM fresh.memory_terms",
    "embeddings": "DELETE FROM fresh.embedding_progress",
    "memory_tags": """
        INSERT INTO fresh.memory_tags (tag, number)
        SELECT t.value, m.number FROM fresh.memories m CROSS JOIN json_each(m.tags) t""",
}


def make_anew(path: Path) -> bool:
    """True when the file was replaced by a sound one; False when more than indexes is damaged.

    Raises `apsw.BusyError` where somebody has the file open, in this process or another.
    """
    fresh = path.with_name(f"{path.name}{ENDING}")
    _remove(fresh)
    # Before it is opened: who opens it reads the log anew, and takes the first damaged frame for its end.
    before = read_index(path)
    try:
        old = connections.open_alone(path)
        try:
            damaged = _damaged_indexes(old) if _has_whole_log(old, before) else None
            return damaged is not None and _replace(old, path, fresh, without=damaged)
        finally:
            old.close()
    except apsw.BusyError:
        raise
    except (apsw.Error, OSError):
        return False
    finally:
        _remove(fresh)


def _has_whole_log(old: apsw.Connection, before: LogIndex | None) -> bool:
    known_before = 0 if before is None or before.in_database >= before.frames else before.frames
    return count_frames(old) >= known_before and not has_lost_commits(old)


def _replace(old: apsw.Connection, path: Path, fresh: Path, *, without: set[str]) -> bool:
    _copy(old, fresh, without=without)
    # The log of the old file must not meet the new one: empty, it can do no harm, whenever this is cut short.
    if not empty_log(old):
        return False
    sync(fresh)
    fresh.replace(path)
    for ending in ("-wal", "-shm"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
    sync(path.parent)
    return True


def _damaged_indexes(old: apsw.Connection) -> set[str] | None:
    """The names of the trees that are damaged; None where one of them cannot be made again, or nothing is known."""
    trees = {page: name for name, page in old.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0")}
    indexes = {name for (name,) in old.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
    found: set[str] = set()
    problems = list(_problems(old))
    for problem in problems:
        tree = _TREE.match(problem)
        name = trees.get(int(tree[1])) if tree else None
        if name is not None and (name in indexes or name in _REMADE):
            found.add(name)
        elif tree or not _ANYWHERE.match(problem):
            return None
    return found if 0 < len(problems) < MOST_PROBLEMS else None


def _problems(old: apsw.Connection) -> Iterator[str]:
    """Every tree is looked at first; the rows after that, until one cannot be read."""
    with contextlib.suppress(*DAMAGE):
        for (text,) in old.execute(f"PRAGMA integrity_check({MOST_PROBLEMS})"):
            yield from (line for line in str(text).splitlines() if not line.startswith("***"))


def _copy(old: apsw.Connection, fresh: Path, *, without: set[str]) -> None:
    """Raises `apsw.CorruptError` where a row cannot be read, or the copy is not sound after all."""
    _make(fresh)
    old.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    old.execute("ATTACH ? AS fresh", (str(fresh),))
    old.execute("BEGIN IMMEDIATE")
    tables = {name for (name,) in old.execute(_TABLES).fetchall()}
    for table in tables - without:
        old.execute(f'DELETE FROM fresh."{table}"')
        # With a condition every row is read and put in by itself; without one, indexes would be copied as they are.
        old.execute(f'INSERT INTO fresh."{table}" SELECT * FROM main."{table}" NOT INDEXED WHERE true')
    for table in without & _REMADE.keys():
        old.execute(_REMADE[table])
    old.execute("COMMIT")
    old.execute("DETACH fresh")
    copy = connections.open_alone(fresh)
    try:
        if TERMS in without:
            copy.execute("BEGIN IMMEDIATE")
            _index_terms(copy)
            copy.execute("COMMIT")
        if problems := find_damage(copy):
            raise apsw.CorruptError(problems[0])
    finally:
        copy.close()


def _make(fresh: Path) -> None:
    make_empty(fresh)
    connection = connections.open_writer(fresh)
    try:
        migrate(connection, migrations("mycel.stores.sqlite", "team"))
        # No log beside it: the file alone is renamed.
        connection.pragma("journal_mode", "delete")
    finally:
        connection.close()


def _index_terms(copy: apsw.Connection) -> None:
    """Of every memory, as when it was written."""
    reached = 0
    sql = f"SELECT m.number, {columns_of('m')} FROM memories m WHERE m.number > ? ORDER BY m.number LIMIT ?"
    while rows := copy.execute(sql, (reached, BATCH)).fetchall():
        later = DeferredWrites()
        for reached, *row in rows:
            memory = memory_from(tuple(row), TeamName(""))
            later.add(PUT_TERMS, (reached, packed_terms(memory)))
        later.run_before(len(later), copy)


def _remove(fresh: Path) -> None:
    for ending in (*ENDINGS, "-journal"):
        fresh.with_name(f"{fresh.name}{ending}").unlink(missing_ok=True)
