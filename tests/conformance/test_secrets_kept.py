"""No file of the service holds a secret that somebody gave it, whichever argument of whichever operation it was in."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from mycel.engine.secrets.masking import mask_secrets
from mycel.errors import InvalidInput
from tests.conformance.every_text import World, every_call, make, opened

# Tables in which nobody can write what they like, and why.
WITHOUT_TEXT = {
    **dict.fromkeys(("memory_versions", "changes"), "what `memories` held"),
    **dict.fromkeys(("cascades", "deliveries", "ratings", "memory_usage", "receipts", "event_counts"), "ids"),
    "injection_memories": "ids",
    **dict.fromkeys(("embeddings", "embedding_progress", "approaches"), "the name of the model"),
    **dict.fromkeys(("reports", "report_actions", "report_changes", "report_links"), "ids, and words of ours"),
    **dict.fromkeys(("purged_passages", "requests"), "ids and digests"),
    "progress": "names of ours",
    "episode_months": "counts by names that memories had",
    "backups": "folders that the operator names on this machine",
}
# And such columns.
CLOSED = {
    **dict.fromkeys(("memories.allowed_roles", "sources.allowed_roles"), "roles"),
    "ingestion_events.error": "what our own errors say, which hold no text",
    "ingestion_events.lease": "made here",
    "recalls.degraded": "words of ours",
    "teams.policy": "choices and spans of time",
    **dict.fromkeys(("tokens.parent_id", "actions.memory_id"), "ids"),
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return opened(tmp_path / "data")


def secrets() -> Iterator[str]:
    chance = random.Random(7)
    while True:
        yield "ghp_" + "".join(chance.choices(string.ascii_lowercase + string.digits, k=36))


def test_no_secret_reaches_a_file(world: World) -> None:
    new = secrets()
    assert mask_secrets(next(new)).kinds
    for given in every_call(lambda: f"plain-{world.number()}", writing=True):
        make(world, given)
    planted = [(given, make(world, given)) for given in every_call(lambda: next(new))]
    world.settle()
    columns = _empty_columns(world.folder)
    world.workspace.close()
    kept = b"".join(file.read_bytes() for file in sorted(world.folder.rglob("*")) if file.is_file()).lower()
    found = [str(given) for given, _ in planted if given.text.encode() in kept]
    assert not found, "\n".join(found)
    told = [str(given) for given, answer in planted if isinstance(answer, InvalidInput) and given.text in str(answer)]
    assert not told, "\n".join(told)
    assert not columns - CLOSED.keys(), "a column of text that no call fills is not tested"


def _empty_columns(folder: Path) -> set[str]:
    """Columns of text that are empty in every row, of every table of both kinds of file."""
    empty: set[str] = set()
    for file in (folder / "teams" / "squad" / "memory.sqlite", *folder.glob("*.sqlite")):
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%'"
        for (table,) in connection.execute(tables).fetchall():
            if table not in WITHOUT_TEXT:
                described = connection.execute(f"PRAGMA table_info({table})").fetchall()
                texts = [row[1] for row in described if row[2] == "TEXT"]
                empty |= {f"{table}.{name}" for name in texts if not _is_filled(connection, table, name)}
        connection.close()
    return empty


def _is_filled(connection: apsw.Connection, table: str, column: str) -> bool:
    sql = f"SELECT 1 FROM {table} WHERE {column} IS NOT NULL AND {column} <> '' LIMIT 1"
    return connection.execute(sql).fetchone() is not None
