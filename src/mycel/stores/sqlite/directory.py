"""The workspace's own small database: teams, members, tokens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

import apsw

from mycel.contracts.clock import Clock
from mycel.domain.damage import Damage, DamagedRow
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.team import EXECUTIVE
from mycel.stores.sql.damaged_rows import ExcludingConnection, Exclusion
from mycel.stores.sql.directory import SqlDirectoryReads, SqlDirectoryWriter
from mycel.stores.sql.part import OneConnection
from mycel.stores.sql.rows import micros
from mycel.stores.sql.tables import OF_ORGANISATION
from mycel.stores.sql.writer import BatchLost
from mycel.stores.sqlite import backup
from mycel.stores.sqlite.condition import find_absence
from mycel.stores.sqlite.database import Database, Disk, Records
from mycel.stores.sqlite.session import ReadSession
from mycel.stores.sqlite.tables import SqliteTables

ResultT = TypeVar("ResultT")


class SqliteDirectoryTransaction(SqlDirectoryWriter):
    """Of a batch, in which each operation can be undone by itself."""

    def __init__(self, connection: apsw.Connection, *, clock: Clock) -> None:
        super().__init__(connection, now=clock.now())
        self._in_transaction = lambda: connection.in_transaction

    def begin(self) -> None:
        self._connection.execute("SAVEPOINT operation")

    def keep(self) -> None:
        self._connection.execute("RELEASE operation")

    def undo(self, error: Exception) -> None:
        if not self._in_transaction():
            raise BatchLost from error
        self._connection.execute("ROLLBACK TO operation")
        self._connection.execute("RELEASE operation")

    def finish(self) -> None:
        """Nothing is left for the end."""

    @contextmanager
    def excluding(self, exclusion: Exclusion) -> Generator[None]:
        """Queries within leave these rows out."""
        whole = self.session
        self.session = OneConnection(ExcludingConnection(self._connection, exclusion), self.now)
        try:
            yield
        finally:
            self.session = whole

    def note_store(self, team: TeamName) -> None:
        self._connection.execute("INSERT OR IGNORE INTO stores VALUES (?, ?)", (team, micros(self.now)))

    def forget_store(self, team: TeamName) -> None:
        self._connection.execute("DELETE FROM stores WHERE team = ?", (team,))


def list_stores(folder: Path) -> list[TeamName]:
    """The teams whose files are there."""
    return sorted(TeamName(file.parent.name) for file in folder.glob("*/memory.sqlite"))


def _has_written_store(folder: Path) -> bool:
    """Not by a mere name: that may have reached the disk before the database that came first."""
    return any(find_absence(file) is None for file in folder.glob("*/memory.sqlite"))


def _has_store(connection: apsw.Connection, team: TeamName) -> bool:
    return connection.execute("SELECT 1 FROM stores WHERE team = ?", (team,)).fetchone() is not None


def _teams_with_store(connection: apsw.Connection) -> list[TeamName]:
    return [TeamName(team) for (team,) in connection.execute("SELECT team FROM stores ORDER BY team")]


class SqliteDirectory(SqlDirectoryReads):
    """See `contracts.directory.Directory`."""

    def __init__(self, path: Path, *, clock: Clock, disk: Disk, teams: Path | None = None) -> None:
        """Where the folder of the teams has stores, there was a database that knew them."""
        self._database: Database[SqliteDirectoryTransaction] = Database(
            path,
            root=path.parent,
            schema="workspace",
            transaction=lambda connection: SqliteDirectoryTransaction(connection, clock=clock),
            disk=disk,
            records=Records(expected=lambda: teams is not None and _has_written_store(teams)),
        )
        super().__init__(ReadSession(self._database, clock))
        self.files = DatabaseFiles(self._database)
        self.tables = SqliteTables(self._database, OF_ORGANISATION)
        self._revision = 0
        # Each connection counts what others have committed; a reader commits nothing, so it misses nothing.
        self._versions: WeakKeyDictionary[apsw.Connection, int] = WeakKeyDictionary()
        self._noticing = threading.Lock()

    def transact(self, work: Callable[[SqliteDirectoryTransaction], ResultT]) -> ResultT:
        return self._database.write(work)

    def revision(self) -> int:
        return self._database.read_whole(self._notice)

    def has_store(self, team: TeamName) -> bool:
        return self._database.read(_has_store, team)

    def teams_with_store(self) -> list[TeamName]:
        return self._database.read(_teams_with_store)

    def note_store(self, team: TeamName) -> None:
        self._database.write(lambda transaction: transaction.note_store(team))

    def forget_store(self, team: TeamName) -> None:
        self._database.write(lambda transaction: transaction.forget_store(team))

    def share_requests(self, node: str, counts: Mapping[MemberId, int]) -> Mapping[MemberId, int]:
        """One service owns a data directory."""
        self.require_ready()
        return {}

    def require_ready(self) -> None:
        self.find_team(EXECUTIVE)

    def close(self) -> None:
        self._database.close()

    def _notice(self, connection: apsw.Connection) -> int:
        version: int = connection.pragma("data_version")
        with self._noticing:
            if self._versions.get(connection) != version:
                self._versions[connection] = version
                self._revision += 1
            return self._revision


class DatabaseFiles:
    """See `contracts.file_care.Files`."""

    def __init__(self, database: Database[SqliteDirectoryTransaction]) -> None:
        self.name = database.path.name
        self._database = database

    def backup(self, folder: Path) -> Path:
        target = folder / self.name
        self._database.read_whole(backup.copy_beside, target, backup.find_file_damage)
        return target

    def check(self) -> list[str]:
        return self._database.check(backup.find_file_damage)

    def damage(self) -> Damage | None:
        return self._database.damage()

    @property
    def damaged_rows(self) -> Damage | None:
        return self._database.row_damage.damage

    def find_damaged_rows(self) -> list[DamagedRow]:
        return self._database.row_damage.find() if self._database.exists() else []
