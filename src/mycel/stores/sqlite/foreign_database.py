"""SQLite databases of other programs: only read, also while their program writes, and whatever they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from mycel.errors import InvalidInput
from mycel.stores.sqlite.connection import StoreConnection

MAGIC = b"SQLite format 3\0"
_BUSY_MS = 5_000
# No text of another program is longer; what is would be refused as a memory anyway.
_MOST_BYTES = 64 * 1024 * 1024


class ForeignDatabase:
    def __init__(self, path: Path) -> None:
        self._connection = _open(path)

    def close(self) -> None:
        self._connection.close()

    def columns(self, table: str) -> list[str]:
        """Of a table, not of a view: what a view does is its maker's."""
        sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
        if self._run(sql, (table,)).fetchone() is None:
            return []
        return [row[0] for row in self._run("SELECT name FROM pragma_table_info(?)", (table,))]

    def rows(self, table: str, columns: Sequence[str], *, order_by: str) -> Iterator[Mapping[str, Any]]:
        """`order_by` is a column or `rowid`; a table without row ids comes as it lies."""
        known = set(self.columns(table))
        named = ", ".join(_quoted(column) for column in columns if column in known)
        order = f" ORDER BY {_quoted(order_by)}" if order_by in known else ""
        sql = f"SELECT {named} FROM {_quoted(table)}{order}"
        try:
            for row in self._run(sql, ()):
                yield dict(zip(columns, map(_plain, row), strict=False))
        except apsw.Error as error:
            raise ValueError(f"the database is damaged: {error}") from error

    def _run(self, sql: str, values: tuple[Any, ...]) -> apsw.Cursor:
        try:
            return self._connection.execute(sql, values)
        except apsw.Error as error:
            raise InvalidInput(f"cannot be read as a database: {error}", field="from") from error


def _open(path: Path) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = StoreConnection(path, uri=f"file:{quote(str(path.absolute()))}?mode=ro", flags=flags)
        # Neither functions nor triggers of the file may do anything, and nothing of it is believed.
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except apsw.Error as error:
        raise InvalidInput(f"cannot be read as a database: {error}", field="from") from error
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
