"""Who belongs to a workspace: its teams, their members and their tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar

from mycel.contracts.file_care import Files
from mycel.contracts.tables import Tables
from mycel.domain.activity import AuditEntry
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.policy import Policy
from mycel.domain.team import Member, Team, Token

ResultT = TypeVar("ResultT")


class DirectoryReads(Protocol):
    """Readable on its own and inside a transaction."""

    def find_team(self, name: TeamName) -> Team | None: ...
    def list_teams(self) -> list[Team]: ...
    def find_policy(self, team: TeamName) -> Policy:
        """The defaults where nobody has said anything."""
        ...

    def find_member(self, id: MemberId) -> Member | None:
        """Also one that was removed."""
        ...

    def list_members(self, team: TeamName | None = None) -> list[Member]:
        """Without the removed ones."""
        ...

    def find_token(self, secret_hash: str) -> Token | None:
        """Also one that was revoked or has expired."""
        ...

    def find_token_by_id(self, id: str) -> Token | None: ...
    def list_tokens(self, member_id: MemberId | None = None) -> list[Token]: ...
    def list_actions(
        self, team: TeamName | None, *, by: MemberId | None = None, before: str | None = None, limit: int
    ) -> list[AuditEntry]:
        """Of one team or of all, newest first, from before an action's id on."""
        ...


class DirectoryTransaction(DirectoryReads, Protocol):
    """All of it is stored, or none."""

    @property
    def now(self) -> datetime: ...
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
        """What was done to the organisation, in the transaction that does it; `team` is whose affair it is."""
        ...

    def put_team(self, team: Team) -> None: ...
    def put_policy(self, team: TeamName, policy: Policy) -> None: ...
    def put_member(self, member: Member) -> None: ...
    def add_token(self, token: Token, secret_hash: str) -> None: ...
    def revoke_tokens(self, *, token_id: str | None = None, member_id: MemberId | None = None) -> int:
        """With every token that was issued with one of them, however far below; how many were still valid."""
        ...


class Directory(DirectoryReads, Protocol):
    """Safe to use from any thread and from several processes."""

    def transact(self, work: Callable[[DirectoryTransaction], ResultT]) -> ResultT:
        """As `Store.transact`."""
        ...

    def revision(self) -> int:
        """Another number than before whenever something has changed, by whatever process; maybe also when nothing has.

        Costs less than reading anything.
        """
        ...

    def share_requests(self, node: str, counts: Mapping[MemberId, int]) -> Mapping[MemberId, int]:
        """Notes how often members have asked this node in the last second; how often they have asked the others."""
        ...

    def require_ready(self) -> None:
        """Reads something: `Unavailable` where that cannot be done now, `Misconfigured` where the tables are others."""
        ...

    @property
    def files(self) -> Files: ...
    @property
    def tables(self) -> Tables: ...
    def close(self) -> None: ...
