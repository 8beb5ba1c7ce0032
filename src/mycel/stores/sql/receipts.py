"""What is left of purged memories: a receipt each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from mycel.domain.ids import MemberId, MemoryId, new_id
from mycel.domain.memory import Memory
from mycel.domain.receipt import Erasure, Receipt
from mycel.stores.sql.activity import forget_activity_of
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.episodes import forget_wording
from mycel.stores.sql.recalls import forget_recalls_of
from mycel.stores.sql.reviews import forget_reviews_of
from mycel.stores.sql.rows import micros, moment, moment_or_none
from mycel.stores.sql.statements import upsert

# Rows that belong to memories of some types; each has the number of its memory as its key.
DETAIL_TABLES = ("artifacts", "episodes")
_HELD_BY = """
    SELECT location FROM backups
    WHERE coalesce(finished_at, :created) >= :created AND started_at <= coalesce(:scrubbed, :gone, started_at)
    ORDER BY started_at"""
# How far apart the clocks of two nodes may be: a backup that one of them began meanwhile is rather named than not.
CLOCKS_MICROS = 60 * 1_000_000
_PUT = upsert(
    "receipts", ("memory_id",), ("id", "purged_by", "purged_at", "memory_created_at", "scrubbed_at", "number")
)
_HELD_BY_TEAMS = "SELECT team FROM deliveries WHERE memory_id = ? AND version > 0 ORDER BY team"
_RECEIPT = """
    SELECT id, memory_id, purged_by, purged_at, scrubbed_at, memory_created_at FROM receipts WHERE memory_id = ?"""


def erase_rows(connection: Connection, memory: Memory, *, by: MemberId, now: datetime) -> tuple[int, Receipt]:
    """Removes the record and all that came from it but words, tags and sources; a tombstone without its text stays.

    Returns the number under which those two are to be removed.
    """
    number = connection.execute("SELECT number FROM memories WHERE id = ?", (memory.id,)).fetchone()[0]
    connection.execute("DELETE FROM memories WHERE number = ?", (number,))
    forget_wording(connection, number)
    for table in DETAIL_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
    connection.execute("DELETE FROM embeddings WHERE number = ?", (number,))
    connection.execute("DELETE FROM memory_versions WHERE id = ?", (memory.id,))
    connection.execute("DELETE FROM memory_links WHERE from_id = ?1 OR to_id = ?1", (memory.id,))
    connection.execute("DELETE FROM memory_usage WHERE memory_id = ?", (memory.id,))
    connection.execute("DELETE FROM ratings WHERE memory_id = ?", (memory.id,))
    # Why they were compared quotes both.
    connection.execute("UPDATE report_actions SET why = '' WHERE memory_id = ?1 OR other_id = ?1", (memory.id,))
    forget_recalls_of(connection, memory.id)
    forget_reviews_of(connection, memory.id)
    forget_activity_of(connection, memory)
    # The row stays, so that a late retry does not store the memory anew; the hash would confirm a guess at its text.
    connection.execute("UPDATE requests SET request_hash = '' WHERE memory_id = ?", (memory.id,))
    receipt_id = new_id()
    connection.execute(
        _PUT,
        (memory.id, receipt_id, by, micros(now), micros(memory.created_at), None, number),
    )
    return number, _receipt(connection, connection.execute(_RECEIPT, (memory.id,)).fetchone())


def read_receipt(connection: Connection, memory_id: MemoryId, *, copies_bytes: bool = True) -> Receipt | None:
    """A backup that `copies_bytes` may hold what was purged and not scrubbed yet; one of rows alone does not."""
    row = connection.execute(_RECEIPT, (memory_id,)).fetchone()
    return None if row is None else _receipt(connection, row, gone_at=None if copies_bytes else row[3] + CLOCKS_MICROS)


def _receipt(connection: Connection, row: tuple[Any, ...], *, gone_at: int | None = None) -> Receipt:
    held = connection.execute(_HELD_BY, {"created": row[5], "scrubbed": row[4], "gone": gone_at})
    return Receipt(
        id=row[0],
        memory_id=MemoryId(row[1]),
        purged_by=MemberId(row[2]),
        purged_at=moment(row[3]),
        state=Erasure.LOGICAL if row[4] is None else Erasure.SCRUBBED,
        scrubbed_at=moment_or_none(row[4]),
        held_by_backups=tuple(location for (location,) in held),
        held_by_teams=tuple(team for (team,) in connection.execute(_HELD_BY_TEAMS, (row[1],))),
    )
