"""Writes that wait for the end of a batch."""

from __future__ import annotations

from collections import Counter

import apsw

from mycel.contracts.clock import SystemClock
from mycel.retrieval.terms import packed_terms
from mycel.stores.migrate import migrations
from mycel.stores.sql.deferred import MAX_ROWS
from mycel.stores.sqlite.connection import migrate
from mycel.stores.sqlite.transaction import SqliteTransaction
from mycel.testing.store_samples import AUTHOR, sample

COUNT = 100


def test_the_rows_of_many_memories_are_a_few_statements_a_table() -> None:
    connection = apsw.Connection(":memory:")
    migrate(connection, migrations("mycel.stores.sqlite", "team"))
    transaction = SqliteTransaction(connection, clock=SystemClock())
    memories = [sample(tags=("api", "github")) for _ in range(COUNT)]
    transaction.memories.insert([(memory, packed_terms(memory)) for memory in memories], by=AUTHOR)
    tables: Counter[str] = Counter()

    def note(_cursor: object, sql: str, _values: object) -> bool:
        tables[sql.split("INTO ")[1].split(maxsplit=1)[0]] += 1
        return True

    connection.exec_trace = note
    transaction.finish()
    connection.exec_trace = None
    few = -(-COUNT // MAX_ROWS)
    assert tables == {"memories": few, "memory_tags": -(-2 * COUNT // MAX_ROWS), "memory_terms": few, "changes": few}
    assert connection.execute("SELECT count(*) FROM memory_tags").get == 2 * COUNT
