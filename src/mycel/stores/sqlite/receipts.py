"""What is left of purged memories: receipts at once, and no bytes in the files after a scrub."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import apsw

from mycel.domain.ids import MemberId, MemoryId, new_id
from mycel.domain.memory import Memory
from mycel.domain.receipt import Erasure, Receipt
from mycel.stores.sqlite.episodes import forget_wording
from mycel.stores.sqlite.recalls import forget_recalls_of
from mycel.stores.sqlite.rows import micros, moment, moment_or_none
from mycel.stores.sqlite.write_ahead_log import empty_log

# Rows that belong to memories of some types; each has the number of its memory as its key.
DETAIL_TABLES = ("artifacts", "episodes")
_HELD_BY = """
    SELECT location FROM backups
    WHERE ifnull(finished_at, :created) >= :created AND (:scrubbed IS NULL OR started_at <= :scrubbed)
    ORDER BY started_at"""
_HELD_BY_TEAMS = "SELECT team FROM deliveries WHERE memory_id = ? AND version > 0 ORDER BY team"
_RECEIPT = """
    SELECT id, memory_id, purged_by, purged_at, scrubbed_at, memory_created_at FROM receipts WHERE memory_id = ?"""


def erase_rows(connection: apsw.Connection, memory: Memory, *, by: MemberId, now: datetime) -> tuple[int, Receipt]:
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
    # The row stays, so that a late retry does not store the memory anew; the hash would confirm a guess at its text.
    connection.execute("UPDATE requests SET request_hash = '' WHERE memory_id = ?", (memory.id,))
    receipt_id = new_id()
    connection.execute(
        "INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, NULL, ?)",
        (receipt_id, memory.id, by, micros(now), micros(memory.created_at), number),
    )
    return number, _receipt(connection, connection.execute(_RECEIPT, (memory.id,)).fetchone())


def read_receipt(connection: apsw.Connection, memory_id: MemoryId) -> Receipt | None:
    row = connection.execute(_RECEIPT, (memory_id,)).fetchone()
    return None if row is None else _receipt(connection, row)


def _receipt(connection: apsw.Connection, row: tuple[Any, ...]) -> Receipt:
    held = connection.execute(_HELD_BY, {"created": row[5], "scrubbed": row[4]})
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


def needs_scrub(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM receipts WHERE scrubbed_at IS NULL LIMIT 1").fetchone() is not None


def scrub(connection: apsw.Connection, *, now: datetime) -> int:
    """Writes the file anew and empties the WAL; returns how many receipts that settled."""
    receipts = connection.execute("SELECT id FROM receipts WHERE scrubbed_at IS NULL").fetchall()
    if not receipts:
        return 0
    _rewrite(connection)
    if not empty_log(connection):
        return 0
    connection.execute("UPDATE receipts SET scrubbed_at = max(purged_at, ?) WHERE scrubbed_at IS NULL", (micros(now),))
    return len(receipts)


def _rewrite(connection: apsw.Connection) -> None:
    """A page that was split keeps copies of the rows that moved on; only writing the file anew is rid of them."""
    # The copy goes to a file, as it would not fit into memory for a large team.
    connection.execute("PRAGMA temp_store = file")
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = memory")
