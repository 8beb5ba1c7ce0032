"""Teams, members and tokens: how they are read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mycel.domain.activity import AuditEntry
from mycel.domain.ids import MemberId, TeamName, new_id
from mycel.domain.policy import Policy, changed_policy, policy_values
from mycel.domain.team import Kind, Member, Role, Team, Token, Trust
from mycel.errors import StoreDamaged
from mycel.stores.sql.activity import action_of
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import OneConnection, Part, query
from mycel.stores.sql.rows import micros, micros_or_none, moment, moment_or_none
from mycel.stores.sql.statements import upsert

_ACTIONS = "SELECT id, operation, changed_by, changed_at, subject, before, after FROM organisation_actions"
_TEAMS = "SELECT name, parent, created_at FROM teams"
_MEMBERS = "SELECT id, team, role, kind, trust, created_at, removed_at, title FROM members"
_PUT_MEMBER = upsert("members", ("id",), ("team", "role", "kind", "trust", "created_at", "removed_at", "title"))
_ISSUED = "SELECT id, member_id, label, created_at, expires_at, revoked_at, parent_id FROM tokens"
_REVOKE = """
WITH RECURSIVE ended (id) AS (
  SELECT id FROM tokens WHERE id = ? OR member_id = ?
  UNION SELECT tokens.id FROM tokens JOIN ended ON tokens.parent_id = ended.id
)
UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL AND id IN (SELECT id FROM ended) RETURNING id"""


class SqlDirectoryReads(Part):
    """See `contracts.directory.DirectoryReads`."""

    @query
    def find_team(self, connection: Connection, name: TeamName) -> Team | None:
        row = connection.execute(f"{_TEAMS} WHERE name = ?", (name,)).fetchone()
        return None if row is None else _team(row)

    @query
    def list_teams(self, connection: Connection) -> list[Team]:
        return [_team(row) for row in connection.execute(f"{_TEAMS} ORDER BY name")]

    @query
    def find_policy(self, connection: Connection, team: TeamName) -> Policy:
        row = connection.execute("SELECT policy FROM teams WHERE name = ?", (team,)).fetchone()
        if row is None and connection.execute("SELECT 1 FROM teams WHERE name = ?", (team,)).fetchone() is not None:
            # Nobody goes on by the rules that a team begins with because its own cannot be read.
            raise StoreDamaged(f"the policy of team {team} cannot be read: restore the workspace database")
        return Policy() if row is None or row[0] is None else changed_policy(Policy(), json.loads(row[0]))

    @query
    def find_member(self, connection: Connection, id: MemberId) -> Member | None:
        row = connection.execute(f"{_MEMBERS} WHERE id = ?", (id,)).fetchone()
        return None if row is None else _member(row)

    @query
    def list_members(self, connection: Connection, team: TeamName | None = None) -> list[Member]:
        sql = f"{_MEMBERS} WHERE removed_at IS NULL AND team = coalesce(?, team) ORDER BY team, id"
        return [_member(row) for row in connection.execute(sql, (team,))]

    @query
    def find_token(self, connection: Connection, secret_hash: str) -> Token | None:
        row = connection.execute(f"{_ISSUED} WHERE secret_hash = ?", (secret_hash,)).fetchone()
        return None if row is None else _token(row)

    @query
    def find_token_by_id(self, connection: Connection, id: str) -> Token | None:
        row = connection.execute(f"{_ISSUED} WHERE id = ?", (id,)).fetchone()
        return None if row is None else _token(row)

    @query
    def list_tokens(self, connection: Connection, member_id: MemberId | None = None) -> list[Token]:
        sql = f"{_ISSUED} WHERE member_id = coalesce(?, member_id) ORDER BY id"
        return [_token(row) for row in connection.execute(sql, (member_id,))]

    @query
    def list_actions(
        self,
        connection: Connection,
        team: TeamName | None,
        *,
        by: MemberId | None = None,
        before: str | None = None,
        limit: int,
    ) -> list[AuditEntry]:
        asked = {"team": team, "changed_by": by}
        given = {name: value for name, value in asked.items() if value is not None}
        wanted = [f"{name} = ?" for name in given] + (["id < ?"] if before is not None else [])
        where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
        values = (*given.values(), *([] if before is None else [before]), limit)
        sql = f"{_ACTIONS} {where} ORDER BY id DESC LIMIT ?"
        return [action_of(row) for row in connection.execute(sql, values).fetchall()]


class SqlDirectoryWriter(SqlDirectoryReads):
    """See `contracts.directory.DirectoryTransaction`; reads here see the writes of the transaction."""

    def __init__(self, connection: Connection, *, now: datetime) -> None:
        super().__init__(OneConnection(connection, now))
        self._connection = connection
        self.now = now

    def note(
        self,
        operation: str,
        *,
        by: MemberId,
        team: TeamName,
        subject: str,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        self._connection.execute(
            """
            INSERT INTO organisation_actions (id, team, operation, changed_by, changed_at, subject, before, after)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                *(new_id(), team, operation, by, micros(self.now), subject),
                *(json.dumps(dict(value or {}), ensure_ascii=False, default=str) for value in (before, after)),
            ),
        )

    def put_team(self, team: Team) -> None:
        self._connection.execute(
            """
            INSERT INTO teams (name, parent, created_at) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET parent = excluded.parent, created_at = excluded.created_at""",
            (team.name, team.parent, micros(team.created_at)),
        )

    def put_policy(self, team: TeamName, policy: Policy) -> None:
        values = policy_values(policy)
        if not policy.decisions_need_rationale:
            # Nodes of the last release refuse a part that they do not know.
            del values["decisions_need_rationale"]
        text = json.dumps(values)
        self._connection.execute("UPDATE teams SET policy = ? WHERE name = ?", (text, team))

    def put_member(self, member: Member) -> None:
        self._connection.execute(
            _PUT_MEMBER,
            (
                member.id,
                member.team,
                member.role,
                member.kind,
                member.trust,
                micros(member.created_at),
                micros_or_none(member.removed_at),
                member.title,
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

    def revoke_tokens(self, *, token_id: str | None = None, member_id: MemberId | None = None) -> int:
        return len(self._connection.execute(_REVOKE, (token_id, member_id, micros(self.now))).fetchall())


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
        title=row[7],
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
