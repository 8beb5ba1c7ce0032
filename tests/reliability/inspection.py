"""Looks at a store past Mycel: what is damaged, and which words the bytes of its files still hold."""

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import apsw

TEAM_FILE = "memory.sqlite"


def team_file(data: Path, team: str) -> Path:
    return data / "teams" / team / TEAM_FILE


def damage_of(data: Path, team: str) -> list[str]:
    """Wherever the settings have it kept: in a file, or in rows of a database."""
    if not os.environ.get("MYCEL_DATABASE_URL"):
        return find_damage(team_file(data, team))
    from tests.postgres import rows_of

    return _disagreements(partial(rows_of, team))


def find_damage(file: Path) -> list[str]:
    """Its own queries on its own connection: what the store says of itself is not taken on trust."""
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return _damage(connection)
    except apsw.Error as error:
        return [f"unreadable: {error}"]
    finally:
        connection.close()


def _damage(connection: apsw.Connection) -> list[str]:
    problems = [text for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
    return problems or _disagreements(lambda query: connection.execute(query).fetchall())


def _disagreements(rows: Callable[[str], list[tuple[Any, ...]]]) -> list[str]:
    problems: list[str] = []
    records = [number for (number,) in rows("SELECT number FROM memories ORDER BY number")]
    indexed = [number for (number,) in rows("SELECT number FROM memory_terms ORDER BY number")]
    if records != indexed:
        problems.append(f"{len(records)} records, {len(indexed)} indexed: {set(records) ^ set(indexed)}")
    sequences = [number for (number,) in rows("SELECT sequence FROM changes ORDER BY sequence")]
    if sequences != list(range(1, len(sequences) + 1)):
        problems.append(f"the change log is not 1 to {len(sequences)} without gaps")
    [(unlogged,)] = rows(
        """
        SELECT count(*) FROM memories m WHERE NOT EXISTS (
          SELECT 1 FROM changes c WHERE c.memory_id = m.id AND c.version = m.version)"""
    )
    if unlogged:
        problems.append(f"{unlogged} records whose present version is not in the change log")
    return problems


def find_words(folder: Path, words: Iterable[str]) -> dict[str, list[str]]:
    """Which of the words stand in the raw bytes of any file, by the name of the file."""
    wanted = {word.encode() for word in words}
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            hits = _present(file.read_bytes(), wanted)
            if hits:
                found[file.name] = sorted(word.decode() for word in hits)
    return found


def _present(content: bytes, wanted: set[bytes]) -> set[bytes]:
    """One pass for any number of plain lower-case words of one length, wherever in a run of letters they stand."""
    lengths = {len(word) for word in wanted}
    if len(lengths) != 1 or not all(word.isalpha() and word.islower() for word in wanted):
        return {word for word in wanted if word in content}
    size = lengths.pop()
    runs = re.findall(rb"[a-z]{%d,}" % size, content)
    pieces = {run[at : at + size] for run in runs for at in range(len(run) - size + 1)}
    return wanted & pieces
