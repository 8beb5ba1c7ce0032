"""The workspace's own small database: teams, members, tokens."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import apsw

from mycel.contracts.clock import Clock
from mycel.domain.damage import Damage
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.policy import Policy, changed_policy, policy_values
from mycel.domain.team import Kind, Member, Role, Team, Token, Trust
from mycel.stores.sqlite import backup
from mycel.stores.sqlite.condition import find_absence
from mycel.stores.sqlite.database import Database, Disk, Records
from mycel.stores.sqlite.rows import micros, micros_or_none, moment, moment_or_none
from mycel.stores.sqlite.session import OneConnection, Part, ReadSession, query

ResultT = TypeVar("ResultT")

_TEAMS = "SELECT name, parent, created_at FROM teams"
_MEMBERS = "SELECT id, team, role, kind, trust, created_at, removed_at FROM members"
_ISSUED = "SELECT id, member_id, label, created_at, expires_at, revoked_at, parent_id FROM tokens"
_REVOKE = """
WITH RECURSIVE ended (id) AS (
  SELECT id FROM tokens WHERE id = ? OR member_id = ?
  UNION SELECT tokens.id FROM tokens JOIN ended ON tokens.parent_id = ended.id
)
UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL AND id IN (SELECT id FROM ended)"""


class SqliteDirectoryReads(Part):
    """See `contracts.directory.DirectoryReads`."""

    @query
    def find_team(self, connection: apsw.Connection, name: TeamName) -> Team | None:
        row = connection.execute(f"{_TEAMS} WHERE name = ?", (name,)).fetchone()
        return None if row is None else _team(row)

    @query
    def list_teams(self, connection: apsw.Connection) -> list[Team]:
        return [_team(row) for row in connection.execute(f"{_TEAMS} ORDER BY name")]

    @query
    def find_policy(self, connection: apsw.Connection, team: TeamName) -> Policy:
        row = connection.execute("SELECT policy FROM teams WHERE name = ?", (team,)).fetchone()
        return Policy() if row is None or row[0] is None else changed_policy(Policy(), json.loads(row[0]))

    @query
    def find_member(self, connection: apsw.Connection, id: MemberId) -> Member | None:
        row = connection.execute(f"{_MEMBERS} WHERE id = ?", (id,)).fetchone()
        return None if row is None else _member(row)

    @query
    def list_members(self, connection: apsw.Connection, team: TeamName | None = None) -> list[Member]:
        sql = f"{_MEMBERS} WHERE removed_at IS NULL AND team = ifnull(?, team) ORDER BY team, id"
        return [_member(row) for row in connection.execute(sql, (team,))]

    @query
    def find_token(self, connection: apsw.Connection, secret_hash: str) -> Token | None:
        row = connection.execute(f"{_ISSUED} WHERE secret_hash = ?", (secret_hash,)).fetchone()
        return None if row is None else _token(row)

    @query
    def find_token_by_id(self, connection: apsw.Connection, id: str) -> Token | None:
        row = connection.execute(f"{_ISSUED} WHERE id = ?", (id,)).fetchone()
        return None if row is None else _token(row)

    @query
    def list_tokens(self, connection: apsw.Connection, member_id: MemberId | None = None) -> list[Token]:
        sql = f"{_ISSUED} WHERE member_id = ifnull(?, member_id) ORDER BY id"
        return [_token(row) for row in connection.execute(sql, (member_id,))]


class SqliteDirectoryTransaction(SqliteDirectoryReads):
    """Reads here see the writes of the transaction."""

    def __init__(self, connection: apsw.Connection, *, clock: Clock) -> None:
        super().__init__(OneConnection(connection, clock.now()))
        self._connection = connection
        self.now: datetime = self.session.now

    def begin(self) -> None:
        self._connection.execute("SAVEPOINT operation")

    def keep(self) -> None:
        self._connection.execute("RELEASE operation")

    def undo(self) -> None:
        self._connection.execute("ROLLBACK TO operation")
        self._connection.execute("RELEASE operation")

    def finish(self) -> None:
        """Nothing is left for the end."""

    def put_team(self, team: Team) -> None:
        self._connection.execute(
            """
            INSERT INTO teams (name, parent, created_at) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET parent = excluded.parent, created_at = excluded.created_at""",
            (team.name, team.parent, micros(team.created_at)),
        )

    def put_policy(self, team: TeamName, policy: Policy) -> None:
        text = json.dumps(policy_values(policy))
        self._connection.execute("UPDATE teams SET policy = ? WHERE name = ?", (text, team))

    def put_member(self, member: Member) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                member.id,
                member.team,
                member.role,
                member.kind,
                member.trust,
                micros(member.created_at),
                micros_or_none(member.removed_at),
            ),
        )

    def add_token(self, token: Token, secret_hash: str) -> None:
        self._connection.execute(
            """
            INSERT INTO tokens (id, secret_hash, member_id, label, created_at, expires_at, parent_id)
            VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (
                token.id,
                secret_hash,
                token.member_id,
                token.label,
                micros(token.created_at),
                micros_or_none(token.expires_at),
                token.parent_id,
            ),
        )

    def note_store(self, team: TeamName) -> None:
        self._connection.execute("INSERT OR IGNORE INTO stores VALUES (?, ?)", (team, micros(self.now)))

    def forget_store(self, team: TeamName) -> None:
        self._connection.execute("DELETE FROM stores WHERE team = ?", (team,))

    def revoke_tokens(self, *, token_id: str | None = None, member_id: MemberId | None = None) -> int:
        self._connection.execute(_REVOKE, (token_id, member_id, micros(self.now)))
        return self._connection.changes()


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


class SqliteDirectory(SqliteDirectoryReads):
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
        self._revision = 0
        # Each connection counts what others have committed; a reader commits nothing, so it misses nothing.
        self._versions: WeakKeyDictionary[apsw.Connection, int] = WeakKeyDictionary()
        self._noticing = threading.Lock()

    def transact(self, work: Callable[[SqliteDirectoryTransaction], ResultT]) -> ResultT:
        return self._database.write(work)

    def revision(self) -> int:
        return self._database.read(self._notice)

    def has_store(self, team: TeamName) -> bool:
        return self._database.read(_has_store, team)

    def teams_with_store(self) -> list[TeamName]:
        return self._database.read(_teams_with_store)

    def note_store(self, team: TeamName) -> None:
        self._database.write(lambda transaction: transaction.note_store(team))

    def forget_store(self, team: TeamName) -> None:
        self._database.write(lambda transaction: transaction.forget_store(team))

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
        self._database.read(backup.copy_to, target)
        return target

    def check(self) -> list[str]:
        return self._database.check(backup.find_file_damage)

    def damage(self) -> Damage | None:
        return self._database.damage()


def _team(row: tuple[Any, ...]) -> Team:
    return Team(TeamName(row[0]), row[1], moment(row[2]))


def _member(row: tuple[Any, ...]) -> Member:
    return Member(
        id=MemberId(row[0]),
        team=TeamName(row[1]),
        role=Role(row[2]),
        kind=Kind(row[3]),
        trust=Trust(row[4]),
        created_at=moment(row[5]),
        removed_at=moment_or_none(row[6]),
    )


def _token(row: tuple[Any, ...]) -> Token:
    return Token(
        id=row[0],
        member_id=MemberId(row[1]),
        label=row[2],
        created_at=moment(row[3]),
        expires_at=moment_or_none(row[4]),
        revoked_at=moment_or_none(row[5]),
        parent_id=row[6],
    )
