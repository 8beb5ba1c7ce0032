"""All rows of a database, out of it and into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import apsw

from mycel.contracts.tables import Row, Table, Take
from mycel.stores.sql.tables import counting, in_parts, quoted, reading
from mycel.stores.sqlite.connection import one_moment
from mycel.stores.sqlite.database import Database


class SqliteTables:
    """See `contracts.tables.Tables`."""

    def __init__(self, database: Database[Any], names: Sequence[str]) -> None:
        self._database = database
        self._names = names

    def count(self) -> int:
        return self._database.read(self._count)

    def read(self, take: Take) -> None:
        self._database.read(self._read, take)

    def replace(self, read: Callable[[Take], None]) -> None:
        self._database.writer.exclusive(lambda connection: self._replace(connection, read))

    def _count(self, connection: apsw.Connection) -> int:
        return connection.execute(counting(self._names)).fetchone()[0]

    def _read(self, connection: apsw.Connection, take: Take) -> None:
        with one_moment(connection):
            for name in self._names:
                table = _table(connection, name)
                for rows in in_parts(iter(connection.execute(reading(table)))):
                    take(table, rows)

    def _replace(self, connection: apsw.Connection, read: Callable[[Take], None]) -> None:
        def put(table: Table, rows: Sequence[Row]) -> None:
            marks = ", ".join("?" * len(table.columns))
            names = ", ".join(quoted(table))
            connection.executemany(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", rows)

        connection.execute("BEGIN IMMEDIATE")
        try:
            for name in reversed(self._names):
                connection.execute(f"DELETE FROM {name}")
            read(put)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _table(connection: apsw.Connection, name: str) -> Table:
    return Table(
        name, tuple(column for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,)))
    )
