"""The tables of a workspace in a Postgres database: made and migrated by its owner, used by a role of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass

import psycopg
from psycopg import sql

from mycel.errors import Misconfigured
from mycel.stores.migrate import Migration, migrations, pending
from mycel.stores.postgres.connection import Raw
from mycel.stores.postgres.connection_pool import read_address
from mycel.stores.postgres.faults import faults
from mycel.stores.postgres.requirements import make_vector, refused, require_server

SCHEMA = "mycel"
# What every transaction of the service runs as, whoever has logged in.
ROLE = "mycel_service"
SEARCH_PATH = f"{SCHEMA}, public, extensions"
# So that nodes which start together migrate one after the other.
_MIGRATING = 7_310_586_031_275_218


@contextlib.contextmanager
def connect(url: str) -> Generator[Raw]:
    """A connection of its own, in one transaction; at once or not at all."""
    with faults(), psycopg.connect(read_address(url).conninfo) as raw:
        yield raw


def migrate(url: str) -> None:
    """As the owner: all steps or none, whatever kills it; those who come meanwhile wait."""
    with connect(url) as raw:
        if not schema_version(raw).pending():
            return
        raw.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
        require_server(raw)
        _make_role(raw)
        make_vector(raw)
        _make_schema(raw)
        raw.execute("SELECT set_config('search_path', %s, true)", (SEARCH_PATH,))
        raw.execute("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)")
        raw.execute("INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version)")
        for step in schema_version(raw).pending():
            raw.execute(step.sql.encode())
            raw.execute("UPDATE schema_version SET version = %s", (step.number,))


def steps() -> tuple[Migration, ...]:
    return migrations("mycel.stores.postgres", "database")


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """`number` is 0 where nobody has made the tables; who knows less than `oldest_writer` may not write."""

    number: int = 0
    oldest_writer: int = 0

    @property
    def may_write(self) -> bool:
        return self.oldest_writer <= len(steps())

    def pending(self) -> tuple[Migration, ...]:
        """What the database lacks of what this Mycel knows. One that knows more is used for as long as it allows it."""
        return pending(steps(), max(self.oldest_writer, min(self.number, len(steps()))))


def schema_version(raw: Raw) -> SchemaVersion:
    if raw.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.schema_version",)).fetchone() == (None,):
        return SchemaVersion()
    table = sql.Identifier(SCHEMA, "schema_version")
    row = raw.execute(sql.SQL("SELECT to_jsonb(v) FROM {} v").format(table)).fetchone()
    found: dict[str, int] = row[0] if row else {}
    return SchemaVersion(found.get("version", 0), found.get("oldest_writer", 0))


def _make_role(raw: Raw) -> None:
    if raw.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone() is None:
        with refused(f"this login may not make the role {ROLE}: have a superuser run `CREATE ROLE {ROLE} NOLOGIN`"):
            raw.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(ROLE)))
            raw.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(ROLE)))


def _make_schema(raw: Raw) -> None:
    with refused("only the owner of the database makes its tables: log in as the owner"):
        raw.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))


def require_safe_login(raw: Raw) -> None:
    """A login that policies do not bind, or that owns the tables, could read past every team's fence."""
    row = raw.execute(
        """
        SELECT r.rolsuper OR r.rolbypassrls OR EXISTS (
          SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = %s AND pg_has_role(r.oid, c.relowner, 'USAGE'))
        FROM pg_roles r WHERE r.rolname = session_user""",
        (SCHEMA,),
    ).fetchone()
    if row is None or row[0]:
        raise Misconfigured(
            "the service logs in as a role that row-level security does not bind: "
            f"give it one of its own, a member of {ROLE} that owns nothing"
        )
