"""Writes that can wait for the end of a batch, where one statement serves many operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby

from mycel.stores.sql.connection import Connection

# As many rows in one statement as there are: every statement gives the interpreter lock away, and getting it back from
# busy callers takes longer than the statement.
MAX_ROWS = 64


@dataclass(frozen=True, slots=True)
class Statement:
    """Statements of a lower order are run first; those that share one are run as they were added, each for itself.

    `marks` is what one more row adds to an INSERT, before its end; a DELETE has none.
    """

    order: int
    sql: str
    marks: str = ""
    end: str = ""


Rows = Sequence[tuple[object, ...]]
Insert = Callable[[Connection, Statement, Rows], None]


class DeferredWrites:
    """Statement by statement in their order, and within one order as they were added."""

    def __init__(self, insert: Insert | None = None) -> None:
        """`insert` is how a database takes many rows at once."""
        self._insert = insert or insert_values
        self._writes: list[tuple[Statement, Rows]] = []

    def __len__(self) -> int:
        return len(self._writes)

    def add(self, statement: Statement, *rows: tuple[object, ...]) -> None:
        if rows:
            self._writes.append((statement, rows))

    def forget_after(self, mark: int) -> None:
        del self._writes[mark:]

    def run_before(self, mark: int, connection: Connection) -> None:
        """Runs the first `mark` of them, which are then no longer deferred."""
        writes, self._writes = self._writes[:mark], self._writes[mark:]
        writes.sort(key=lambda write: write[0].order)
        for statement, group in groupby(writes, key=lambda write: write[0]):
            listed = [row for _, rows in group for row in rows]
            if statement.marks:
                self._insert(connection, statement, listed)
            else:
                connection.executemany(statement.sql, listed)


def insert_values(connection: Connection, statement: Statement, rows: Rows) -> None:
    for start in range(0, len(rows), MAX_ROWS):
        part = rows[start : start + MAX_ROWS]
        connection.execute(_with_rows(statement, len(part)), tuple(chain.from_iterable(part)))


@lru_cache(maxsize=4 * MAX_ROWS)
def _with_rows(statement: Statement, count: int) -> str:
    return statement.sql + ", ".join([statement.marks] * count) + statement.end
