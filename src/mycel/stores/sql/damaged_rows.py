"""Rows with a value that cannot be read: finding them, answering without them, and mending one that is to be deleted.

No read checks its rows. Where one fails, the database is looked through once, and the query is run again with the
damaged rows left out of every table it reads. Nothing stored is changed by that.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from mycel.domain.activity import Occasion
from mycel.domain.artifact import ArtifactType
from mycel.domain.cascade import Direction
from mycel.domain.change import Operation
from mycel.domain.damage import Damage, DamagedRow, name_rows
from mycel.domain.episode import Action
from mycel.domain.ids import MemoryId, TeamName
from mycel.domain.link import Relation
from mycel.domain.memory import FIELDS, MemoryType, SourceKind, Visibility
from mycel.domain.memory import Scope as MemoryScope
from mycel.domain.memory_field import Holds
from mycel.domain.report import ActionKind
from mycel.domain.source import EventState, Step, Trigger
from mycel.domain.team import Kind, Role, Trust
from mycel.retrieval.terms import HEAD, NUMBER_BYTES
from mycel.stores.sql.connection import Connection, Cursor, Values
from mycel.stores.sql.rows import FIRST_MOMENT, LAST_MOMENT

# More than any list that a row holds has.
MAX_LISTED = 10_000_000
# After a look that found nothing new, the same failure has its own cause for so long.
LOOK_AGAIN_SECONDS = 10.0
LOOK_AGAIN_TIMES = 10
# Rows that were found damaged are looked at again, since another process may have purged or restored them.
RECHECK_SECONDS = 5.0

NOT_UTF8 = "is no UTF-8 text"
NOT_JSON = "is no JSON of its form"
NOT_MOMENT = "is a time out of range"
NOT_KNOWN = "is a value that nobody knows"
WRONG_TYPE = "is of the wrong type"
NO_VALUE = "has no value"
NOT_OF_ITS_FORM = "is not of its form"

MOMENT_NAME = re.compile(r".*_(at|until)|until|valid_from|valid_to|holds_from|holds_until")
_log = logging.getLogger("mycel.stores")


class Sort(StrEnum):
    TEXT = "text"
    WHOLE = "whole"
    NUMBER = "number"
    BYTES = "bytes"


class Column(NamedTuple):
    name: str
    sort: Sort
    required: bool


class Table(NamedTuple):
    """`key` names the columns that tell its rows apart."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]


class Dialect(Protocol):
    """How a database is asked for values as they lie there, whatever they are."""

    def tables(self, connection: Connection) -> list[Table]: ...
    def raw(self, column: Column) -> str:
        """The expression for a value: texts as bytes; NULL, or something of another type, where the type is wrong."""
        ...

    def key(self, table: Table) -> str:
        """The expression that tells the rows of a table apart, as a text of hexadecimal digits and slashes."""
        ...


@dataclass(frozen=True, slots=True)
class FoundRow:
    """`key` is that of its row; `number` that of the memory it belongs to, where it has one."""

    row: DamagedRow
    key: str
    number: int | None


def find_damaged_rows(
    connection: Connection, dialect: Dialect, *, only: Mapping[str, Collection[str]] | None = None
) -> list[FoundRow]:
    """Look through every column of every table, or of the rows with these keys."""
    found: list[FoundRow] = []
    for table in dialect.tables(connection):
        keys = None if only is None else only.get(table.name)
        if only is not None and not keys:
            continue
        checks = [_check_of(table.name, column) for column in table.columns]
        names = [column.name for column in table.columns]
        number = names.index("number") if "number" in names else None
        where = "" if keys is None else f" WHERE {dialect.key(table)} IN ({_listed(keys)})"
        raw = ", ".join(dialect.raw(column) for column in table.columns)
        for key, *values in connection.execute(f"SELECT {dialect.key(table)}, {raw} FROM {table.name}{where}"):
            problems = tuple(
                (name, problem)
                for name, value, check in zip(names, values, checks, strict=True)
                if (problem := check(value)) is not None
            )
            if problems:
                row = DamagedRow(table.name, _name_of(names, values, key), problems)
                belongs = values[number] if number is not None else None
                found.append(FoundRow(row, key, belongs if isinstance(belongs, int) else None))
    return found


def _listed(keys: Collection[str]) -> str:
    """As SQL: they hold nothing but hexadecimal digits and slashes."""
    return ", ".join(f"'{key}'" for key in keys)


