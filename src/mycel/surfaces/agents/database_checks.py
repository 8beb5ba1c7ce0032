"""What has to be well with the Postgres database of a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mycel.errors import MycelError
from mycel.surfaces.agents.checks import Finding, by_time, ok, problem, warning

if TYPE_CHECKING:
    from mycel.settings import Settings
    from mycel.stores.postgres.condition import Condition

# Leases last half a minute: nodes whose clocks are further apart take each other's work for abandoned.
APART_SECONDS = 5.0
MIGRATE = "run `mycel database migrate` as the owner of the database"


def check_database(settings: Settings) -> Iterator[Finding]:
    from mycel.storage import examine_database

    try:
        found = examine_database(settings)
    except MycelError as error:
        yield problem("database", str(error), "see that the server runs, and correct MYCEL_DATABASE_URL")
        return
    yield _server(found)
    yield _vector(found)
    yield _schema(found)
    yield _login(found, is_trusted=settings.database_login == "trusted")
    yield _clock(found)
    yield _connections(found)


def _server(found: Condition) -> Finding:
    text = f"PostgreSQL {found.server} at {found.place}"
    if found.is_old:
        return problem("database", text, f"Mycel needs PostgreSQL {found.least_server} or newer")
    return by_time("database", text, found.seconds)


def _vector(found: Condition) -> Finding:
    if found.vector_lack is None:
        return ok("pgvector", found.vector or "")
    return problem("pgvector", f"is {found.vector}" if found.vector else "is not there", found.vector_lack)


def _schema(found: Condition) -> Finding:
    if found.schema == found.known_schema:
        return ok("schema", f"version {found.schema}")
    if found.schema > found.known_schema:
        text = f"has version {found.schema}, and this Mycel knows {found.known_schema}"
        advice = "install a newer Mycel here"
        return (
            warning("schema", f"{text}, which may still write", advice)
            if found.may_write
            else problem("schema", text, advice)
        )
    text = f"has version {found.schema} of {found.known_schema}" if found.schema else "nobody has made the tables"
    return problem("schema", text, MIGRATE)


def _login(found: Condition, *, is_trusted: bool) -> Finding:
    if found.is_bound:
        return ok("login", f"{found.login} is bound by row-level security")
    text = f"row-level security does not bind {found.login}"
    advice = "log in as a role of its own, a member of mycel_service that owns nothing"
    return (
        warning("login", f"{text}, and MYCEL_DATABASE_LOGIN trusts it", advice)
        if is_trusted
        else problem("login", text, advice)
    )


def _clock(found: Condition) -> Finding:
    apart = abs(found.clock_seconds)
    if apart < APART_SECONDS:
        return ok("clock", f"within {max(apart, 0.1):.1f} s of the server's")
    direction = "behind" if found.clock_seconds > 0 else "ahead of"
    return warning("clock", f"this machine's is {apart:.0f} s {direction} the server's", "set both by the network")


def _connections(found: Condition) -> Finding:
    text = f"{found.connections} of {found.most_connections} taken, one node takes up to {found.node_connections}"
    if found.most_connections - found.connections < found.node_connections:
        return warning("connections", text, "raise max_connections of the server, or run fewer nodes")
    return ok("connections", text)
