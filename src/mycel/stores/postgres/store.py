"""One team's store on Postgres."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from mycel.contracts.clock import Clock
from mycel.domain.ids import TeamName
from mycel.stores.postgres.care import PostgresCare
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.index import PostgresIndex
from mycel.stores.postgres.recalls import PostgresRecalls
from mycel.stores.postgres.session import ReadSession
from mycel.stores.postgres.tables import PostgresTables
from mycel.stores.postgres.transaction import PostgresTransaction
from mycel.stores.sql.approaches import SqlApproaches
from mycel.stores.sql.archive import SqlArchive
from mycel.stores.sql.artifacts import SqlArtifacts
from mycel.stores.sql.cascades import SqlCascades
from mycel.stores.sql.embeddings import SqlEmbeddings
from mycel.stores.sql.episode_rates import SqlRates
from mycel.stores.sql.episodes import SqlEpisodes
from mycel.stores.sql.links import SqlLinks
from mycel.stores.sql.log import SqlLog
from mycel.stores.sql.memories import SqlMemories
from mycel.stores.sql.places import SqlPlaces
from mycel.stores.sql.queue import SqlQueue
from mycel.stores.sql.reports import SqlReports
from mycel.stores.sql.sources import SqlSources
from mycel.stores.sql.tables import OF_TEAM

ResultT = TypeVar("ResultT")


class PostgresStore:
    """See `contracts.store.Store`."""

    def __init__(
        self, database: Database, *, team: TeamName, clock: Clock, committed: Callable[[], None] | None = None
    ) -> None:
        self.team = team
        self._database = database
        self._clock = clock
        self._tell = committed
        self._committed = threading.Condition()
        session = ReadSession(database, team, clock)
        self.memories = SqlMemories(session)
        self.links = SqlLinks(session)
        self.places = SqlPlaces(session)
        self.sources = SqlSources(session)
        self.queue = SqlQueue(session)
        self.reports = SqlReports(session)
        self.cascades = SqlCascades(session)
        self.episodes = SqlEpisodes(session)
        self.rates = SqlRates(session)
        self.approaches = SqlApproaches(session)
        self.artifacts = SqlArtifacts(session)
        self.embeddings = SqlEmbeddings(session)
        self.archive = SqlArchive(ReadSession(database, team, clock, at_one_moment=True))
        self.index = PostgresIndex(session, team)
        self.log = SqlLog(session, pause=self._pause)
        self.recalls = PostgresRecalls(database, team=team, clock=clock)
        self.tables = PostgresTables(database, team, OF_TEAM)
        self.files = PostgresCare(session, name=team)

    def transact(self, work: Callable[[PostgresTransaction], ResultT]) -> ResultT:
        def run(connection: PostgresConnection) -> ResultT:
            transaction = PostgresTransaction(connection, team=self.team, clock=self._clock)
            result = work(transaction)
            transaction.finish()
            return result

        result = self._database.write(self.team, run)
        with self._committed:
            self._committed.notify_all()
        if self._tell is not None:
            self._tell()
        return result

    def close(self) -> None:
        self.recalls.close()

    def _pause(self, seconds: float) -> None:
        with self._committed:
            self._committed.wait(seconds)
