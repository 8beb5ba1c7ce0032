"""How SQLite is asked for values as they lie in the file, whatever they are."""

from __future__ import annotations

from mycel.stores.sql.connection import Connection
from mycel.stores.sql.damaged_rows import Column, Sort, Table

_SORTS = {"TEXT": Sort.TEXT, "INTEGER": Sort.WHOLE, "REAL": Sort.NUMBER, "BLOB": Sort.BYTES}
_TABLES = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
_COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)'


class SqliteRows:
    """See `stores.sql.damaged_rows.Dialect`."""

    def tables(self, connection: Connection) -> list[Table]:
        return [self._table(connection, name, without_rowid) for name, without_rowid in connection.execute(_TABLES)]

    def _table(self, connection: Connection, name: str, without_rowid: int) -> Table:
        found = connection.execute(_COLUMNS, (name,)).fetchall()
        columns = tuple(Column(column, _SORTS[type], bool(required)) for column, type, required, _ in found)
        key = tuple(column for column, *_, place in found if place) if without_rowid else ("rowid",)
        return Table(name, columns, key)

    def raw(self, column: Column) -> str:
        """No text is made of bytes that are none; a value of another type comes as one."""
        name = f'"{column.name}"'
        if column.sort is Sort.TEXT:
            return f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) WHEN 'null' THEN NULL ELSE 0 END"
        if column.sort is Sort.BYTES:
            return f"CASE typeof({name}) WHEN 'blob' THEN {name} WHEN 'null' THEN NULL ELSE 0 END"
        return f"CASE WHEN typeof({name}) IN ('integer', 'real', 'null') THEN {name} ELSE x'' END"

    def key(self, table: Table) -> str:
        return " || '/' || ".join(f"hex(CAST({name} AS BLOB))" for name in map(_quoted, table.key))


def _quoted(name: str) -> str:
    return name if name == "rowid" else f'"{name}"'


SQLITE_ROWS = SqliteRows()