def _name_of(names: Sequence[str], values: Sequence[Any], key: str) -> str:
    for wanted in ("id", "memory_id", "name"):
        if wanted in names and isinstance(value := values[names.index(wanted)], bytes):
            return _printable(value)
    return " ".join(_printable(bytes.fromhex(part)) for part in key.split("/"))


def _printable(value: bytes) -> str:
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in value.decode("utf-8", "replace"))[:100]


# What is wrong with a value, or None.
Check = Callable[[Any], str | None]


def _check_of(table: str, column: Column) -> Check:
    check = _check_of_value(table, column)
    empty = NO_VALUE if column.required else None
    return lambda value: empty if value is None else check(value)


def _check_of_value(table: str, column: Column) -> Check:
    if column.sort is Sort.TEXT:
        place = (table, column.name)
        if place in KNOWN:
            return _known_check(frozenset(item.value.encode() for item in KNOWN[place]))
        if place in JSON_FORMS:
            return _json_check(JSON_FORMS[place])
        return OWN_CHECKS.get(place, _text_check)
    if column.sort is Sort.WHOLE:
        return _moment_check if MOMENT_NAME.fullmatch(column.name) else _whole_check
    if column.sort is Sort.NUMBER:
        return lambda value: None if isinstance(value, int | float) and value == value else WRONG_TYPE
    return OWN_CHECKS.get((table, column.name), _bytes_check)


def _text_check(value: Any) -> str | None:
    if not isinstance(value, bytes):
        return WRONG_TYPE
    try:
        value.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    return None


def _whole_check(value: Any) -> str | None:
    return None if isinstance(value, int) else WRONG_TYPE


def _moment_check(value: Any) -> str | None:
    if not isinstance(value, int):
        return WRONG_TYPE
    return None if FIRST_MOMENT <= value <= LAST_MOMENT else NOT_MOMENT


def _bytes_check(value: Any) -> str | None:
    return None if isinstance(value, bytes) else WRONG_TYPE


def _terms_check(value: Any) -> str | None:
    """See `retrieval.terms.pack`: a head, and for each term its number and a byte that counts it."""
    if not isinstance(value, bytes):
        return WRONG_TYPE
    rest = len(value) - HEAD.size
    return None if rest >= 0 and rest % (NUMBER_BYTES + 1) == 0 else NOT_OF_ITS_FORM


def _known_check(known: Collection[bytes]) -> Check:
    def check(value: Any) -> str | None:
        if value in known:
            return None
        return _text_check(value) or NOT_KNOWN

    return check


def _json_check(fits: Callable[[Any], bool]) -> Check:
    # Few lists of tags, roles and turns are in most rows.
    @lru_cache(maxsize=1024)
    def examine(value: bytes) -> str | None:
        try:
            return None if fits(json.loads(value.decode())) else NOT_JSON
        except UnicodeDecodeError:
            return NOT_UTF8
        except (ValueError, RecursionError):
            return NOT_JSON

    return lambda value: examine(value) if isinstance(value, bytes) else WRONG_TYPE


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_texts(value: Any) -> bool:
    return _is_list(value) and all(isinstance(one, str) for one in value)


def is_roles(value: Any) -> bool:
    return is_texts(value) and all(one in _ROLES for one in value)


def _is_origin(value: Any) -> bool:
    return _is_list(value, most=4) and all(one is None or isinstance(one, str) for one in value)


def _is_evidence(value: Any) -> bool:
    return _is_list(value, least=3, most=3) and isinstance(value[0], str) and _is_span(value[1:])


def _is_turns(value: Any) -> bool:
    return _is_list(value) and all(map(_is_turn, value))


def _is_turn(value: Any) -> bool:
    return (
        _is_list(value, least=5, most=5)
        and isinstance(value[0], str)
        and _is_span(value[1:3])
        and isinstance(value[3], str | None)
        and (value[4] is None or _moment_check(value[4]) is None)
    )


def _is_span(value: Any) -> bool:
    return all(isinstance(place, int) for place in value)


def _is_list(value: Any, *, least: int = 0, most: int | None = None) -> bool:
    return isinstance(value, list) and len(cast(list[Any], value)) in range(least, (most or MAX_LISTED) + 1)


def _ledger_check(value: Any) -> str | None:
    return None if value in _LEDGERS else _text_check(value) or NOT_KNOWN


def _steps_check(value: Any) -> str | None:
    problem = _text_check(value)
    return problem or (None if all(step in _STEPS for step in value.decode().split()) else NOT_KNOWN)


