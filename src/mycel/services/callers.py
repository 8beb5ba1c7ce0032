"""Who is calling: a member by id on local files, or by token everywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from mycel.access.rules import require_operator
from mycel.access.scope import ReadScope, readable_scopes
from mycel.access.token_secret import hash_secret
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory
from mycel.contracts.store import Stores
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.member_names import unknown_member
from mycel.domain.team import OPERATOR, Caller, Kind, Token
from mycel.errors import CLOSED, AccessDenied, InvalidState, Unauthenticated, Unavailable
from mycel.services.organisation import caller_for, read_member_id, read_team_name

# A revoked token or a changed role takes effect within this time, in every process: one look at whether anything has
# changed serves all who ask within it.
FRESH_SECONDS = 0.1
NOT_ADMITTED = "the token is unknown, expired or revoked"


class Callers:
    """Looks people up, and up again when something has changed."""

    def __init__(self, directory: Directory, clock: Clock) -> None:
        self._directory = directory
        self._clock = clock
        self._looks = _Looks(directory)

    def member(self, id: MemberId, *, team: TeamName | None = None) -> Callable[[], Caller]:
        return self._fresh(lambda: (caller_for(self._directory, id, team=team), None))

    def known_member(self, id: MemberId) -> Callable[[], Caller]:
        """Return the caller that a member is; a name that nobody has is refused with the near names."""
        if self._directory.find_member(id) is None:
            known = (one.id for one in self._directory.list_members(None))
            remedy = "`add_member` or `mycel member add` makes a new one"
            raise unknown_member(id, known, field="id", remedy=remedy)
        return self.member(id)

    def kind_of(self, id: str) -> Kind | None:
        """Return whether a member is a person or an agent; None of whoever was never one."""
        member = self._directory.find_member(MemberId(id))
        return None if member is None else member.kind

    def token(self, secret: object) -> Callable[[], Caller]:
        return self._fresh(lambda: self._authenticate(secret))

    def acting(
        self, given: Callable[[], Caller], *, member: object, team: object, known_only: bool = False
    ) -> Callable[[], Caller]:
        """The operator as a member or in a team."""
        who = OPERATOR if member is None else read_member_id(member)
        where = None if team is None else read_team_name(team)
        require_operator(given())
        if where is not None and who != OPERATOR:
            raise InvalidState(f"is for the operator; {who} acts in its own team", field="team")
        found = self.known_member(who) if known_only and member is not None else self.member(who, team=where)
        return _Acting(given, found)

    def close(self) -> None:
        """From now on nobody is anybody here: whatever is begun as a caller says that the workspace is closed."""
        self._looks.close()

    def _fresh(self, find: Callable[[], tuple[Caller, Token | None]]) -> _Fresh:
        return _Fresh(find, self._looks, self._clock)

    def _authenticate(self, secret: object) -> tuple[Caller, Token | None]:
        token = self._directory.find_token(hash_secret(secret)) if isinstance(secret, str) else None
        if token is None or not token.works_at(self._clock.now()):
            raise Unauthenticated(NOT_ADMITTED)
        try:
            return caller_for(self._directory, token.member_id), token
        except AccessDenied:
            # Removed between the two looks.
            raise Unauthenticated(NOT_ADMITTED) from None


def scopes_at_hand(stores: Stores, caller: Caller) -> tuple[ReadScope, ...]:
    """Return what the caller reads, its own team first, without teams above whose stores are damaged or gone."""
    own, *above = readable_scopes(caller)
    found = [own]
    for scope in above:
        with stores.lease(scope.team) as store:
            if store.files.is_readable():
                found.append(scope)
    return tuple(found)


def known(caller: Callable[[], Caller], *, seconds: float) -> Caller | None:
    """Who is calling, if that was true not longer ago: for those who must not wait for the answer."""
    return caller.known(seconds) if isinstance(caller, _Fresh | _Acting) else None


def token_of(caller: Callable[[], Caller]) -> Token | None:
    """The token that somebody has shown, also to act for another; none for whoever owns the files."""
    return caller.token if isinstance(caller, _Fresh | _Acting) else None


class _Looks:
    """Whether anything has changed in the directory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._last = (0.0, -1)
        self._closed = False

    def close(self) -> None:
        self._closed = True

    def last(self) -> tuple[float, int]:
        """When it was looked, and what was seen then."""
        if self._closed:
            raise Unavailable(CLOSED)
        now, last = time.monotonic(), self._last
        if now >= last[0] + FRESH_SECONDS:
            last = self._last = (now, self._directory.revision())
        return last


class _Found(NamedTuple):
    """Somebody, as of a moment at which the directory had this revision."""

    caller: Caller
    token: Token | None
    moment: float
    revision: int


class _Fresh:
    """Looked up again only when something has changed since, which costs less to find out."""

    __slots__ = ("_clock", "_find", "_found", "_looks", "token")

    def __init__(self, find: Callable[[], tuple[Caller, Token | None]], looks: _Looks, clock: Clock) -> None:
        self._find = find
        self._looks = looks
        self._clock = clock
        self._found: _Found | None = None
        self.token: Token | None = None
        self()

    def __call__(self) -> Caller:
        # First: what changes while somebody is looked up is noticed the next time.
        moment, revision = self._looks.last()
        found = self._found
        if found is None or found.revision != revision or self._has_expired(found):
            # Nothing is known of whom is refused.
            self._found = None
            found = _Found(*self._find(), moment, revision)
            self.token = found.token
        elif found.moment != moment:
            found = found._replace(moment=moment)
        self._found = found
        return found.caller

    def known(self, seconds: float) -> Caller | None:
        found = self._found
        if found is None or time.monotonic() >= found.moment + seconds or self._has_expired(found):
            return None
        return found.caller

    def _has_expired(self, found: _Found) -> bool:
        expires_at = None if found.token is None else found.token.expires_at
        return expires_at is not None and expires_at <= self._clock.now()


class _Acting:
    """The operator as somebody else: asked each time whether it still is the operator."""

    __slots__ = ("_found", "_given")

    def __init__(self, given: Callable[[], Caller], found: Callable[[], Caller]) -> None:
        self._given = given
        self._found = found

    @property
    def token(self) -> Token | None:
        return token_of(self._given)

    def __call__(self) -> Caller:
        require_operator(self._given())
        return self._found()

    def known(self, seconds: float) -> Caller | None:
        operator = known(self._given, seconds=seconds)
        if operator is None:
            return None
        require_operator(operator)
        return known(self._found, seconds=seconds)
