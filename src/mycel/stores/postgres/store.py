"""One team's store on Postgres."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import psycopg

from mycel.contracts.clock import Clock
from mycel.domain.ids import TeamName
from mycel.stores.postgres.care import PostgresCare
from mycel.stores.postgres.connection import PostgresConnection
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.faults import is_of_all, translate
from mycel.stores.postgres.index import PostgresIndex
from mycel.stores.postgres.memories import PostgresMemories
from mycel.stores.postgres.notifications import DEAF_POLL_SECONDS
from mycel.stores.postgres.recalls import PostgresRecalls
from mycel.stores.postgres.session import ReadSession
from mycel.stores.postgres.tables import PostgresTables
from mycel.stores.postgres.transaction import PostgresTransaction
from mycel.stores.sql.activity import SqlActivity
from mycel.stores.sql.approaches import SqlApproaches
from mycel.stores.sql.archive import SqlArchive
from mycel.stores.sql.artifacts import SqlArtifacts
from mycel.stores.sql.cascades import SqlCascades
from mycel.stores.sql.damaged_rows import without_rows
from mycel.stores.sql.embeddings import SqlEmbeddings
from mycel.stores.sql.episode_rates import SqlRates
from mycel.stores.sql.episodes import SqlEpisodes
from mycel.stores.sql.links import SqlLinks
from mycel.stores.sql.log import SqlLog
from mycel.stores.sql.places import SqlPlaces
from mycel.stores.sql.queue import SqlQueue
from mycel.stores.sql.reports import SqlReports
from mycel.stores.sql.reviews import SqlReviews
from mycel.stores.sql.sources import SqlSources
from mycel.stores.sql.tables import OF_TEAM
from mycel.stores.sql.writer import BatchLost, Writer

ResultT = TypeVar("ResultT")

# A thread is begun again in less time than a commit takes; a million teams must not have one each.
IDLE_SECONDS = 0.2
# How often a writer that is overtaken begins again, before it keeps all others out until it is done.
MOST_UNLOCKED = 3


class PostgresStore:
    """See `contracts.store.Store`."""

    def __init__(
        self,
        database: Database,
        *,
        team: TeamName,
        clock: Clock,
        committed: Callable[[], None] | None = None,
        poll_seconds: Callable[[], float] = lambda: DEAF_POLL_SECONDS,
    ) -> None:
        """`poll_seconds` says how often to look for writes that `wake` has not told of."""
        self.team = team
        self._database = database
        self._clock = clock
        self._tell = committed
        self._poll_seconds = poll_seconds
        self._committed = threading.Condition()
        self._writer: Writer[PostgresTransaction] = Writer(
            self._transact, fault=translate, committed=self._announce, idle_seconds=IDLE_SECONDS
        )
        session = ReadSession(database, team, clock)
        self.memories = PostgresMemories(session)
        self.links = SqlLinks(session)
        self.places = SqlPlaces(session)
        self.sources = SqlSources(session)
        self.queue = SqlQueue(session)
        self.reports = SqlReports(session)
        self.reviews = SqlReviews(session)
        self.activity = SqlActivity(session)
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
        self.tables = PostgresTables(database, team, OF_TEAM, committed=self._announce)
        self.files = PostgresCare(session, database, name=team)

    def transact(self, work: Callable[[PostgresTransaction], ResultT], *, beside: bool = False) -> ResultT:
        """An operation that fails over a damaged row has stored nothing, and is run once more without such rows."""
        exclusion = self._database.exclusion(self.team)
        try:
            return self._writer.run(without_rows(work, exclusion), beside=beside)
        except Exception as error:
            more = self._database.row_damage(self.team).explain(error, exclusion)
            if more is None:
                raise
        return self._writer.run(without_rows(work, more), beside=beside)

    def close(self) -> None:
        self._writer.close()
        self.recalls.close()

    def _transact(self, work: Callable[[PostgresTransaction], None]) -> None:
        tries = 0

        def run(connection: PostgresConnection) -> None:
            nonlocal tries
            tries += 1
            transaction = PostgresTransaction(
                connection, team=self.team, clock=self._clock, locks_first=tries > MOST_UNLOCKED
            )
            work(transaction)
            transaction.finish()

        try:
            self._database.transact(self.team, run)
        except psycopg.Error as error:
            if is_of_all(error):
                raise
            raise BatchLost from error

    def wake(self) -> None:
        """Those who wait for the log look at it again."""
        with self._committed:
            self._committed.notify_all()

    def _announce(self) -> None:
        self.wake()
        if self._tell is not None:
            self._tell()

    def _pause(self, seconds: float) -> None:
        with self._committed:
            self._committed.wait(min(seconds, self._poll_seconds()))
