"""One team's store on SQLite."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mycel.contracts.clock import Clock
from mycel.domain.damage import Damage, DamagedRow
from mycel.domain.ids import TeamName
from mycel.errors import StoreDamaged, Unavailable
from mycel.stores.sql.activity import SqlActivity
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
from mycel.stores.sql.recalls import ReadTraces
from mycel.stores.sql.reports import SqlReports
from mycel.stores.sql.reviews import SqlReviews
from mycel.stores.sql.sources import SqlSources
from mycel.stores.sql.tables import OF_TEAM
from mycel.stores.sqlite import backup, scrub
from mycel.stores.sqlite.database import Database, Disk, Records
from mycel.stores.sqlite.index import SqliteIndex
from mycel.stores.sqlite.index_keeper import IndexKeeper
from mycel.stores.sqlite.recalls import SqliteRecalls
from mycel.stores.sqlite.session import ReadSession, SnapshotSession
from mycel.stores.sqlite.tables import SqliteTables
from mycel.stores.sqlite.transaction import SqliteTransaction
from mycel.stores.sqlite.watch import POLL_SECONDS

ResultT = TypeVar("ResultT")

# Beside the database of a team.
INDEX_FILE = "memory.vectors"


class SqliteStore:
    """See `contracts.store.Store`."""

    def __init__(
        self,
        path: Path,
        *,
        root: Path,
        team: TeamName,
        clock: Clock,
        disk: Disk,
        committed: Callable[[], None] | None = None,
        records: Records = Records(),  # noqa: B008 - frozen
    ) -> None:
        self.team = team
        traces = ReadTraces()
        database: Database[SqliteTransaction] = Database(
            path,
            root=root,
            schema="team",
            transaction=lambda connection: SqliteTransaction(connection, clock=clock),
            flush=lambda transaction: traces.write(transaction.connection),
            disk=disk,
            committed=committed,
            team=team,
            records=records,
        )
        self._database = database
        self._keeper = IndexKeeper(database, file=path.with_name(INDEX_FILE))
        session = ReadSession(database, clock)
        self.memories = SqlMemories(session)
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
        self.archive = SqlArchive(SnapshotSession(database, clock))
        self.index = SqliteIndex(session, self._keeper)
        self.log = SqlLog(session, pause=lambda seconds: database.wait(min(seconds, POLL_SECONDS)))
        self.recalls = SqliteRecalls(database, traces, team=team, clock=clock)
        self.tables = SqliteTables(database, OF_TEAM)
        self.files = SqliteFiles(database, self._keeper, clock, name=team, place=path.relative_to(root))

    def transact(self, work: Callable[[SqliteTransaction], ResultT], *, beside: bool = False) -> ResultT:
        return self._database.write(work, beside=beside)

    def close(self) -> None:
        # The index is derived: without its file the next opening takes longer, and that is all.
        with contextlib.suppress(Unavailable):
            self._keeper.save()
        self._database.close()


class SqliteFiles:
    """See `contracts.file_care.FileCare`."""

    def __init__(
        self, database: Database[SqliteTransaction], keeper: IndexKeeper, clock: Clock, *, name: str, place: Path
    ) -> None:
        self.name = name
        self._database = database
        self._keeper = keeper
        self._clock = clock
        self._place = place

    def scrub(self) -> int:
        if not self._database.exists() or not self._database.read(scrub.needs_scrub):
            return 0
        self._keeper.forget_file()
        return self._database.writer.exclusive(lambda connection: scrub.scrub(connection, now=self._clock.now()))

    def backup(self, folder: Path) -> Path:
        target = folder / self._place
        self._database.read_whole(backup.copy_beside, target, backup.find_damage)
        return target

    def check(self, *, asked: bool = True) -> list[str]:
        return self._database.check(backup.find_damage, asked=asked)

    def damage(self) -> Damage | None:
        return self._database.damage()

    @property
    def damaged_rows(self) -> Damage | None:
        return self._database.row_damage.damage

    def find_damaged_rows(self) -> list[DamagedRow]:
        return self._database.row_damage.find() if self._database.exists() else []

    @property
    def is_damaged(self) -> bool:
        return self._database.is_damaged

    def is_readable(self) -> bool:
        try:
            self._database.exists()
        except StoreDamaged:
            return False
        return True

    def save_index(self, model: str, *, dimensions: int) -> None:
        self._keeper.save(model, dimensions)