_ROLES = frozenset(role.value for role in Role)
_STEPS = frozenset(step.value for step in Step)
_LEDGERS = frozenset({b"team", b"some", b"out"})
OWN_CHECKS: Mapping[tuple[str, str], Check] = {
    ("ingestion_events", "steps"): _steps_check,
    ("episodes", "ledger"): _ledger_check,
    ("memory_terms", "terms"): _terms_check,
}
_FORMS: Mapping[Holds, Callable[[Any], bool]] = {
    Holds.TAGS: is_texts,
    Holds.NOTES: is_texts,
    Holds.METADATA: is_object,
    Holds.ORIGIN: _is_origin,
    Holds.EVIDENCE: _is_evidence,
}
_OF_MEMORIES = ("memories", "memory_versions")
# The columns with one of a few values, and those with JSON; what else is a text may be any.
KNOWN: Mapping[tuple[str, str], type[StrEnum]] = {
    **{
        (table, row.column): row.options
        for table in _OF_MEMORIES
        for row in FIELDS.values()
        if row.stored and row.options is not None and row.holds is not Holds.CHOICES
    },
    ("changes", "operation"): Operation,
    ("changes", "visibility"): Visibility,
    ("changes", "old_visibility"): Visibility,
    ("changes", "type"): MemoryType,
    ("changes", "old_type"): MemoryType,
    ("sources", "visibility"): Visibility,
    ("sources", "kind"): SourceKind,
    ("sources", "trust"): Trust,
    ("ingestion_events", "trigger"): Trigger,
    ("ingestion_events", "scope"): MemoryScope,
    ("ingestion_events", "state"): EventState,
    ("injections", "occasion"): Occasion,
    ("report_actions", "kind"): ActionKind,
    ("memory_links", "relation"): Relation,
    ("report_links", "relation"): Relation,
    ("cascades", "direction"): Direction,
    ("episodes", "action"): Action,
    ("episode_months", "action"): Action,
    ("artifacts", "type"): ArtifactType,
    ("members", "role"): Role,
    ("members", "kind"): Kind,
    ("members", "trust"): Trust,
}
JSON_FORMS: Mapping[tuple[str, str], Callable[[Any], bool]] = {
    **{
        (table, row.column): _FORMS[row.holds]
        for table in _OF_MEMORIES
        for row in FIELDS.values()
        if row.stored and row.holds in _FORMS
    },
    **{
        (table, row.column): is_roles
        for table in _OF_MEMORIES
        for row in FIELDS.values()
        if row.stored and row.holds is Holds.CHOICES and row.options is not None
    },
    ("changes", "allowed_roles"): is_roles,
    ("changes", "old_allowed_roles"): is_roles,
    ("sources", "allowed_roles"): is_roles,
    ("sources", "turns"): _is_turns,
    ("saved_views", "filters"): is_object,
    ("recalls", "request"): is_object,
    ("recalls", "degraded"): is_texts,
    ("recall_hits", "breakdown"): is_object,
    ("reports", "kept"): is_texts,
    ("actions", "before"): is_object,
    ("actions", "after"): is_object,
    ("organisation_actions", "before"): is_object,
    ("organisation_actions", "after"): is_object,
    ("teams", "policy"): is_object,
}


# Rows that belong to a memory by its number are left out with it.
_BY_NUMBER = ("memory_terms", "memory_tags", "embeddings", "episodes", "artifacts", "passages")
# A table that rows are read from, and the name that the query has for it. Hints about indexes are for tables alone.
_READ = re.compile(
    r"\b(FROM|JOIN) ([a-z_]\w*)\b(?![(.])(?:\s+NOT INDEXED| INDEXED BY \w+)?(?:\s+(?:AS )?([a-z_]\w*))?"
    r"(?:\s+NOT INDEXED| INDEXED BY \w+)?"
)
# Rows are removed whatever they hold, and what only asks whether there is one reads no value: a source stays hidden
# with a memory that nobody can read any more.
_READS_NOTHING = re.compile(r"(?:DELETE|SELECT 1)\s+$")


