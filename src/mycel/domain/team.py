"""Teams, their members, and the caller behind a request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import MemberId, TeamName

EXECUTIVE = TeamName("executive")
OPERATOR = MemberId("operator")
# Who changed a memory when nobody did by hand.
ENGINE = MemberId("engine")
TEAM_NAME = "[a-z0-9][a-z0-9_-]{0,62}"
# A team is a folder, and these cannot be one on Windows.
NO_TEAM_NAME = "con|prn|aux|nul|com[0-9]|lpt[0-9]"
MEMBER_ID = "[A-Za-z0-9][A-Za-z0-9._@:+-]{0,127}"


class Role(StrEnum):
    AGENT = "agent"
    MEMBER = "member"
    LEAD = "lead"
    ORCHESTRATOR = "orchestrator"
    ADMIN = "admin"


_LEADING = frozenset({"chief", "director", "head", "lead", "manager"})


_WORDS = re.compile(r"[a-z]++")


def role_of_title(title: str, kind: Kind) -> Role:
    """Return the role that a job title stands for: a director, head, manager, chief or lead leads its team.

    The word opens the title, ends it, or stands before `of` or `for`: who "helps the lead with reviews" leads nothing.
    """
    words = _WORDS.findall(title.casefold())
    if any(word == title.strip().casefold() for word in Role):
        return Role(title.strip().casefold())
    places = [place for place, word in enumerate(words) if word in _LEADING and "to" not in words[:place]]
    leads = any(place in {0, len(words) - 1} or words[place + 1] in {"of", "for"} for place in places)
    return Role.LEAD if leads else usual_role(kind)


class Kind(StrEnum):
    AGENT = "agent"
    HUMAN = "human"


def usual_role(kind: Kind) -> Role:
    return Role.MEMBER if kind is Kind.HUMAN else Role.AGENT


class Trust(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Team:
    """The isolation boundary: each team has a store of its own."""

    name: TeamName
    parent: TeamName | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Member:
    """An agent or a human of one team."""

    id: MemberId
    team: TeamName
    role: Role
    kind: Kind
    trust: Trust
    created_at: datetime
    removed_at: datetime | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedMember:
    """A member as an organisation file describes it."""

    id: MemberId
    role: Role
    kind: Kind
    title: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedTeam:
    """A team as an organisation file describes it."""

    name: TeamName
    parent: TeamName | None
    members: tuple[PlannedMember, ...]


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated member behind a request, and the team it acts in."""

    member_id: MemberId
    team: TeamName
    role: Role
    kind: Kind = Kind.AGENT
    trust: Trust = Trust.NORMAL
    parent_team: TeamName | None = None
    # Which teams above a lead reads, the nearest first; nobody else reads any.
    reads_above: tuple[TeamName, ...] = ()
    is_operator: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a bearer token; the secret itself is shown once and never stored."""

    id: str
    member_id: MemberId
    label: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    # The token it was issued with; none where whoever owns the files issued it.
    parent_id: str | None = None

    def works_at(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """The one moment a token's secret exists outside its owner."""

    token: Token
    secret: str

    def __repr__(self) -> str:
        return f"IssuedToken({self.token!r}, secret=***)"
