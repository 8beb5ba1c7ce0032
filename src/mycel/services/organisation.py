"""Teams, members, and who a caller is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

from mycel.access.rules import require_operator
from mycel.contracts.directory import Directory, DirectoryReads, DirectoryTransaction
from mycel.domain import fields
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.policy import LeadsBelow, Policy
from mycel.domain.team import (
    ENGINE,
    EXECUTIVE,
    MEMBER_ID,
    NO_TEAM_NAME,
    OPERATOR,
    TEAM_NAME,
    Caller,
    Kind,
    Member,
    PlannedMember,
    PlannedTeam,
    Role,
    Team,
    Trust,
    role_of_title,
    usual_role,
)
from mycel.errors import AccessDenied, Conflict, InvalidInput, InvalidState, NotFound, StoreDamaged
from mycel.services.screening import refuse_secret, screen_at_once

# Every known format of a key is as long, and in fewer letters nobody is told to do anything.
_LEAST_LOOKED_AT = 20
# A search of a lead opens the stores of all teams above it.
MOST_TEAMS_ABOVE = 16
_SIGNS = re.compile(r"[^A-Za-z0-9]")
_TEAM_NAME, _MEMBER_ID, _RESERVED = re.compile(TEAM_NAME), re.compile(MEMBER_ID), re.compile(NO_TEAM_NAME)


def read_role(role: object, kind: object, title: str | None, *, within: str = "") -> tuple[Role, Kind]:
    """Read a role and a kind. Without a role, the job title or the kind says which; a `member` is a person."""
    is_kind = None if kind is None else fields.choice(kind, Kind, field=f"{within}kind")
    if role is not None:
        has_role = fields.choice(role, Role, field=f"{within}role")
    elif title is not None:
        has_role = role_of_title(title, is_kind or Kind.AGENT)
    else:
        has_role = usual_role(is_kind or Kind.AGENT)
    return has_role, is_kind or (Kind.HUMAN if has_role is Role.MEMBER else Kind.AGENT)


def read_team_name(value: object, *, field: str = "team") -> TeamName:
    if isinstance(value, str) and _TEAM_NAME.fullmatch(value) and not _RESERVED.fullmatch(value):
        _require_plain(value, field)
        return TeamName(value)
    raise InvalidInput(
        "must be 1 to 63 lower-case letters, digits, '-' or '_', starting with a letter or digit", field=field
    )


def read_member_id(value: object, *, field: str = "member") -> MemberId:
    if value == ENGINE:
        raise InvalidInput(f"{ENGINE} is the name of Mycel's own hand: choose another", field=field)
    if isinstance(value, str) and _MEMBER_ID.fullmatch(value):
        _require_plain(value, field)
        return MemberId(value)
    raise InvalidInput("must be 1 to 128 letters, digits or . _ @ : + -, starting with a letter or digit", field=field)


def read_title(value: object, *, field: str = "title") -> str | None:
    """Read what a member is called by its job, such as "Head of Engineering"."""
    if value is None:
        return None
    title = fields.label(value, field=field)
    _require_plain(title, field)
    return title


def _require_plain(name: str, field: str) -> None:
    """Names stand beside what a member wrote, in whatever agents are shown."""
    if len(name) >= _LEAST_LOOKED_AT:
        _screen(name, field)


# The same few are named all the time; one that is refused is not remembered.
@lru_cache(maxsize=4096)
def _screen(name: str, field: str) -> None:
    screen_at_once({field: _SIGNS.sub(" ", name)}, Policy())
    refuse_secret(name, field=field)


class Organisation:
    """The operator arranges everything; an admin adds members to its own team."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def prepare(self) -> None:
        """The team and the person every workspace has."""
        if self._directory.find_member(OPERATOR) is not None:
            return

        def work(transaction: DirectoryTransaction) -> None:
            if transaction.find_member(OPERATOR) is None:
                now = transaction.now
                transaction.put_team(Team(EXECUTIVE, None, now))
                transaction.put_member(Member(OPERATOR, EXECUTIVE, Role.ADMIN, Kind.HUMAN, Trust.NORMAL, now))

        self._directory.transact(work)

    def add_team(self, caller: Caller, name: object, *, parent: object = None) -> Team:
        """Adding the same team again changes nothing; without a parent it stands under the executive team."""
        require_operator(caller)
        team_name = read_team_name(name, field="name")
        above = EXECUTIVE if parent is None else read_team_name(parent, field="parent")

        def work(transaction: DirectoryTransaction) -> Team:
            known = transaction.find_team(team_name)
            if known is None:
                made = _put_team(transaction, team_name, above)
                _note_team(transaction, caller, "add_team", None, made)
                return made
            if parent is not None and known.parent != above:
                raise Conflict(f"team {team_name} exists under {known.parent}: load an organisation file to move it")
            return known

        return self._directory.transact(work)

    def list_teams(self, caller: Caller) -> list[Team]:
        """All of them for the operator; for others their own and the one above it, and for a lead all it reads."""
        seen = {caller.team, caller.parent_team, *caller.reads_above}
        return [team for team in self._directory.list_teams() if caller.is_operator or team.name in seen]

    def add_member(
        self,
        caller: Caller,
        id: object,
        *,
        team: object,
        role: object = None,
        kind: object = None,
        trust: object = None,
        title: object = None,
    ) -> Member:
        """Add a member; adding the same one again changes nothing, and a removed one comes back.

        Without a `role`, its job title says which it has.
        """
        member_id, home = read_member_id(id, field="id"), read_team_name(team)
        job = read_title(title)
        has_role, is_kind = read_role(role, kind, job)
        has_trust = Trust.NORMAL if trust is None else fields.choice(trust, Trust, field="trust")
        _require_manager(caller, home, member_id)

        def work(transaction: DirectoryTransaction) -> Member:
            if transaction.find_team(home) is None:
                raise InvalidState(f"there is no team {home}; add it first", field="team")
            known = transaction.find_member(member_id)
            called = job if job is not None or known is None else known.title
            member = Member(member_id, home, has_role, is_kind, has_trust, transaction.now, title=called)
            if known is not None and not _sees(caller, known):
                # It learns that the id is taken, and no more: also of one that was removed, whose name stands in
                # what its team keeps.
                raise Conflict(f"{member_id} is already a member")
            if known is not None and known.removed_at is None:
                if replace(member, created_at=known.created_at) != known:
                    how = (
                        "update it" if known.team == home else f"`mycel member move {member_id} --team {home}` moves it"
                    )
                    raise Conflict(f"{member_id} is already a member in team {known.team} as {known.role}: {how}")
                return known
            transaction.put_member(member)
            _note_member(transaction, caller, "add_member", known, member)
            return member

        return self._directory.transact(work)

    def update_member(
        self,
        caller: Caller,
        id: object,
        *,
        team: object = None,
        role: object = None,
        trust: object = None,
        title: object = None,
    ) -> Member:
        """Change a member. A title alone changes no role."""
        member_id = read_member_id(id, field="id")

        def work(transaction: DirectoryTransaction) -> Member:
            known = _get_member(transaction, caller, member_id)
            _require_manager(caller, known.team, member_id)
            member = replace(
                known,
                team=known.team if team is None else read_team_name(team),
                role=known.role if role is None else fields.choice(role, Role, field="role"),
                trust=known.trust if trust is None else fields.choice(trust, Trust, field="trust"),
                title=known.title if title is None else read_title(title),
            )
            _require_manager(caller, member.team, member_id)
            if transaction.find_team(member.team) is None:
                raise InvalidState(f"there is no team {member.team}; add it first", field="team")
            _keep_operator(member)
            transaction.put_member(member)
            _note_member(transaction, caller, "update_member", known, member)
            return member

        return self._directory.transact(work)

    def remove_member(self, caller: Caller, id: object) -> Member:
        """Its tokens end with it, and whatever was issued with them; what it wrote stays."""
        member_id = read_member_id(id, field="id")

        def work(transaction: DirectoryTransaction) -> Member:
            known = _get_member(transaction, caller, member_id)
            _require_manager(caller, known.team, member_id)
            member = replace(known, removed_at=transaction.now)
            _keep_operator(member)
            transaction.put_member(member)
            transaction.revoke_tokens(member_id=member_id)
            _note_member(transaction, caller, "remove_member", known, member)
            return member

        return self._directory.transact(work)

    def list_members(self, caller: Caller, *, team: object = None) -> list[Member]:
        """Of all teams for the operator; for others of their own."""
        name = None if team is None else read_team_name(team)
        if not caller.is_operator:
            if name not in {None, caller.team}:
                raise NotFound(f"no team {name}")
            name = caller.team
        return self._directory.list_members(name)

    def resolve_team(self, caller: Caller, id: object) -> TeamName:
        """The team of a member; one that nobody has named, or that the caller cannot see, belongs to the executive."""
        member = self._directory.find_member(read_member_id(id, field="agent_id"))
        known = member is not None and member.removed_at is None and _sees(caller, member)
        return member.team if member is not None and known else EXECUTIVE

    def arrange(self, caller: Caller, teams: Iterable[PlannedTeam]) -> tuple[PlannedTeam, ...]:
        """Makes the teams and members of organisation files true, all together; others stay as they are."""
        require_operator(caller)
        planned = tuple(teams)

        def work(transaction: DirectoryTransaction) -> None:
            for team in planned:
                known = transaction.find_team(team.name)
                now = known.created_at if known else transaction.now
                made = Team(team.name, team.parent, now)
                transaction.put_team(made)
                _note_team(transaction, caller, "arrange", known, made)
            _require_descent(transaction, {team.name for team in planned})
            for team in planned:
                for planned_member in team.members:
                    before = transaction.find_member(planned_member.id)
                    _put_planned(transaction, team.name, planned_member)
                    after = transaction.find_member(planned_member.id) or before
                    if after is not None:
                        _note_member(transaction, caller, "arrange", before, after)

        self._directory.transact(work)
        return planned


