"""The stores of all teams in one database. A store is light: what is shared and limited are its connections."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from psycopg import sql

from mycel.contracts.clock import Clock
from mycel.domain.damage import Damage
from mycel.domain.ids import TeamName
from mycel.errors import CLOSED, Unavailable
from mycel.stores.forks import require_process
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.database import ORGANISATION, WHOLE_TEAM_SECONDS, Database
from mycel.stores.postgres.directory import PostgresDirectory
from mycel.stores.postgres.notifications import Notifications
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.postgres.store import PostgresStore
from mycel.stores.postgres.watch import PolledWatch

_TEAM_TABLES = """
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'team_id'
    WHERE n.nspname = %s AND c.relkind = 'r' ORDER BY c.relname = 'heads', c.relname"""


def open_database(url: str, *, clock: Clock, trust_login: bool = False) -> tuple[PostgresDirectory, PostgresStores]:
    """Who belongs to the workspace, and the stores of its teams."""
    database = Database(url, trust_login=trust_login)
    database.open()
    return PostgresDirectory(database, clock=clock), PostgresStores(database, clock=clock)


class PostgresStores:
    """See `contracts.store.Stores`."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._stores: dict[TeamName, PostgresStore] = {}
        self._watches: dict[TeamName, tuple[PolledWatch, ...]] = {}
        self._listeners: tuple[Callable[[TeamName], None], ...] = ()
        self._nodes = Notifications(database, self._hear)
        self._written: dict[TeamName, int] = {}
        self._written_until = 0.0
        self._has_news = True
        self._changing = threading.Lock()
        self._closed = False
        self._process = os.getpid()

    @contextmanager
    def lease(self, team: TeamName) -> Generator[PostgresStore]:
        require_process(self._process)
        yield self._stores.get(team) or self._open(team)

    def teams_with_store(self) -> list[TeamName]:
        return sorted(self.written())

    def written(self) -> dict[TeamName, int]:
        """Asked for again when something was heard; without ears, every time."""
        if not self._nodes.hears or self._has_news or time.monotonic() >= self._written_until:
            self._has_news = False
            self._written_until = time.monotonic() + self._poll_seconds()
            self._written = self._database.read(ORGANISATION, _written)
        return self._written

    def damages(self) -> list[Damage]:
        """The files are the server's; of the rows, what was met."""
        found = [known.damage for known in self._database.row_damages() if known.team is not None]
        return [damage for damage in found if damage is not None]

    def is_damaged(self, team: TeamName) -> bool:
        return False

    def has_damaged_rows(self, team: TeamName) -> bool:
        return self._database.exclusion(team) is not None

    def reset(self, team: TeamName) -> None:
        """Nothing is put aside: a server's backups are its own."""
        self._database.write(team, _delete_all, answer_seconds=WHOLE_TEAM_SECONDS)

    def watch(self, team: TeamName) -> PolledWatch:
        watch = PolledWatch(
            lambda: self._database.read(team, _writes),
            poll_seconds=self._poll_seconds,
            closed=lambda watch: self._unwatch(team, watch),
        )
        with self._changing:
            self._watches[team] = (*self._watches.get(team, ()), watch)
        return watch

    def listen(self, heard: Callable[[TeamName], None]) -> None:
        self._listeners = (*self._listeners, heard)

    def close(self) -> None:
        with self._changing:
            self._closed = True
            stores = list(self._stores.values())
            self._stores.clear()
        for store in stores:
            store.close()
        self._nodes.close()

    def _open(self, team: TeamName) -> PostgresStore:
        with self._changing:
            if self._closed:
                raise Unavailable(CLOSED)
            if team not in self._stores:
                self._stores[team] = PostgresStore(
                    self._database,
                    team=team,
                    clock=self._clock,
                    committed=lambda: self._announce(team),
                    poll_seconds=self._poll_seconds,
                )
            return self._stores[team]

    def _announce(self, team: TeamName) -> None:
        self._tell(team)
        self._nodes.tell(team)

    def _hear(self, team: TeamName | None) -> None:
        """Of another node."""
        with self._changing:
            teams = [team] if team is not None else list({*self._stores, *self._watches})
        for one in teams:
            store = self._stores.get(one)
            if store is not None:
                store.wake()
            self._tell(one)

    def _poll_seconds(self) -> float:
        self._nodes.listen()
        return self._nodes.poll_seconds

    def _tell(self, team: TeamName) -> None:
        self._has_news = True
        for watch in self._watches.get(team, ()):
            watch.wake()
        for heard in self._listeners:
            heard(team)

    def _unwatch(self, team: TeamName, watch: PolledWatch) -> None:
        with self._changing:
            self._watches[team] = tuple(other for other in self._watches.get(team, ()) if other is not watch)


def _written(connection: PostgresConnection) -> dict[TeamName, int]:
    rows = connection.execute("SELECT team_id, writes FROM heads ORDER BY team_id")
    return {TeamName(team): writes for team, writes in rows}


def _writes(connection: PostgresConnection) -> int:
    row = connection.execute("SELECT writes FROM heads WHERE team_id = current_team()").fetchone()
    return 0 if row is None else row[0]


def _delete_all(connection: PostgresConnection) -> None:
    for (table,) in connection.raw.execute(_TEAM_TABLES, (SCHEMA,)).fetchall():
        connection.raw.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(SCHEMA, table)))
