"""How Postgres is asked for values as they are stored: it takes in no text that is not UTF-8, but any other."""

from __future__ import annotations

from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.damaged_rows import Column, Sort, Table
from mycel.stores.sql.tables import OF_ORGANISATION

_SORTS = {
    "text": Sort.TEXT,
    "bigint": Sort.WHOLE,
    "integer": Sort.WHOLE,
    "smallint": Sort.WHOLE,
    "boolean": Sort.WHOLE,
    "double precision": Sort.NUMBER,
    "real": Sort.NUMBER,
    "bytea": Sort.BYTES,
}
# Of the tables that a transaction may read; what has no policy and is of no team has no rows that could be told apart.
_COLUMNS = f"""
    SELECT c.relname, a.attname, format_type(a.atttypid, NULL), a.attnotnull, coalesce(a.attnum = ANY (i.indkey), false)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    WHERE c.relnamespace = '{SCHEMA}'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
      AND has_table_privilege(c.oid, 'SELECT') ORDER BY c.relname, a.attnum"""


class PostgresRows:
    """See `stores.sql.damaged_rows.Dialect`; of the organisation's tables, or of those of the teams."""

    def __init__(self, *, of_organisation: bool) -> None:
        self._of_organisation = of_organisation

    def tables(self, connection: Connection) -> list[Table]:
        columns: dict[str, list[Column]] = {}
        keys: dict[str, list[str]] = {}
        for table, name, type, required, is_key in connection.execute(_COLUMNS).fetchall():
            is_wanted = (table in OF_ORGANISATION) == self._of_organisation
            if not is_wanted or name == "team_id" or type not in _SORTS:
                continue
            columns.setdefault(table, []).append(Column(name, _SORTS[type], required))
            keys.setdefault(table, []).extend([name] if is_key else [])
        return [Table(name, tuple(columns[name]), tuple(keys[name])) for name in columns if keys[name]]

    def raw(self, column: Column) -> str:
        # The bytes of a text, which nobody has looked at.
        name = f'"{column.name}"'
        return f"textsend({name})" if column.sort is Sort.TEXT else name

    def key(self, table: Table) -> str:
        return " || '/' || ".join(f"encode(textsend(\"{name}\"::text), 'hex')" for name in table.key)


ROWS_OF_TEAM = PostgresRows(of_organisation=False)
ROWS_OF_ORGANISATION = PostgresRows(of_organisation=True)