class Exclusion:
    """What queries leave out: rows by their keys, and by the number of a memory. Never changed."""

    def __init__(self, dialect: Dialect, tables: Mapping[str, Table], found: Sequence[FoundRow]) -> None:
        self._dialect = dialect
        self._tables = tables
        self._found = tuple(found)
        self._conditions = self._make_conditions()
        self._rewritten: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def rows(self) -> list[DamagedRow]:
        return [found.row for found in self._found]

    @property
    def keys(self) -> dict[str, list[str]]:
        keys: dict[str, list[str]] = {}
        for found in self._found:
            keys.setdefault(found.row.table, []).append(found.key)
        return keys

    def without(self, table: str, key: str) -> Exclusion:
        """Read that row again."""
        left = [found for found in self._found if (found.row.table, found.key) != (table, key)]
        return Exclusion(self._dialect, self._tables, left)

    def applied(self, sql: str) -> str:
        """The same query on the tables less these rows."""
        rewritten = self._rewritten.get(sql)
        if rewritten is None:
            rewritten = self._rewritten[sql] = _READ.sub(self._replace, sql)
        return rewritten

    def _replace(self, match: re.Match[str]) -> str:
        word, table, alias = match.groups()
        condition = self._conditions.get(table)
        if condition is None or _READS_NOTHING.search(match.string, 0, match.start()):
            return match[0]
        return f"{word} (SELECT * FROM {table} WHERE {condition}) {alias or table}"

    def _make_conditions(self) -> dict[str, str]:
        parts: dict[str, list[str]] = {}
        for name, keys in self.keys.items():
            if name in self._tables:
                parts.setdefault(name, []).append(f"{self._dialect.key(self._tables[name])} NOT IN ({_listed(keys)})")
        numbers = [
            str(found.number) for found in self._found if found.row.table == "memories" and found.number is not None
        ]
        for name in _BY_NUMBER if numbers else ():
            if name in self._tables:
                parts.setdefault(name, []).append(f"number NOT IN ({', '.join(numbers)})")
        return {name: " AND ".join(conditions) for name, conditions in parts.items()}


