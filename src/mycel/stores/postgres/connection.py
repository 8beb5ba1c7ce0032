"""A connection that reads the SQL of the shared parts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, LiteralString, cast

import psycopg

from mycel.stores.sql.connection import Connection, Cursor, Values
from mycel.stores.sql.damaged_rows import Exclusion

Raw = psycopg.Connection[tuple[Any, ...]]

_MARKS = re.compile(r"%|\?([1-9]?)|(?<![:\w]):([a-z]\w{0,60})")
_PLACES = re.compile(r"\?[1-9]")
# Hints to SQLite's planner, which Postgres neither knows nor needs.
_INDEX_HINT = re.compile(r" INDEXED BY \w{1,60}")
_ORDER_HINT = re.compile(r"CROSS JOIN (\w{1,60} \w{1,60} ON)")
# Below a policy a cast in the condition of a join keeps rows from being looked up by it.
_NUMBERS = re.compile(
    r"json_each\((\S{1,60})\) n (CROSS JOIN \w{1,60} \w{1,60} ON \S{1,60} =) CAST\(n\.value AS bigint\)"
)
# Of a table of which nothing is known yet, the planner would rather read a whole team than look a list up row by row.
_LISTED = re.compile(
    r"(json_(?:each|numbers)\(\S{1,60}\) \w|\bgiven \w|\bOFFSET 0\) \w)\s{1,60}(?:CROSS )?JOIN (\w{1,60}) (\w{1,60})"
    r" ON (\w{1,60}\.\w{1,60} = \w{1,60}\.\w{1,60})"
)
_LOOKED_UP = r"\1 CROSS JOIN LATERAL (SELECT \3.* FROM \2 \3 WHERE \4 OFFSET 0) \3"
_PLUS_HINT = re.compile(r"(?<=[ (])\+(?=[a-z])")
# With a value on its right, SQLite's IS compares also what is NULL.
_IS = re.compile(r"\bIS (?=[?:])")
# Every table of a team is keyed by the team first; those of the organisation are not.
_CONFLICT = re.compile(r"ON CONFLICT \(")
_OF_ORGANISATION = re.compile(r"INSERT INTO (?:teams|members)\b")

# Counts from the beginning; to set it to what it is already would not.
_COUNT_ANEW = "set_config('transaction_timeout', '0', true), set_config('transaction_timeout', '{}', true)"
# What lasts no longer needs not be counted anew.
_COUNTED_SECONDS = 1.0


class PostgresConnection:
    """See `stores.sql.connection`."""

    def __init__(
        self, raw: Raw, writes_in: psycopg.Pipeline | None = None, *, silence_millis: int | None = None
    ) -> None:
        """`writes_in` is that of a transaction which holds locks, and which the server ends after so much silence."""
        self.raw = raw
        # Rows that its queries leave out, since they cannot be read.
        self.exclusion: Exclusion | None = None
        self._pipeline = writes_in
        self._anew = None if silence_millis is None else _COUNT_ANEW.format(silence_millis)
        self._counted_at = time.monotonic()

    def execute(self, sql: str, values: Values = (), /) -> Cursor:
        cursor = self.raw.execute(self.translated(sql), _bound(sql, values))
        return cursor if self._pipeline is None else _SyncedCursor(cursor, self)

    def translated(self, sql: str) -> LiteralString:
        found = translated(sql)
        return found if self.exclusion is None else cast(LiteralString, self.exclusion.applied(found))

    def lock(self, sql: str, values: Values = ()) -> Cursor:
        """Executes a statement that locks the rows it returns. Silence is counted from when it has them, not from when
        it waits for them."""
        if self._anew is None:
            return self.execute(sql, values)
        self._counted_at = time.monotonic()
        return self.execute(f"WITH locked AS MATERIALIZED ({sql}) SELECT locked.*, {self._anew} FROM locked", values)

    def sync(self) -> None:
        """Has the server count the time until it hears more: in the middle of a pipeline it would wait without end."""
        if self._anew is not None and time.monotonic() > self._counted_at + _COUNTED_SECONDS:
            self._counted_at = time.monotonic()
            self.raw.execute(cast(LiteralString, f"SELECT {self._anew}"))
        if self._pipeline is not None:
            self._pipeline.sync()

    def executemany(self, sql: str, rows: Sequence[Values], /) -> None:
        if rows:
            self.raw.cursor().executemany(self.translated(sql), [_bound(sql, row) for row in rows])


def in_bytes(connection: Connection, sql: str, values: Values) -> Cursor:
    """Executes a statement whose answer is better read as the server has it than as text."""
    own = cast(PostgresConnection, connection)
    return own.raw.cursor(binary=True).execute(own.translated(sql), _bound(sql, values))


def as_array(numbers: Iterable[int]) -> str:
    """As the database reads it where it says `::bigint[]`: the driver takes ten times as long to write a list."""
    return f"{{{','.join(map(str, numbers))}}}"


class _SyncedCursor:
    """Synchronises before its answer is waited for."""

    __slots__ = ("_connection", "_cursor")

    def __init__(self, cursor: psycopg.Cursor[tuple[Any, ...]], connection: PostgresConnection) -> None:
        self._cursor = cursor
        self._connection = connection

    def fetchone(self) -> Any:
        return self._answered().fetchone()

    def fetchall(self) -> list[Any]:
        return self._answered().fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._answered())

    def _answered(self) -> psycopg.Cursor[tuple[Any, ...]]:
        if self._cursor.pgresult is None:
            self._connection.sync()
        return self._cursor


@lru_cache(maxsize=2048)
def translated(sql: str) -> LiteralString:
    """The same statement as Postgres and its driver have it."""
    for hint in (_INDEX_HINT, _PLUS_HINT):
        sql = hint.sub("", sql)
    sql = _NUMBERS.sub(r"json_numbers(\1) n \2 n.value", sql)
    found = 1
    while found:
        sql, found = _LISTED.subn(_LOOKED_UP, sql)
    sql = _ORDER_HINT.sub(r"JOIN \1", sql)
    sql = _IS.sub("IS NOT DISTINCT FROM ", sql)
    if _OF_ORGANISATION.search(sql) is None:
        sql = _CONFLICT.sub("ON CONFLICT (team_id, ", sql)
    return cast(LiteralString, _MARKS.sub(_mark, sql))


def _mark(found: re.Match[str]) -> str:
    if found[0] == "%":
        return "%%"
    name = found[1] or found[2]
    return f"%({name})s" if name else "%s"


def _bound(sql: str, values: Values) -> Sequence[Any] | Mapping[str, Any]:
    if not isinstance(values, Mapping) and _by_place(sql):
        return {str(place): value for place, value in enumerate(values, start=1)}
    return values


@lru_cache(maxsize=2048)
def _by_place(sql: str) -> bool:
    return _PLACES.search(sql) is not None
