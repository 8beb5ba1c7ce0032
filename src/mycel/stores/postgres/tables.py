"""All rows of a team, or of the organisation, out of the database and into it.

Rows come in by INSERT: below row-level security there is no COPY.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from psycopg import sql

from mycel.contracts.tables import Row, Table, Take
from mycel.domain.ids import TeamName
from mycel.stores.postgres.connection import PostgresConnection, Raw
from mycel.stores.postgres.database import WHOLE_TEAM_SECONDS, Database
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.postgres.team_terms import TeamTerms, packed, unpacked
from mycel.stores.sql.tables import PART, counting, in_parts, quoted, reading

_COLUMNS = """
    SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      AND a.attname <> 'team_id' ORDER BY a.attnum"""
# What is counted on from where the rows end.
_HEAD = """
    INSERT INTO heads (sequence, committed_at, number, writes) SELECT
      coalesce(max(c.sequence), 0), coalesce(max(c.committed_at), 0),
      greatest((SELECT max(number) FROM memories), (SELECT max(number) FROM receipts), 0), 1
    FROM changes c ON CONFLICT (team_id) DO UPDATE SET (sequence, committed_at, number, writes)
      = (excluded.sequence, excluded.committed_at, excluded.number, heads.writes + 1)"""
_NUMBERED = ("embeddings", "approaches")
TERMS = "memory_terms"
_TERM_COLUMNS = ("number", *TeamTerms._fields, "analyser")
# An array of these would lose its inner bounds: each is given as a text.
_LISTS = frozenset({"bigint[]", "integer[]", "smallint[]"})


class _Columns(NamedTuple):
    """Of one table, in one order: their names, and their types."""

    names: tuple[str, ...]
    types: tuple[str, ...]


class PostgresTables:
    """See `contracts.tables.Tables`."""

    def __init__(
        self, database: Database, team: str, names: Sequence[str], *, committed: Callable[[], None] = lambda: None
    ) -> None:
        self._committed = committed
        self._database = database
        self._team = team
        self._names = names

    def count(self) -> int:
        return self._database.read(self._team, self._count)

    def read(self, take: Take) -> None:
        self._database.read_at_one_moment(self._team, self._read, take)

    def replace(self, read: Callable[[Take], None]) -> None:
        self._database.write(
            self._team, lambda connection: self._replace(connection, read), answer_seconds=WHOLE_TEAM_SECONDS
        )
        self._committed()

    def _count(self, connection: PostgresConnection) -> int:
        return connection.execute(counting(self._names)).fetchone()[0]

    def _read(self, connection: PostgresConnection, take: Take) -> None:
        for name in self._names:
            columns = _columns(connection.raw, name)
            table = Table(name, _TERM_COLUMNS if name == TERMS else columns.names)
            rows = _streamed(connection.raw, reading(table, None if name == TERMS else _as_read(columns)))
            if name == TERMS:
                table = Table(name, ("number", "terms", "analyser"))
                rows = ((row[0], packed(TeamTerms(*row[1:-1]), TeamName(self._team)), row[-1]) for row in rows)
            for part in in_parts(rows):
                take(table, part)

    def _replace(self, connection: PostgresConnection, read: Callable[[Take], None]) -> None:
        known: dict[str, _Columns] = {}

        def put(table: Table, rows: Sequence[Row]) -> None:
            columns = known.get(table.name)
            if columns is None:
                columns = known[table.name] = _columns(connection.raw, table.name)
            if table.name == TERMS:
                table = Table(TERMS, _TERM_COLUMNS)
                rows = [(number, *unpacked(words, TeamName(self._team)), made_by) for number, words, made_by in rows]
            _insert(connection.raw, table, dict(zip(columns.names, columns.types, strict=True)), rows)

        for name in reversed(self._names):
            connection.execute(f"DELETE FROM {name}")
        read(put)
        if "changes" in self._names:
            connection.raw.execute(_HEAD)
            for name in _NUMBERED:
                _count_on(connection.raw, name)


def _columns(raw: Raw, name: str) -> _Columns:
    found = raw.execute(_COLUMNS, (f"{SCHEMA}.{name}",)).fetchall()
    return _Columns(tuple(column for column, _ in found), tuple(type for _, type in found))


def _as_read(columns: _Columns) -> list[str]:
    """SQLite has no truth values: they are 0 and 1."""
    both = zip(columns.names, columns.types, strict=True)
    return [f'"{name}"::int' if type == "boolean" else f'"{name}"' for name, type in both]


def _streamed(raw: Raw, query: str) -> Iterator[Row]:
    with raw.cursor(name="rows") as cursor:
        cursor.itersize = PART
        yield from cursor.execute(query.encode())


def _insert(raw: Raw, table: Table, types: dict[str, str], rows: Sequence[Row]) -> None:
    """A column at a time, so that a thousand rows are a few values."""
    wanted = [types[name] for name in table.columns]
    values = [
        [_as_given(value, type) for value in column]
        for type, column in zip(wanted, zip(*rows, strict=True), strict=True)
    ]
    arrays = ", ".join(f"%s::{'text' if type in _LISTS else type}[]" for type in wanted)
    places = [f"value_{place}" for place in range(len(wanted))]
    taken = ", ".join(f"{place}::{type}" for place, type in zip(places, wanted, strict=True))
    statement = f"""
        INSERT INTO {table.name} ({", ".join(quoted(table))})
        SELECT {taken} FROM unnest({arrays}) AS given ({", ".join(places)})"""
    raw.execute(statement.encode(), values)


def _as_given(value: Any, type: str) -> Any:
    if value is None:
        return None
    if type in _LISTS:
        return f"{{{','.join(map(str, value))}}}"
    return bool(value) if type == "boolean" else value


def _count_on(raw: Raw, name: str) -> None:
    """Numbers that are given out from now on come after those that came in."""
    raw.execute(
        sql.SQL(
            """
            SELECT count(nextval(pg_get_serial_sequence({name}, 'id'))) FROM generate_series(
              nextval(pg_get_serial_sequence({name}, 'id')), (SELECT max(id) FROM {table}))"""
        ).format(name=sql.Literal(f"{SCHEMA}.{name}"), table=sql.Identifier(name))
    )
