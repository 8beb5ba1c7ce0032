"""Read scopes: the part of a team's store that one caller may see. Every store query takes one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mycel.domain.change import Audience
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import Visibility
from mycel.domain.team import Caller, Role


@dataclass(frozen=True, slots=True)
class ReadScope:
    """Sees what is for the team, what is for `role`, and whatever `member_id` wrote itself."""

    team: TeamName
    member_id: MemberId | None
    role: Role | None
    every_role: bool = False
    # For the engine, which shows nothing to anybody, and for finding what an admin purges unseen.
    everything: bool = False

    def sees(self, audience: Audience) -> bool:
        """The rule itself; the stores' SQL must agree with it for every audience."""
        if self.everything or audience.visibility is Visibility.TEAM:
            return True
        if self.member_id is not None and audience.agent_id == self.member_id:
            return True
        if audience.visibility is Visibility.ROLE:
            return self.every_role or self.role in audience.allowed_roles
        return False


@lru_cache(maxsize=4096)
def read_scope(caller: Caller) -> ReadScope:
    """The caller's own team. Private text stays with its author, whatever the caller's role."""
    return ReadScope(
        team=caller.team,
        member_id=caller.member_id,
        role=caller.role,
        every_role=caller.role is Role.ADMIN,
    )


def scopes_above(caller: Caller) -> tuple[ReadScope, ...]:
    """Return what a lead sees of each team above, the nearest first: what is for that whole team, nothing narrower."""
    if caller.role is not Role.LEAD:
        return ()
    return tuple(everyones_scope(team) for team in caller.reads_above)


# Asked on every read; a caller's answer never changes.
@lru_cache(maxsize=4096)
def readable_scopes(caller: Caller) -> tuple[ReadScope, ...]:
    """Return the caller's own team first, then what a lead sees of the teams above."""
    return (read_scope(caller), *scopes_above(caller))


def scope_of_team(caller: Caller, team: str | None) -> ReadScope | None:
    """The scope for one named team, or None when the caller reads nothing of it."""
    if team is None:
        return read_scope(caller)
    return next((scope for scope in readable_scopes(caller) if scope.team == team), None)


def everyones_scope(team: TeamName) -> ReadScope:
    """What everybody in the team may read, and nothing else."""
    return ReadScope(team=team, member_id=None, role=None)


def engine_scope(team: TeamName) -> ReadScope:
    """All of a team's store. What the engine makes of a memory is for no more readers than the memory itself."""
    return ReadScope(team=team, member_id=None, role=None, everything=True)


def purge_scope(caller: Caller) -> ReadScope:
    """An admin can purge what it may not read."""
    if caller.role is Role.ADMIN:
        return engine_scope(caller.team)
    return read_scope(caller)