def caller_for(directory: DirectoryReads, id: MemberId, *, team: TeamName | None = None) -> Caller:
    """The caller a member is. The operator may act in any team; everybody else acts in its own."""
    member = directory.find_member(id)
    if member is not None and member.removed_at is not None:
        raise AccessDenied(f"{id} is no longer a member of this workspace")
    home = (EXECUTIVE if member is None else member.team) if team is None else team
    found = directory.find_team(home)
    if found is None:
        raise NotFound(f"no team {home}")
    if member is None:
        return Caller(id, home, Role.AGENT)
    if id == OPERATOR:
        return Caller(id, home, Role.ADMIN, Kind.HUMAN, member.trust, found.parent, is_operator=True)
    above = _teams_read_above(directory, found) if member.role is Role.LEAD else ()
    return Caller(id, home, member.role, member.kind, member.trust, found.parent, above)


def _teams_read_above(directory: DirectoryReads, home: Team) -> tuple[TeamName, ...]:
    """Return the teams above one that its leads may read, the nearest first and `executive` last.

    A team whose policy cannot be read is left out: nobody reads by rules that it may not have.
    """
    found: list[TeamName] = []
    passed = {home.name}
    name = home.parent
    while name is not None and name not in passed and len(passed) <= MOST_TEAMS_ABOVE:
        with suppress(StoreDamaged):
            readers = directory.find_policy(name).leads_below
            if readers is LeadsBelow.ALL or (readers is LeadsBelow.DIRECT and name == home.parent):
                found.append(name)
        passed.add(name)
        above = directory.find_team(name)
        name = None if above is None else above.parent
    return tuple(found)


