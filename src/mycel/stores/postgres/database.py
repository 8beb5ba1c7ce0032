"""One Postgres database: its connections, its schema, and the transactions that name a team."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from mycel.errors import Misconfigured
from mycel.stores.migrate import Migration, migrations, pending
from mycel.stores.postgres.connection import PostgresConnection, Raw
from mycel.stores.postgres.faults import TRANSIENT, translate

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")

SCHEMA = "mycel"
# What every transaction of the service runs as, whoever has logged in.
ROLE = "mycel_service"
# Names no team: the transaction is about the organisation.
ORGANISATION = "*"
MOST_CONNECTIONS = 16
WAIT_SECONDS = 10
# How often work is begun again that lost against other writers.
MOST_TRIES = 5
# So that nodes which start together migrate one after the other.
_MIGRATING = 7_310_586_031_275_218

# What a server says to those whom it will never let in; it gives no code for it that the driver would tell.
_REFUSALS = (
    *("authentication failed", "does not exist", "pg_hba.conf", "not permitted to log in", "no password supplied"),
    "permission denied for database",
)
_SEARCH_PATH = f"{SCHEMA}, public, extensions"
# Where few rows are wanted they are looked up one by one: no disk has to move its heads for that any more. To compile a
# statement or start another process takes longer than most of ours run.
_BEGIN_AS = """
    SELECT set_config('mycel.team', %s, true), set_config('role', %s, true), set_config('search_path', %s, true),
      set_config('random_page_cost', '1.1', true), set_config('jit', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true)"""


class Database:
    """A pool of connections. Every statement is run in a transaction that says whose rows it may see."""

    def __init__(self, url: str, *, trust_login: bool = False) -> None:
        """`trust_login` lets a login pass that could look past the policies, and has it migrate.

        Its transactions run as the service's role like all others.
        """
        self._url = url
        self._pool: ConnectionPool[Raw] = ConnectionPool(
            url,
            min_size=1,
            max_size=MOST_CONNECTIONS,
            timeout=WAIT_SECONDS,
            kwargs={"autocommit": True},
            open=False,
            name="mycel",
        )
        self._trust_login = trust_login
        self._is_open = False

    def open(self) -> None:
        """Raises `Misconfigured` for a schema or a login that will not do, and `Unavailable` without a server."""
        if self._is_open:
            return
        if self._trust_login:
            migrate(self._url)
        try:
            # By a connection of its own: the pool would try again for a while before it says why it has none.
            with connect(self._url) as raw:
                self._examine(raw)
            with faults():
                self._pool.open()
        except BaseException:
            self._pool.close()
            raise
        self._is_open = True

    def _examine(self, raw: Raw) -> None:
        if not self._trust_login:
            require_safe_login(raw)
        if pending(steps(), schema_version(raw)):
            raise Misconfigured(
                "the schema of the database is older than this Mycel: migrate it as its owner, "
                "by `mycel database migrate`"
            )

    def read(
        self,
        team: str,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        """Statements up to the first answer that is looked at travel together, in a transaction of their own."""
        with faults():
            try:
                return self._read(team, work, *args, **kwargs)
            except psycopg.OperationalError:
                # Most likely a connection from before the server was started anew.
                self._pool.check()
                return self._read(team, work, *args, **kwargs)

    def _read(
        self,
        team: str,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        with self._pool.connection() as raw, raw.pipeline():
            raw.execute(_BEGIN_AS, (team, ROLE, _SEARCH_PATH))
            return work(PostgresConnection(raw), *args, **kwargs)

    def read_at_one_moment(
        self,
        team: str,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        """However many statements it has, they all see the same state."""
        with faults(), self._pool.connection() as raw:
            try:
                raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                raw.execute(_BEGIN_AS, (team, ROLE, _SEARCH_PATH))
                return work(PostgresConnection(raw), *args, **kwargs)
            finally:
                raw.rollback()

    def write(self, team: str, work: Callable[[PostgresConnection], ResultT]) -> ResultT:
        """Returns once it is durable. Work that lost against other writers is begun again."""
        with faults():
            for _ in range(MOST_TRIES - 1):
                try:
                    return self._write(team, work)
                except TRANSIENT:
                    continue
                except _ConnectionLost:
                    self._pool.check()
            return self._write(team, work)

    def _write(self, team: str, work: Callable[[PostgresConnection], ResultT]) -> ResultT:
        with self._pool.connection() as raw:
            is_ending = False
            try:
                with raw.pipeline():
                    raw.execute("BEGIN")
                    raw.execute(_BEGIN_AS, (team, ROLE, _SEARCH_PATH))
                    result = work(PostgresConnection(raw))
                    is_ending = True
                    raw.execute("COMMIT")
                return result
            except BaseException as error:
                if not raw.closed:
                    raw.rollback()
                elif isinstance(error, psycopg.OperationalError) and not is_ending:
                    raise _ConnectionLost from error
                raise

    def close(self) -> None:
        self._pool.close()


@contextlib.contextmanager
def connect(url: str) -> Generator[Raw]:
    """A connection of its own, in one transaction; at once or not at all."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # What the driver says of it quotes the address, password and all.
        raise Misconfigured(
            "the address of the database cannot be read: write what is special in a name or a password as %XX"
        ) from None
    address = make_conninfo(url, connect_timeout=given.get("connect_timeout", WAIT_SECONDS))
    with faults(), _connected(address) as raw:
        yield raw


def _connected(address: str) -> Raw:
    try:
        return psycopg.connect(address)
    except psycopg.OperationalError as error:
        if any(said in str(error) for said in _REFUSALS):
            raise Misconfigured(
                "the server refuses this login, or has no such database: check the address and its password"
            ) from None
        raise


def migrate(url: str) -> None:
    """As the owner: all steps or none, whatever kills it; those who come meanwhile wait."""
    with connect(url) as raw:
        if not pending(steps(), schema_version(raw)):
            return
        raw.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
        _make_role(raw)
        raw.execute("CREATE EXTENSION IF NOT EXISTS vector")
        raw.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
        raw.execute("SELECT set_config('search_path', %s, true)", (_SEARCH_PATH,))
        raw.execute("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)")
        version = schema_version(raw)
        for step in pending(steps(), version):
            raw.execute(step.sql.encode())
        raw.execute("DELETE FROM schema_version")
        raw.execute("INSERT INTO schema_version VALUES (%s)", (max(version, len(steps())),))


def steps() -> tuple[Migration, ...]:
    return migrations("mycel.stores.postgres", "database")


def schema_version(raw: Raw) -> int:
    if raw.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.schema_version",)).fetchone() == (None,):
        return 0
    row = raw.execute(sql.SQL("SELECT version FROM {}").format(sql.Identifier(SCHEMA, "schema_version"))).fetchone()
    return row[0] if row else 0


def _make_role(raw: Raw) -> None:
    if raw.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone() is None:
        raw.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(ROLE)))
        raw.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(ROLE)))


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


class _ConnectionLost(psycopg.OperationalError):
    """Before the transaction was to be committed: nothing of it can have been stored."""


@contextlib.contextmanager
def faults() -> Generator[None]:
    try:
        yield
    except Exception as error:
        translated = translate(error)
        if translated is error:
            raise
        raise translated from error
