"""What is read of memories otherwise than on SQLite."""

from __future__ import annotations

from mycel.domain.ids import MemoryId
from mycel.domain.receipt import Receipt
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.memories import SqlMemories
from mycel.stores.sql.part import query
from mycel.stores.sql.receipts import read_receipt


class PostgresMemories(SqlMemories):
    """See `contracts.memory_store.MemoryReads`."""

    @query
    def find_receipt(self, connection: Connection, id: MemoryId) -> Receipt | None:
        return read_receipt(connection, id, copies_bytes=False)
