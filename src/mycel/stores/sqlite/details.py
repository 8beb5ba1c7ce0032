"""Rows of details that belong to memories of some types."""

from __future__ import annotations

import apsw

from mycel.domain.ids import MemoryId

# Each has the number of its memory as its key.
TABLES = ("artifacts", "episodes")
_HAS = " OR ".join(f"EXISTS (SELECT 1 FROM {table} d WHERE d.number = m.number)" for table in TABLES)


def has_detail(connection: apsw.Connection, id: MemoryId) -> bool:
    return connection.execute(f"SELECT 1 FROM memories m WHERE m.id = ? AND ({_HAS})", (id,)).fetchone() is not None


def purge_details(connection: apsw.Connection, number: int) -> None:
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