def descendants(directory: DirectoryReads, team: TeamName) -> list[TeamName]:
    """Every team below, however deep."""
    teams = directory.list_teams()
    found: list[TeamName] = []
    above = {team}
    while below := [one.name for one in teams if one.parent in above and one.name not in {team, *found}]:
        found += below
        above = set(below)
    return sorted(found)


def _put_team(transaction: DirectoryTransaction, name: TeamName, parent: TeamName) -> Team:
    if transaction.find_team(parent) is None:
        raise InvalidState(f"there is no team {parent}; add it first", field="parent")
    team = Team(name, parent, transaction.now)
    transaction.put_team(team)
    _require_descent(transaction, {name})
    return team


def _told(member: Member | None) -> dict[str, Any]:
    if member is None or member.removed_at is not None:
        return {}
    said = {"team": member.team, "role": member.role, "kind": member.kind, "trust": member.trust}
    return said if member.title is None else {**said, "title": member.title}


def _note_member(
    transaction: DirectoryTransaction, caller: Caller, operation: str, before: Member | None, after: Member
) -> None:
    """What changes nothing leaves nothing. It is the affair of the team that the member is in, and of one it left."""
    old, new = _told(before), _told(after)
    for team in dict.fromkeys(one.team for one in (before, after) if one is not None and old != new):
        transaction.note(operation, by=caller.member_id, team=team, subject=after.id, before=old, after=new)


