"""What a database is like, before a workspace is opened on it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from mycel.errors import Misconfigured
from mycel.stores.postgres.connection import Raw
from mycel.stores.postgres.connection_pool import MOST_CONNECTIONS
from mycel.stores.postgres.requirements import (
    ADD_VECTOR,
    INSTALL_VECTOR,
    LEAST_SERVER,
    UPDATE_VECTOR,
    serves,
)
from mycel.stores.postgres.schema import connect, require_safe_login, schema_version, steps

_FIGURES = """
    SELECT extract(epoch FROM clock_timestamp())::float8,
      (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
      EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector'),
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"""


@dataclass(frozen=True, slots=True)
class Condition:
    """`place` names server and database, and nobody's login. `schema` is 0 where nobody has made the tables.

    One newer than the `known_schema` is used for as long as this Mycel `may_write` to it.
    """

    place: str
    server: str
    is_old: bool
    least_server: int
    vector: str | None
    # What is to be done for the version of pgvector that it needs.
    vector_lack: str | None
    schema: int
    known_schema: int
    may_write: bool
    login: str
    is_bound: bool
    # How far the server's clock is ahead of this machine's.
    clock_seconds: float
    connections: int
    most_connections: int
    # What one process of Mycel may take of them.
    node_connections: int
    seconds: float


def examine(url: str) -> Condition:
    """Raises `Misconfigured` for an address or a login that will not do, and `Unavailable` without a server."""
    with connect(url) as raw:
        began = time.perf_counter()
        sent_at = time.time()
        row = raw.execute(_FIGURES).fetchone()
        took = time.perf_counter() - began
        now, vector, has_vector, connections, most = row or (sent_at, None, False, 0, 0)
        version, schema = raw.info.server_version, schema_version(raw)
        return Condition(
            place=f"{raw.info.host or 'localhost'}/{raw.info.dbname}",
            server=f"{version // 10_000}.{version % 10_000}",
            is_old=version // 10_000 < LEAST_SERVER,
            least_server=LEAST_SERVER,
            vector=vector,
            vector_lack=_vector_lack(vector, is_there=has_vector),
            schema=schema.number,
            known_schema=len(steps()),
            may_write=schema.may_write,
            login=raw.info.user,
            is_bound=_is_bound(raw),
            clock_seconds=now - (sent_at + took / 2),
            connections=connections,
            most_connections=most,
            node_connections=MOST_CONNECTIONS,
            seconds=took,
        )


def _vector_lack(vector: str | None, *, is_there: bool) -> str | None:
    if vector is None:
        return ADD_VECTOR if is_there else f"{INSTALL_VECTOR}, then {ADD_VECTOR}"
    return None if serves(vector) else UPDATE_VECTOR


def _is_bound(raw: Raw) -> bool:
    try:
        require_safe_login(raw)
    except Misconfigured:
        return False
    return True
