"""One team's store on SQLite."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mycel.contracts.clock import Clock
from mycel.domain.damage import Damage
from mycel.domain.ids import TeamName
from mycel.errors import StoreDamaged, Unavailable
from mycel.stores.sqlite import backup, receipts
from mycel.stores.sqlite.approaches import SqliteApproaches
from mycel.stores.sqlite.archive import SqliteArchive
from mycel.stores.sqlite.artifacts import SqliteArtifacts
from mycel.stores.sqlite.cascades import SqliteCascades
from mycel.stores.sqlite.database import Database, Disk, Records
from mycel.stores.sqlite.embeddings import SqliteEmbeddings
from mycel.stores.sqlite.episode_rates import SqliteRates
from mycel.stores.sqlite.episodes import SqliteEpisodes
from mycel.stores.sqlite.index import SqliteIndex
from mycel.stores.sqlite.index_keeper import IndexKeeper
from mycel.stores.sqlite.links import SqliteLinks
from mycel.stores.sqlite.log import SqliteLog
from mycel.stores.sqlite.memories import SqliteMemories
from mycel.stores.sqlite.places import SqlitePlaces
from mycel.stores.sqlite.queue import SqliteQueue
from mycel.stores.sqlite.recalls import ReadTraces, SqliteRecalls
from mycel.stores.sqlite.reports import SqliteReports
from mycel.stores.sqlite.rows import micros
from mycel.stores.sqlite.session import ReadSession
from mycel.stores.sqlite.sources import SqliteSources
from mycel.stores.sqlite.transaction import SqliteTransaction

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
        self.memories = SqliteMemories(session)
        self.links = SqliteLinks(session)
        self.places = SqlitePlaces(session)
        self.sources = SqliteSources(session)
        self.queue = SqliteQueue(session)
        self.reports = SqliteReports(session)
        self.cascades = SqliteCascades(session)
        self.episodes = SqliteEpisodes(session)
        self.rates = SqliteRates(session)
        self.approaches = SqliteApproaches(session)
        self.artifacts = SqliteArtifacts(session)
        self.embeddings = SqliteEmbeddings(session)
        self.archive = SqliteArchive(session)
        self.index = SqliteIndex(session, self._keeper)
        self.log = SqliteLog(session, database)
        self.recalls = SqliteRecalls(database, traces, team=team, clock=clock)
        self.files = SqliteFiles(database, self._keeper, clock, name=team, place=path.relative_to(root))

    def transact(self, work: Callable[[SqliteTransaction], ResultT]) -> ResultT:
        return self._database.write(work)

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
        if not self._database.exists() or not self._database.read(receipts.needs_scrub):
            return 0
        self._keeper.forget_file()
        return self._database.writer.exclusive(lambda connection: receipts.scrub(connection, now=self._clock.now()))

    def backup(self, folder: Path) -> Path:
        # Known before it begins and until it ends: a memory purged meanwhile may or may not be in it.
        target = folder / self._place
        location = str(target.resolve())
        self._database.write(lambda transaction: _begin_backup(transaction, location))
        self._database.read(backup.copy_to, target)
        self._database.write(lambda transaction: _end_backup(transaction, location))
        return target

    def check(self, *, asked: bool = True) -> list[str]:
        return self._database.check(backup.find_damage, asked=asked)

    def damage(self) -> Damage | None:
        return self._database.damage()

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


def _begin_backup(transaction: SqliteTransaction, location: str) -> None:
    values = (location, micros(transaction.committed_at))
    transaction.connection.execute("INSERT OR REPLACE INTO backups VALUES (?, ?, NULL)", values)


def _end_backup(transaction: SqliteTransaction, location: str) -> None:
    values = (micros(transaction.committed_at), location)
    transaction.connection.execute("UPDATE backups SET finished_at = ? WHERE location = ?", values)
