"""One Postgres database: its connections, and the transactions that name a team."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg import errors

from mycel.domain.ids import TeamName
from mycel.errors import Misconfigured
from mycel.stores.postgres import connection_pool
from mycel.stores.postgres.connection import PostgresConnection, Raw
from mycel.stores.postgres.connection_pool import ConnectionPool
from mycel.stores.postgres.damaged_rows import ROWS_OF_ORGANISATION, ROWS_OF_TEAM
from mycel.stores.postgres.faults import GIVEN_UP, TRANSIENT, UNPREPARED, OutcomeUnknown, faults
from mycel.stores.postgres.schema import (
    ROLE,
    SCHEMA,
    SEARCH_PATH,
    migrate,
    require_safe_login,
    schema_version,
    steps,
)
from mycel.stores.sql.damaged_rows import Exclusion, RowDamage

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")

# Names no team: the transaction is about the organisation.
ORGANISATION = "*"
NO_TABLES = "nobody has made the tables of Mycel in this database"
# How often work is begun again that lost against other writers.
MOST_TRIES = 5
# What reads or removes a whole team may take its time.
WHOLE_TEAM_SECONDS = 600.0
# Where few rows are wanted they are looked up one by one: no disk has to move its heads for that any more. To compile a
# statement or start another process takes longer than most of ours run.
_BEGIN_AS = """
    SELECT set_config('mycel.team', %s, true), set_config('role', %s, true), set_config('search_path', %s, true),
      set_config('random_page_cost', '1.1', true), set_config('jit', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true)"""
# A node that is cut off in the middle must not keep the others of its team waiting for long.
_BEGIN_WRITE = f"""
    {_BEGIN_AS}, set_config('idle_in_transaction_session_timeout', %s, true),
      set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true), {SCHEMA}.require_writer(%s)"""
# Between statements that are not synchronised, only this ends a transaction whose node is gone. It begins with what a
# lock may be waited for; whoever has one, and goes on, has it counted anew.
_BOUND_WRITE = f"{_BEGIN_WRITE}, set_config('transaction_timeout', %s, true)"
_FIRST_WITH_BOUND = 170_000


class Database:
    """A pool of connections. Every statement is run in a transaction that says whose rows it may see."""

    def __init__(self, url: str, *, trust_login: bool = False) -> None:
        """`trust_login` lets a login pass that could look past the policies, and has it migrate.

        Its transactions run as the service's role like all others.
        """
        self._url = url
        self._pool = ConnectionPool(url)
        self.conninfo = self._pool.conninfo
        self._trust_login = trust_login
        self._is_open = False
        self._row_damages: dict[str, RowDamage] = {}

    def open(self) -> None:
        """Raises `Misconfigured` for a schema or a login that will not do, and `Unavailable` without a server."""
        if self._is_open:
            return
        if self._trust_login:
            migrate(self._url)
        try:
            with faults(), self._pool.lend() as raw:
                self._examine(raw)
        except BaseException:
            self._pool.close()
            raise
        self._is_open = True

    def _examine(self, raw: Raw) -> None:
        if not self._trust_login:
            require_safe_login(raw)
        found = schema_version(raw)
        if found.pending():
            wrong = "the schema of the database is older than this Mycel" if found.number else NO_TABLES
            raise Misconfigured(f"{wrong}: run `mycel database migrate` as its owner")

    def read(
        self,
        team: str,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        """Statements up to the first answer that is looked at travel together, in a transaction of their own.

        A query that fails over a damaged row is run once more, without the rows that cannot be read.
        """

        def read(connection: PostgresConnection) -> ResultT:
            return work(connection, *args, **kwargs)

        with faults():
            exclusion = self.exclusion(team)
            try:
                return self._read_again(team, read, exclusion)
            except Exception as error:
                more = self.row_damage(team).explain(error, exclusion)
                if more is None:
                    raise
            return self._read_again(team, read, more)

    def row_damage(self, team: str) -> RowDamage:
        """What is known of the rows of a team, or of the organisation."""
        known = self._row_damages.get(team)
        if known is None:
            is_team = team != ORGANISATION
            known = self._row_damages.setdefault(
                team,
                RowDamage(
                    ROWS_OF_TEAM if is_team else ROWS_OF_ORGANISATION,
                    lambda look: self._look(team, look),
                    team=TeamName(team) if is_team else None,
                    errors=(psycopg.DataError,),
                ),
            )
        return known

    def row_damages(self) -> list[RowDamage]:
        return list(self._row_damages.values())

    def exclusion(self, team: str) -> Exclusion | None:
        known = self._row_damages.get(team)
        return None if known is None else known.exclusion()

    def _look(self, team: str, look: Callable[[PostgresConnection], ResultT]) -> ResultT:
        with self._pool.lend(answer_seconds=WHOLE_TEAM_SECONDS) as raw:
            try:
                raw.execute("BEGIN READ ONLY")
                raw.execute(_BEGIN_AS, (team, ROLE, SEARCH_PATH))
                return look(PostgresConnection(raw))
            finally:
                if not raw.closed:
                    raw.rollback()

    def _read_again(
        self, team: str, work: Callable[[PostgresConnection], ResultT], exclusion: Exclusion | None
    ) -> ResultT:
        """Where the first connection turns out to be of no use, on another one."""
        try:
            return self._read(team, work, exclusion)
        except UNPREPARED:
            self._pool.stop_preparing()
        except _ConnectionLost:
            # Most likely one from before the server was started anew.
            self._pool.leave_idle()
        return self._read(team, work, exclusion)

    def _read(self, team: str, work: Callable[[PostgresConnection], ResultT], exclusion: Exclusion | None) -> ResultT:
        with self._pool.lend() as raw, _losses(raw), raw.pipeline():
            raw.execute(_BEGIN_AS, (team, ROLE, SEARCH_PATH))
            connection = PostgresConnection(raw)
            connection.exclusion = exclusion
            return work(connection)

    def read_at_one_moment(
        self,
        team: str,
        work: Callable[Concatenate[PostgresConnection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        """However many statements it has, they all see the same state."""
        with faults(), self._pool.lend(answer_seconds=WHOLE_TEAM_SECONDS) as raw:
            try:
                raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                raw.execute(_BEGIN_AS, (team, ROLE, SEARCH_PATH))
                connection = PostgresConnection(raw)
                connection.exclusion = self.exclusion(team)
                return work(connection, *args, **kwargs)
            finally:
                if not raw.closed:
                    raw.rollback()

    def write(
        self, team: str, work: Callable[[PostgresConnection], ResultT], *, answer_seconds: float | None = None
    ) -> ResultT:
        """Returns once it is durable. Work that lost against other writers is begun again."""
        with faults():
            return self.transact(team, work, answer_seconds=answer_seconds)

    def transact(
        self, team: str, work: Callable[[PostgresConnection], ResultT], *, answer_seconds: float | None = None
    ) -> ResultT:
        """As `write`, with errors as the driver has them."""
        has_reconnected = False
        for _ in range(MOST_TRIES - 1):
            try:
                return self._write(team, work, answer_seconds)
            except TRANSIENT:
                continue
            except UNPREPARED:
                self._pool.stop_preparing()
            except _ConnectionLost:
                if has_reconnected:
                    raise
                has_reconnected = True
                self._pool.leave_idle()
        return self._write(team, work, answer_seconds)

    def _write(self, team: str, work: Callable[[PostgresConnection], ResultT], answer_seconds: float | None) -> ResultT:
        seconds = answer_seconds or connection_pool.ANSWER_SECONDS
        # Whoever waits for a node that is cut off sees the end of it before its own.
        silence, lock, statement = (int(seconds * share) for share in (500, 800, 1000))
        with self._pool.lend(answer_seconds=answer_seconds) as raw:
            is_ending = False
            try:
                with _losses(raw), raw.pipeline() as pipeline:
                    raw.execute("BEGIN")
                    values = (team, ROLE, SEARCH_PATH, *map(str, (silence, lock, statement)), len(steps()))
                    is_bound = raw.info.server_version >= _FIRST_WITH_BOUND
                    if is_bound:
                        raw.execute(_BOUND_WRITE, (*values, str(lock + silence)))
                    else:
                        raw.execute(_BEGIN_WRITE, values)
                    result = work(
                        PostgresConnection(raw, writes_in=pipeline, silence_millis=silence if is_bound else None)
                    )
                    # What the server has said meanwhile counts as said before it was told to commit.
                    raw.pgconn.consume_input()
                    raw.pgconn.is_busy()
                    is_ending = True
                    end = raw.execute("COMMIT")
                if end.statusmessage != "COMMIT":
                    # What a server answers when something before it had failed.
                    raise errors.InFailedSqlTransaction
                return result
            except _ConnectionLost as error:
                if is_ending and not (raw.was_ended or isinstance(error.__cause__, GIVEN_UP)):
                    raise OutcomeUnknown from error
                raise
            except BaseException:
                if not raw.closed:
                    raw.rollback()
                raise

    def close(self) -> None:
        self._pool.close()


class _ConnectionLost(psycopg.OperationalError):
    """Nothing of a transaction that was not to be committed yet can have been stored."""


@contextlib.contextmanager
def _losses(raw: Raw) -> Generator[None]:
    try:
        yield
    except GIVEN_UP as error:
        raw.close()
        raise _ConnectionLost from error
    except psycopg.OperationalError as error:
        if raw.closed:
            raise _ConnectionLost from error
        raise
