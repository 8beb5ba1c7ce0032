"""A connection that reads the SQL of the shared parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, LiteralString, cast

import psycopg

from mycel.stores.sql.connection import Connection, Cursor, Values

Raw = psycopg.Connection[tuple[Any, ...]]

_MARKS = re.compile(r"%|\?([1-9]?)|(?<![:\w]):([a-z]\w{0,60})")
_PLACES = re.compile(r"\?[1-9]")
# Hints to SQLite's planner, which Postgres neither knows nor needs.
_INDEX_HINT = re.compile(r" INDEXED BY \w{1,60}")
_ORDER_HINT = re.compile(r"CROSS JOIN (\w{1,60} \w{1,60} ON)")
# Below a policy a cast in the condition of a join keeps rows from being looked up by it.
_NUMBERS = re.compile(
    r"json_each\((\S{1,60})\) n CROSS JOIN (\w{1,60} \w{1,60} ON \S{1,60} =) CAST\(n\.value AS bigint\)"
)
_PLUS_HINT = re.compile(r"(?<=[ (])\+(?=[a-z])")
# With a value on its right, SQLite's IS compares also what is NULL.
_IS = re.compile(r"\bIS (?=[?:])")
# Every table of a team is keyed by the team first; those of the organisation are not.
_CONFLICT = re.compile(r"ON CONFLICT \(")
_OF_ORGANISATION = re.compile(r"INSERT INTO (?:teams|members)\b")


class PostgresConnection:
    """See `stores.sql.connection`."""

    def __init__(self, raw: Raw, writes_in: psycopg.Pipeline | None = None) -> None:
        """`writes_in` is that of a transaction which holds locks."""
        self.raw = raw
        self._pipeline = writes_in

    def execute(self, sql: str, values: Values = (), /) -> Cursor:
        cursor = self.raw.execute(translated(sql), _bound(sql, values))
        return cursor if self._pipeline is None else _SyncedCursor(cursor, self._pipeline)

    def executemany(self, sql: str, rows: Sequence[Values], /) -> None:
        if rows:
            self.raw.cursor().executemany(translated(sql), [_bound(sql, row) for row in rows])


def in_bytes(connection: Connection, sql: str, values: Values) -> Cursor:
    """Executes a statement whose answer is better read as the server has it than as text."""
    raw = cast(PostgresConnection, connection).raw
    return raw.cursor(binary=True).execute(translated(sql), _bound(sql, values))


def as_array(numbers: Iterable[int]) -> str:
    """As the database reads it where it says `::bigint[]`: the driver takes ten times as long to write a list."""
    return f"{{{','.join(map(str, numbers))}}}"


class _SyncedCursor:
    """Has the server count the time until it hears more: in the middle of a pipeline it would wait without end."""

    __slots__ = ("_cursor", "_pipeline")

    def __init__(self, cursor: psycopg.Cursor[tuple[Any, ...]], pipeline: psycopg.Pipeline) -> None:
        self._cursor = cursor
        self._pipeline = pipeline

    def fetchone(self) -> Any:
        return self._answered().fetchone()

    def fetchall(self) -> list[Any]:
        return self._answered().fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._answered())

    def _answered(self) -> psycopg.Cursor[tuple[Any, ...]]:
        if self._cursor.pgresult is None:
            self._pipeline.sync()
        return self._cursor


@lru_cache(maxsize=2048)
def translated(sql: str) -> LiteralString:
    """The same statement as Postgres and its driver have it."""
    for hint in (_INDEX_HINT, _PLUS_HINT):
        sql = hint.sub("", sql)
    sql = _NUMBERS.sub(r"json_numbers(\1) n JOIN \2 n.value", sql)
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
