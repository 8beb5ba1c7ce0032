"""A workspace on local files: its teams and members, and the memory of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mycel.access.rules import require_operator
from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.backup import Backup, BackupCheck
from mycel.domain.damage import ROWS_DAMAGED, Damage
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import Memory
from mycel.domain.team import EXECUTIVE, OPERATOR, Caller, IssuedToken, Kind, Member, PlannedTeam, Team, Token
from mycel.embedded.member_services import MemberServices
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import StoreDamaged
from mycel.services.archive import Progress
from mycel.services.backup_files import Report as BackupReport
from mycel.services.backups import Backups
from mycel.services.callers import Callers, token_of
from mycel.services.change_feed import Follower
from mycel.services.embeddings import Report
from mycel.services.organisation import Organisation, read_member_id, read_team_name
from mycel.services.organisation_plan import read_planned_teams
from mycel.services.sign_in_links import SignInLinks
from mycel.services.team_files import read_org
from mycel.services.tokens import Tokens
from mycel.services.upkeep import Upkeep


@dataclass(frozen=True, slots=True)
class WorkspaceServices:
    """The use cases of whoever owns the files."""

    organisation: Organisation
    tokens: Tokens
    links: SignInLinks
    callers: Callers
    upkeep: Upkeep
    backups: Backups
    member: MemberServices


class Workspace:
    """Whoever can open the files is the operator: it may act as any member and in any team.

    See `contracts.workspace_api.WorkspaceApi` for what the methods it shares with a service promise.
    """

    def __init__(
        self, services: WorkspaceServices, *, close: Callable[[], None], caller: Callable[[], Caller] | None = None
    ) -> None:
        self._do = services
        self._close = close
        self._caller = caller or services.callers.member(OPERATOR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def as_member(self, id: str, *, may_be_new: bool = False) -> TeamMemory:
        """Return the memory of a member's team; a name that nobody has is refused with the names that are near it.

        With `may_be_new` such a name works in `executive`, as an agent that no team lists yet.
        """
        require_operator(self._caller())
        member = read_member_id(id, field="id")
        callers = self._do.callers
        return self._memory(callers.member(member) if may_be_new else callers.known_member(member))

    def as_operator(self, team: str = EXECUTIVE) -> TeamMemory:
        """The operator as an admin of any team."""
        require_operator(self._caller())
        return self._memory(self._do.callers.member(OPERATOR, team=read_team_name(team)))

    def with_token(self, secret: str) -> TeamMemory:
        """The memory of whoever the token was issued to; `AccessDenied` when it is unknown, expired or revoked."""
        return self._memory(self._do.callers.token(secret))

    def sign_in(
        self, secret: str, *, member: str | None = None, team: str | None = None, known_only: bool = False
    ) -> Visit:
        """Who comes with a token, and what it may do here. The operator may come as a member, or into a team.

        With `known_only` a member's name that nobody has is refused.
        """
        given = self._do.callers.token(secret)
        named = member is not None or team is not None
        acting = self._do.callers.acting(given, member=member, team=team, known_only=known_only) if named else given
        workspace = Workspace(self._do, close=_leave_open, caller=acting)
        return Visit(acting, self._memory(acting), workspace, self._do)

    def who_am_i(self) -> Caller:
        return self._caller()

    def add_team(self, name: str, *, parent: str | None = None) -> Team:
        team = self._do.organisation.add_team(self._caller(), name, parent=parent)
        self._do.member.cascading.reconcile()
        return team

    def teams(self) -> list[Team]:
        return self._do.organisation.list_teams(self._caller())

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
        return self._do.organisation.add_member(
            self._caller(), id, team=team, role=role, kind=kind, trust=trust, title=title
        )

    def update_member(
        self,
        id: str,
        *,
        team: str | None = None,
        role: str | None = None,
        trust: str | None = None,
        title: str | None = None,
    ) -> Member:
        return self._do.organisation.update_member(self._caller(), id, team=team, role=role, trust=trust, title=title)

    def remove_member(self, id: str) -> Member:
        return self._do.organisation.remove_member(self._caller(), id)

    def members(self, *, team: str | None = None) -> list[Member]:
        return self._do.organisation.list_members(self._caller(), team=team)

    def load_org(self, path: str | Path) -> tuple[PlannedTeam, ...]:
        """Makes the teams and members of `org/teams/*.md` true; all of them, or none on an error."""
        return self._arrange(read_org(Path(path)))

    def arrange(self, teams: Sequence[Mapping[str, Any]]) -> tuple[PlannedTeam, ...]:
        return self._arrange(read_planned_teams(teams))

    def resolve_team(self, agent_id: str) -> TeamName:
        return self._do.organisation.resolve_team(self._caller(), agent_id)

    def locate(self, id: str, *, deleted: bool = False) -> list[Memory]:
        in_each_team = [self._in(team.name) for team in self.teams()]
        return self._do.member.reading.locate(in_each_team, id, deleted=deleted)

    def issue_token(
        self, member_id: str, *, label: str | None = None, ttl: timedelta | float | str | None = None
    ) -> str:
        """The secret; it is shown this once and only its hash is kept."""
        return self.new_token(member_id, label=label, ttl=ttl).secret

    def new_token(
        self, member_id: str, *, label: str | None = None, ttl: timedelta | float | str | None = None
    ) -> IssuedToken:
        return self._do.tokens.issue(self._caller(), member_id, label=label, ttl=ttl, parent=token_of(self._caller))

    def token_owner(self, member_id: str | None = None) -> MemberId:
        """Whose tokens the caller may have issued: the member named, or itself; the errors are those of `new_token`."""
        caller = self._caller()
        return self._do.tokens.owner(caller, caller.member_id if member_id is None else member_id)

    def redeem_link(self, code: str, *, label: str, at_most: timedelta) -> IssuedToken:
        """What a browser gets for the code of a sign-in link, once."""
        return self._do.links.redeem(code, label=label, at_most=at_most)

    def tokens(self, *, member_id: str | None = None) -> list[Token]:
        return self._do.tokens.list(self._caller(), member_id=member_id)

    def revoke_token(self, token: str) -> None:
        """By its id or its secret; it and all that was issued with it stop working within a second everywhere."""
        self._do.tokens.revoke(self._caller(), token)

    def run_pending(self, *, report: Report | None = None) -> int:
        """Does the work that is due in every team: the engine's queue, missing vectors, scrubbing; returns how much.

        `report` is called with the team and its progress after each batch of vectors.
        """
        return self._do.upkeep.run_pending(self._caller(), report=report)

    def scrub(self) -> int:
        """Removes the bytes of purged memories from the files now; returns how many erasures that finished."""
        return self._do.upkeep.scrub(self._caller())

    def work_beside(self) -> None:
        """Has the engine work by itself from now on, in a thread and a child process, until the workspace is closed."""
        self._do.upkeep.work_beside(self._caller())

    def maintain(self) -> int:
        """The nightly maintenance of every team, now; returns how many pieces of work were finished."""
        return self._do.upkeep.maintain(self._caller())

    def embed_pending(self, *, report: Report | None = None) -> int:
        """Makes the vectors that are missing, and nothing else; returns of how many memories."""
        return self._do.upkeep.embed_pending(self._caller(), report=report)

    def embed_beside(self) -> None:
        """Works off what waits for vectors in a thread of its own; also begun by searches that find much waiting."""
        self._do.upkeep.embed_beside(self._caller())

    def embedding_progress(self, team: str = EXECUTIVE) -> EmbeddingProgress:
        """How many of a team's memories have vectors of the current model, and about how many changes wait."""
        return self._do.upkeep.embedding_progress(self._caller(), read_team_name(team))

    def re_embed(self) -> list[EmbeddingProgress]:
        self.embed_beside()
        return [self.embedding_progress(team.name) for team in self.teams()]

    def backup(self, folder: str | Path, *, report: BackupReport | None = None) -> Backup:
        """Copies all teams and the organisation into a new folder, whole or not at all, while everybody goes on.

        `report` is called with the name of a part and how many of its bytes are written.
        """
        return self._do.backups.create(self._caller(), Path(folder), report=report)

    def check_backup(self, folder: str | Path, *, report: BackupReport | None = None) -> BackupCheck:
        """Every byte of a backup in any folder."""
        return self._do.backups.check(self._caller(), Path(folder), report=report)

    def backups_in(self, folder: str | Path) -> list[Backup]:
        return self._do.backups.list(self._caller(), Path(folder))

    def create_backup(self, *, name: str | None = None) -> Backup:
        return self._do.backups.create_named(self._caller(), name)

    def backups(self) -> list[Backup]:
        return self._do.backups.list(self._caller())

    def verify_backup(self, name: str) -> BackupCheck:
        return self._do.backups.check_named(self._caller(), name)

    def export(self, file: str | Path, *, team: str = EXECUTIVE, progress: Progress | None = None) -> ExportReport:
        """All of a team into one archive, private memories included, while readers and writers go on.

        `progress` is called with how many records are done.
        """
        return self._do.member.moving.export_team(self._in(team), Path(file), progress=progress)

    def import_(
        self, file: str | Path, *, team: str = EXECUTIVE, dry_run: bool = False, progress: Progress | None = None
    ) -> MoveReport:
        """Takes in the archive of a whole team, with ids, times and authors; what is newer or purged here stays so."""
        return self._do.member.moving.import_team(self._in(team), Path(file), dry_run=dry_run, progress=progress)

    def check(self) -> dict[str, list[str]]:
        """Checks every team's store in full; what is wrong, by team."""
        return self._do.upkeep.check(self._caller())

    def damages(self) -> list[Damage]:
        """The stores that are known to be damaged or gone."""
        return self._do.upkeep.damages(self._caller())

    def share_requests(self, node: str, counts: Mapping[MemberId, int]) -> Mapping[MemberId, int]:
        """How often members have asked the other nodes of a service in the last second; `counts` is for those."""
        return self._do.upkeep.share_requests(node, counts)

    def require_ready(self) -> None:
        """Also for whoever watches: `Unavailable` or `Misconfigured` where the workspace cannot be used now."""
        self._do.upkeep.require_ready()

    def find_damages(self) -> list[Damage]:
        """The same for whoever watches a service, and asks nobody who they are."""
        return self._do.upkeep.find_damages()

    def store_is_damaged(self, team: TeamName) -> bool:
        """Whether answers from this team's store may lack something."""
        return self._do.upkeep.store_is_damaged(team)

    def reset_store(self, team: str) -> None:
        """Puts the files of a damaged store aside; the team starts afresh, with nothing in its memory."""
        self._do.upkeep.reset_store(self._caller(), read_team_name(team))

    def close(self) -> None:
        """Waits for writes under way, then closes every file. Closing twice is closing once."""
        self._close()

    def _arrange(self, plan: Sequence[PlannedTeam]) -> tuple[PlannedTeam, ...]:
        arranged = self._do.organisation.arrange(self._caller(), plan)
        self._do.member.cascading.reconcile()
        return arranged

    def _in(self, team: str) -> Caller:
        require_operator(self._caller())
        return self._do.callers.member(OPERATOR, team=read_team_name(team))()

    def _memory(self, caller: Callable[[], Caller]) -> TeamMemory:
        return TeamMemory(caller, self._do.member)