def _note_team(
    transaction: DirectoryTransaction, caller: Caller, operation: str, before: Team | None, after: Team
) -> None:
    old, new = {} if before is None else {"parent": before.parent}, {"parent": after.parent}
    if old != new:
        by, team = caller.member_id, after.name
        transaction.note(operation, by=by, team=team, subject=after.name, before=old, after=new)


def _put_planned(transaction: DirectoryTransaction, team: TeamName, planned: PlannedMember) -> None:
    known = transaction.find_member(planned.id)
    trust = known.trust if known else Trust.NORMAL
    created_at = known.created_at if known else transaction.now
    title = planned.title or (known.title if known else None)
    member = Member(planned.id, team, planned.role, planned.kind, trust, created_at, title=title)
    _keep_operator(member)
    transaction.put_member(member)


def _require_descent(transaction: DirectoryTransaction, moved: Set[TeamName]) -> None:
    """Require that from each of these teams, and from each below one, a chain of parents leads up to `executive`."""
    parents = {team.name: team.parent for team in transaction.list_teams()}
    for team in parents:
        chain = [team]
        while (above := parents.get(chain[-1])) is not None and len(chain) == len(set(chain)):
            chain.append(above)
        if moved.isdisjoint(chain):
            continue
        if len(chain) > len(set(chain)):
            raise InvalidState(f"team {chain[-1]} would be above itself", field="parent")
        if chain[-1] not in parents:
            raise InvalidState(f"there is no team {chain[-1]}", field="parent")
        if len(chain) > MOST_TEAMS_ABOVE + 1:
            raise InvalidState(f"team {team} would have more than {MOST_TEAMS_ABOVE} teams above it", field="parent")


def _sees(caller: Caller, member: Member) -> bool:
    return caller.is_operator or member.team == caller.team


def _get_member(transaction: DirectoryTransaction, caller: Caller, id: MemberId) -> Member:
    member = transaction.find_member(id)
    if member is None or member.removed_at is not None or not _sees(caller, member):
        raise NotFound(f"no member {id}")
    return member


def _require_manager(caller: Caller, team: TeamName, id: MemberId) -> None:
    if id == OPERATOR and not caller.is_operator:
        raise AccessDenied("only the operator changes the operator")
    if not caller.is_operator and (caller.role is not Role.ADMIN or caller.team != team):
        raise AccessDenied(f"only the operator or an admin of team {team} can change its members")


def _keep_operator(member: Member) -> None:
    fixed = (member.team, member.role, member.kind, member.removed_at) == (
        EXECUTIVE,
        Role.ADMIN,
        Kind.HUMAN,
        None,
    )
    if member.id == OPERATOR and not fixed:
        raise InvalidState("the operator is always a human admin of the executive team", field="id")
