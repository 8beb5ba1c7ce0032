"""Writes that can wait for the end of a batch, where one statement serves many operations."""

from __future__ import annotations

from collections.abc import Sequence
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


class DeferredWrites:
    """Statement by statement in their order, and within one order as they were added."""

    def __init__(self) -> None:
        self._writes: list[tuple[Statement, Sequence[tuple[object, ...]]]] = []

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
            _run(connection, statement, [row for _, rows in group for row in rows])


def _run(connection: Connection, statement: Statement, rows: Sequence[tuple[object, ...]]) -> None:
    if not statement.marks:
        connection.executemany(statement.sql, rows)
        return
    for start in range(0, len(rows), MAX_ROWS):
        part = rows[start : start + MAX_ROWS]
        connection.execute(_with_rows(statement, len(part)), tuple(chain.from_iterable(part)))


@lru_cache(maxsize=4 * MAX_ROWS)
def _with_rows(statement: Statement, count: int) -> str:
    return statement.sql + ", ".join([statement.marks] * count) + statement.end
