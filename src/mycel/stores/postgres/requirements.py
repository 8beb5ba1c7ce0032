"""What a server must have before a workspace can stand on it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from psycopg import errors, sql

from mycel.errors import Misconfigured
from mycel.stores.postgres.connection import Raw

VECTOR = "vector"
# Before it, a table that is made of a query wants a name.
LEAST_SERVER = 16
# Its index goes on through filters until it has found as many as are wanted.
LEAST_VECTOR = (0, 8)
ADD_VECTOR = "have a superuser run `CREATE EXTENSION vector` in the database"
INSTALL_VECTOR = "install pgvector 0.8 or newer where the server runs"
UPDATE_VECTOR = f"{INSTALL_VECTOR}, then run `ALTER EXTENSION vector UPDATE`"


@contextlib.contextmanager
def refused(because: str) -> Generator[None]:
    """Says what a login lacks that is not allowed to do this."""
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise Misconfigured(because) from error


def require_server(raw: Raw) -> None:
    version = raw.info.server_version // 10_000
    if version < LEAST_SERVER:
        raise Misconfigured(f"the server is PostgreSQL {version}, and Mycel needs {LEAST_SERVER} or newer")


def make_vector(raw: Raw) -> None:
    found = _vector(raw)
    if found is None:
        try:
            with refused(f"the database does not have pgvector: {ADD_VECTOR}"):
                raw.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(VECTOR)))
        except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
            raise Misconfigured(f"the server does not have pgvector: {INSTALL_VECTOR}") from error
        found = _vector(raw)
    if found is not None and not serves(found):
        raise Misconfigured(f"pgvector is {found}: {UPDATE_VECTOR}")


def serves(vector: str) -> bool:
    return tuple(int(part) for part in vector.split(".")[:2]) >= LEAST_VECTOR


def _vector(raw: Raw) -> str | None:
    row = raw.execute("SELECT extversion FROM pg_extension WHERE extname = %s", (VECTOR,)).fetchone()
    return row[0] if row else None
