"""Many rows in one value: the same short statement for any number of them, which the server has prepared."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from mycel.stores.sql.connection import Connection
from mycel.stores.sql.deferred import Rows, Statement, insert_values

_INTO = re.compile(r"INSERT INTO (\w{1,60}) \(([^()]{1,4000})\)")
_ONLY_MARKS = re.compile(r"\((?:\?, ){0,200}\?\)")


def insert_records(connection: Connection, statement: Statement, rows: Rows) -> None:
    """A mark for each value of each row would have driver and server read thousands of them, for every number anew."""
    if not rows:
        return
    found = _from_records(statement)
    if found is None:
        insert_values(connection, statement, rows)
        return
    sql, names = found
    records = [dict(zip(names, row, strict=True)) for row in rows]
    connection.execute(sql, (json.dumps(records, default=_bytea, separators=(",", ":")),))


@lru_cache(maxsize=64)
def _from_records(statement: Statement) -> tuple[str, list[str]] | None:
    """None for one that does more with a value than to put it into its column."""
    into = _INTO.search(statement.sql)
    if into is None or _ONLY_MARKS.fullmatch(statement.marks) is None:
        return None
    table, columns = into[1], into[2]
    sql = f"INSERT INTO {table} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{table}, ?)"
    return sql + statement.end, [name.strip() for name in columns.split(",")]


def _bytea(value: object) -> str:
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    raise TypeError(f"a row cannot hold a {type(value).__name__}")