class ExcludingConnection:
    """A connection whose queries leave damaged rows out."""

    def __init__(self, connection: Any, exclusion: Exclusion) -> None:
        self._connection = connection
        self._exclusion = exclusion

    def execute(self, sql: str, values: Values = (), /) -> Cursor:
        return self._connection.execute(self._exclusion.applied(sql), values)

    def executemany(self, sql: str, rows: Sequence[Values], /) -> object:
        return self._connection.executemany(self._exclusion.applied(sql), rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class Excluding(Protocol):
    """A transaction whose queries can leave rows out for a while."""

    def excluding(self, exclusion: Exclusion) -> AbstractContextManager[None]: ...


TxT = TypeVar("TxT", bound=Excluding)
ResultT = TypeVar("ResultT")


def without_rows(work: Callable[[TxT], ResultT], exclusion: Exclusion | None) -> Callable[[TxT], ResultT]:
    """Return the same operation, reading without these rows."""
    if exclusion is None:
        return work

    def run(transaction: TxT) -> ResultT:
        with transaction.excluding(exclusion):
            return work(transaction)

    return run


# What reading a value raises that is none of its kind.
_OF_VALUES = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


class RowDamage:
    """The damaged rows of one database, as far as this process has met them."""

    def __init__(
        self,
        dialect: Dialect,
        ask: Callable[[Callable[[Any], Any]], Any],
        *,
        team: TeamName | None,
        errors: tuple[type[Exception], ...],
    ) -> None:
        """`ask` runs a query on a connection as it is; `errors` are what the database itself raises over a value."""
        self._dialect = dialect
        self._ask = ask
        self.team = team
        self._errors = (*_OF_VALUES, *errors)
        self._looking = threading.Lock()
        self._look_at = 0.0
        self._recheck_at = 0.0
        self._exclusion: Exclusion | None = None
        self.since: datetime | None = None

    @property
    def _store(self) -> str:
        return "the workspace database" if self.team is None else f"the store of team {self.team}"

    @property
    def rows(self) -> list[DamagedRow]:
        exclusion = self.exclusion()
        return [] if exclusion is None else exclusion.rows

    @property
    def damage(self) -> Damage | None:
        """The rows that are known to be damaged, for whoever watches the stores."""
        rows, since = self.rows, self.since
        if not rows or since is None:
            return None
        return Damage(self.team, name_rows(rows), since, rows=len(rows))

    def exclusion(self) -> Exclusion | None:
        """What is to be left out; None, at no cost, as long as nothing is known to be damaged."""
        known = self._exclusion
        if known is not None and time.monotonic() >= self._recheck_at and self._looking.acquire(blocking=False):
            try:
                self._recheck_at = time.monotonic() + RECHECK_SECONDS
                self._look(only=known.keys)
            finally:
                self._looking.release()
        return self._exclusion

    def may_explain(self, error: Exception) -> bool:
        return isinstance(error, self._errors)

    def explain(self, error: Exception, used: Exclusion | None) -> Exclusion | None:
        """Look for what may have caused an error; what is to be left out, if that is more than what was `used`."""
        if not self.may_explain(error):
            return None
        with self._looking:
            if self._exclusion is used and time.monotonic() >= self._look_at:
                began = time.monotonic()
                self._look()
                ended = time.monotonic()
                # Where the cause is another one, looking must not become the load.
                self._look_at = ended + max(LOOK_AGAIN_SECONDS, LOOK_AGAIN_TIMES * (ended - began))
            return None if self._exclusion is used else self._exclusion

    def find(self) -> list[DamagedRow]:
        """Look through everything, as far as the database can be read."""
        with self._looking:
            self._look()
        return [] if self._exclusion is None else self._exclusion.rows

    def recheck_soon(self) -> None:
        """A row may have been mended."""
        self._recheck_at = 0.0

    def _look(self, *, only: Mapping[str, Collection[str]] | None = None) -> None:
        """What keeps the database from being looked through is for its own check to say, and for nobody's read."""
        try:
            self._keep(self._find(only=only))
        except Exception as failure:  # noqa: BLE001 - whoever asks is to see the answer, or the first error
            # A store that is being closed interrupts whoever reads it: the next to open it looks through it.
            if type(failure).__name__ != "InterruptError":
                _log.warning("%s was not looked through: %s", self._store, type(failure).__name__)

    def _find(self, *, only: Mapping[str, Collection[str]] | None = None) -> Exclusion:
        def look(connection: Any) -> Exclusion:
            tables = {table.name: table for table in self._dialect.tables(connection)}
            return Exclusion(self._dialect, tables, find_damaged_rows(connection, self._dialect, only=only))

        return self._ask(look)

    def _keep(self, found: Exclusion) -> None:
        known = self._exclusion
        if known is not None and known.keys == found.keys:
            return
        told: set[DamagedRow] = set() if known is None else set(known.rows)
        for row in found.rows:
            if row not in told:
                details = {"team": self.team, "table": row.table, "id": row.id, "columns": row.columns}
                _log.error(
                    "%s: a row is damaged and left out: %s",
                    self._store,
                    row.text,
                    extra={"event": "row_damaged", "details": details},
                )
        self.since = (self.since or datetime.now(UTC)) if found else None
        self._exclusion = found or None
        self._recheck_at = time.monotonic() + RECHECK_SECONDS


# What stands in the place of a value that is lost: read by as few as may be, and standing for nothing.
_LOST: Mapping[str, Any] = {
    "visibility": "private",
    "status": "archived",
    "trust": "low",
    "confidence": 0.0,
    "path": "/",
}
LOST_TEXT = "[damaged]"


def mend_memory(connection: Connection, dialect: Dialect, id: MemoryId) -> str | None:
    """Write what can be read of a memory's present row, so that it can be deleted; its key, if anything was wrong."""
    table = next(table for table in dialect.tables(connection) if table.name == "memories")
    raw = ", ".join(dialect.raw(column) for column in table.columns)
    row = connection.execute(f"SELECT {dialect.key(table)}, {raw} FROM memories WHERE id = ?", (id,)).fetchone()
    if row is None:
        return None
    key, *values = row
    mended = {
        column.name: _mended(column, value, problem)
        for column, value in zip(table.columns, values, strict=True)
        if (problem := _check_of("memories", column)(value)) is not None
    }
    if not mended:
        return None
    if "version" in mended:
        sql = "SELECT coalesce(max(version), 0) + 1 FROM memory_versions WHERE id = ?"
        mended["version"] = connection.execute(sql, (id,)).fetchone()[0]
    places = ", ".join(f'"{name}" = ?' for name in mended)
    connection.execute(f"UPDATE memories SET {places} WHERE id = ?", (*mended.values(), id))
    return key


def _mended(column: Column, value: Any, problem: str) -> Any:
    if not column.required:
        return None
    if column.name in _LOST:
        return _LOST[column.name]
    if (known := KNOWN.get(("memories", column.name))) is not None:
        return next(iter(known)).value
    if column.sort is Sort.TEXT:
        return value.decode("utf-8", "replace") if problem == NOT_UTF8 else LOST_TEXT
    return 0
