"""What was purged leaves the file as well: written anew, no byte of it is left."""

from __future__ import annotations

from datetime import datetime

import apsw

from mycel.stores.sql.rows import micros
from mycel.stores.sqlite.write_ahead_log import empty_log


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
