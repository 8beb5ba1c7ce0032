"""Who is calling: a member by id on local files, or by token everywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable

from mycel.access.rules import require_operator
from mycel.access.tokens import hash_secret
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.team import OPERATOR, Caller
from mycel.errors import AccessDenied, Unauthenticated, Unfitting
from mycel.services.organisation import caller_for, read_member_id, read_team_name

# A revoked token or a changed role takes effect within this time, in every process.
FRESH_SECONDS = 0.5
NOT_ADMITTED = "the token is unknown, expired or revoked"


class Callers:
    """Looks people up, and up again whenever the last look is no longer fresh."""

    def __init__(self, directory: Directory, clock: Clock) -> None:
        self._directory = directory
        self._clock = clock

    def member(self, id: MemberId, *, team: TeamName | None = None) -> Callable[[], Caller]:
        return _Fresh(lambda: caller_for(self._directory, id, team=team))

    def token(self, secret: object) -> Callable[[], Caller]:
        return _Fresh(lambda: self._authenticate(secret))

    def acting(self, given: Callable[[], Caller], *, member: object, team: object) -> Callable[[], Caller]:
        """The operator as a member or in a team; asked each time whether it still is the operator."""
        who = OPERATOR if member is None else read_member_id(member)
        where = None if team is None else read_team_name(team)
        require_operator(given())
        if where is not None and who != OPERATOR:
            raise Unfitting(f"is for the operator; {who} acts in its own team", field="team")
        found = self.member(who, team=where)

        def acting() -> Caller:
            # Asked outside of what is kept: the two times that a look stays fresh must not add up.
            require_operator(given())
            return found()

        return acting

    def _authenticate(self, secret: object) -> Caller:
        token = self._directory.find_token(hash_secret(secret)) if isinstance(secret, str) else None
        expired = token is not None and token.expires_at is not None and token.expires_at <= self._clock.now()
        if token is None or token.revoked_at is not None or expired:
            raise Unauthenticated(NOT_ADMITTED)
        try:
            return caller_for(self._directory, token.member_id)
        except AccessDenied:
            # Removed between the two looks.
            raise Unauthenticated(NOT_ADMITTED) from None


class _Fresh:
    __slots__ = ("_caller", "_find", "_until")

    def __init__(self, find: Callable[[], Caller]) -> None:
        self._find = find
        self._caller = find()
        self._until = time.monotonic() + FRESH_SECONDS

    def __call__(self) -> Caller:
        if time.monotonic() >= self._until:
            self._caller = self._find()
            self._until = time.monotonic() + FRESH_SECONDS
        return self._caller