@dataclass(frozen=True, slots=True)
class Visit:
    """One caller of a service: who it is at this moment, its team's memory, and the workspace as far as it may see."""

    caller: Callable[[], Caller]
    memory: TeamMemory
    workspace: Workspace
    _do: WorkspaceServices

    @property
    def token(self) -> Token:
        """What it has shown, also where it acts for somebody else."""
        token = token_of(self.caller)
        if token is None:
            raise RuntimeError("a visit begins with a token")
        return token

    def new_browser_token(self, member_id: MemberId, *, label: str, at_most: timedelta) -> IssuedToken:
        """As `Workspace.new_token`, for as long as the caller's own token works, and at most so long."""
        return self._do.tokens.issue(self.caller(), member_id, label=label, parent=self.token, at_most=at_most)

    def offer_link(self, member_id: MemberId, *, lifetime: timedelta) -> tuple[str, datetime | None]:
        """The code of a link that signs a browser in as a member, once, and when it ends."""
        return self._do.links.offer(self.caller(), member_id, parent=self.token, lifetime=lifetime)

    def kind_of(self, member_id: str) -> Kind | None:
        """Return whether the writer of a memory is a person or an agent."""
        return self._do.callers.kind_of(member_id)

    def degradation(self) -> str | None:
        """What of the caller's own store is damaged, as far as it is known: all of it, or rows that are left out."""
        team = self.caller().team
        if self.workspace.store_is_damaged(team):
            return StoreDamaged.code
        return ROWS_DAMAGED if self._do.upkeep.has_damaged_rows(team) else None

    def follow(self, *, wake: Callable[[], None], **wanted: Any) -> Follower:
        """See `services.following.Following.follow`."""
        return self._do.member.following.follow(self.caller, wake=wake, **wanted)


def _leave_open() -> None:
    """A visitor leaves the files as they are."""
