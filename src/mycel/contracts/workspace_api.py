"""What whoever runs a workspace does with it, on local files or through its service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from mycel.domain.backup import Backup, BackupCheck
from mycel.domain.damage import Damage
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.ids import TeamName
from mycel.domain.memory import Memory
from mycel.domain.team import Caller, IssuedToken, Member, PlannedTeam, Team, Token


class WorkspaceApi(Protocol):
    """The operator does everything; an admin has the members of its team; everybody sees its own team."""

    def who_am_i(self) -> Caller: ...
    def add_team(self, name: str, *, parent: str | None = None) -> Team:
        """Adding the same team again changes nothing; without a parent it stands under `executive`."""
        ...

    def teams(self) -> list[Team]: ...
    def add_member(
        self,
        id: str,
        *,
        team: str,
        role: str | None = None,
        kind: str | None = None,
        trust: str = "normal",
        title: str | None = None,
    ) -> Member:
        """Adding the same member again changes nothing; a removed one comes back.

        Without a `role` the job title says which it has: a director, lead, manager, head or chief is a lead.
        """
        ...

    def update_member(
        self,
        id: str,
        *,
        team: str | None = None,
        role: str | None = None,
        trust: str | None = None,
        title: str | None = None,
    ) -> Member: ...
    def remove_member(self, id: str) -> Member:
        """Its tokens end with it, and whatever was issued with them; what it wrote stays."""
        ...

    def members(self, *, team: str | None = None) -> list[Member]: ...
    def arrange(self, teams: Sequence[Mapping[str, Any]]) -> tuple[PlannedTeam, ...]:
        """Makes teams and members true, all together: objects with `name`, `parent` and `members`."""
        ...

    def resolve_team(self, agent_id: str) -> TeamName:
        """The team of a member; one that nobody has named belongs to `executive`."""
        ...

    def locate(self, id: str, *, deleted: bool = False) -> list[Memory]:
        """Return the memories of every team that an id, or 8 or more characters from an end of one, may mean.

        For the operator, who sees no team's private notes here either. At most ten of each team; with `deleted` also
        those that `restore` can bring back.
        """
        ...

    def new_token(
        self, member_id: str, *, label: str | None = None, ttl: timedelta | float | str | None = None
    ) -> IssuedToken:
        """Its secret is shown this once and only its hash is kept.

        Whoever has shown a token issues none that works longer: without a `ttl` it works as long as that one.
        """
        ...

    def tokens(self, *, member_id: str | None = None) -> list[Token]: ...
    def revoke_token(self, token: str) -> None:
        """By its id or its secret; it and all that was issued with it stop working within a second everywhere."""
        ...

    def run_pending(self) -> int:
        """Does the work that is due in every team; returns how much."""
        ...

    def maintain(self) -> int:
        """The nightly maintenance of every team, now."""
        ...

    def scrub(self) -> int:
        """Removes the bytes of purged memories from the files now."""
        ...

    def re_embed(self) -> list[EmbeddingProgress]:
        """Makes missing vectors of every team beside; how far each has come."""
        ...

    def embedding_progress(self, team: str = "executive") -> EmbeddingProgress: ...
    def check(self) -> dict[str, list[str]]:
        """Checks every team's store in full; what is wrong, by team.

        A store that is found damaged is only read from then on, until a later check finds it sound. What is wrong with
        the workspace's own database stands under `workspace.sqlite`.
        """
        ...

    def damages(self) -> list[Damage]:
        """The stores that are known to be damaged or gone."""
        ...

    def reset_store(self, team: str) -> None:
        """Puts the files of a damaged store aside; the team starts afresh, with nothing in its memory."""
        ...

    def create_backup(self, *, name: str | None = None) -> Backup:
        """Of all teams and the organisation, into the folder of the settings; named after the moment by default."""
        ...

    def backups(self) -> list[Backup]:
        """Those in the folder of the settings, the newest first."""
        ...

    def verify_backup(self, name: str) -> BackupCheck:
        """Reads all of it, and names what is damaged."""
        ...
