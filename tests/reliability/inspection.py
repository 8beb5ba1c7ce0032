"""Looks at the files of a store past Mycel: what is damaged, and which words its bytes still hold."""

import re
from collections.abc import Iterable
from pathlib import Path

import apsw

TEAM_FILE = "memory.sqlite"


def team_file(data: Path, team: str) -> Path:
    return data / "teams" / team / TEAM_FILE


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
    if problems:
        return problems
    records = [number for (number,) in connection.execute("SELECT number FROM memories ORDER BY number")]
    indexed = [number for (number,) in connection.execute("SELECT number FROM memory_terms ORDER BY number")]
    if records != indexed:
        problems.append(f"{len(records)} records, {len(indexed)} indexed: {set(records) ^ set(indexed)}")
    sequences = [number for (number,) in connection.execute("SELECT sequence FROM changes ORDER BY sequence")]
    if sequences != list(range(1, len(sequences) + 1)):
        problems.append(f"the change log is not 1 to {len(sequences)} without gaps")
    unlogged = connection.execute(
        """
        SELECT count(*) FROM memories m WHERE NOT EXISTS (
          SELECT 1 FROM changes c WHERE c.memory_id = m.id AND c.version = m.version)"""
    ).fetchone()[0]
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
