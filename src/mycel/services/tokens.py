"""Issuing and revoking bearer tokens: a tree, in which nothing outlives what it was issued with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from mycel.access.token_secret import PREFIX, hash_secret, new_secret
from mycel.contracts.directory import Directory, DirectoryReads, DirectoryTransaction
from mycel.domain import fields
from mycel.domain.ids import MemberId, TeamName, new_id
from mycel.domain.policy import Policy
from mycel.domain.team import EXECUTIVE, OPERATOR, Caller, IssuedToken, Role, Token
from mycel.errors import AccessDenied, InvalidState, NotFound, Unauthenticated
from mycel.services.callers import NOT_ADMITTED
from mycel.services.organisation import read_member_id
from mycel.services.screening import screen_at_once

# How the id of a link begins (`sign_in_links`): those are kept among the tokens, and are none.
LINK = "link-"


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a token is to work: as long as was asked for, or at most so long where nobody asked."""

    asked: timedelta | None = None
    at_most: timedelta | None = None

    def end(self, now: datetime, parent: Token | None) -> datetime | None:
        """`InvalidState` where more was asked for than the token has left with which it is issued."""
        limit = None if parent is None else parent.expires_at
        if self.asked is not None:
            wanted = now + self.asked
            if limit is not None and wanted > limit:
                raise InvalidState(
                    f"is longer than the token works with which this one is issued, which ends at {limit.isoformat()}",
                    field="ttl",
                )
            return wanted
        ends = [limit, None if self.at_most is None else now + self.at_most]
        return min((end for end in ends if end is not None), default=None)


class Tokens:
    """The operator issues for anyone, everybody for themselves; an admin may end those of its team.

    An admin that could issue for others could act as them, and so read what is private to them.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def issue(
        self,
        caller: Caller,
        member_id: object,
        *,
        label: object = None,
        ttl: object = None,
        parent: Token | None,
        at_most: timedelta | None = None,
    ) -> IssuedToken:
        """`parent` is the token that the caller has shown; without a `ttl` the new one works as long as that one."""
        owner = read_member_id(member_id)
        name = "" if label is None else _read_label(label)
        lifetime = Lifetime(None if ttl is None else fields.lifetime(ttl), at_most)
        secret = new_secret()

        def work(transaction: DirectoryTransaction) -> Token:
            require_owner(transaction, caller, owner)
            require_working(transaction, parent)
            now, issued_with = transaction.now, None if parent is None else parent.id
            token = Token(new_id(), owner, name, now, lifetime.end(now, parent), parent_id=issued_with)
            transaction.add_token(token, hash_secret(secret))
            note_issued(transaction, token, by=caller.member_id)
            return token

        return IssuedToken(self._directory.transact(work), secret)

    def owner(self, caller: Caller, member_id: object) -> MemberId:
        """The member, if the caller may have tokens issued for it; otherwise the error that `issue` raises."""
        owner = read_member_id(member_id)
        require_owner(self._directory, caller, owner)
        return owner

    def list(self, caller: Caller, *, member_id: object = None) -> list[Token]:
        owner = None if member_id is None else read_member_id(member_id)
        if not caller.is_operator and owner not in {None, caller.member_id}:
            return []
        found = self._directory.list_tokens(owner if caller.is_operator else caller.member_id)
        return [token for token in found if not token.id.startswith(LINK)]

    def revoke(self, caller: Caller, token: object) -> None:
        """By the id that `list` shows, or by the secret itself; and whatever was issued with it."""
        given = fields.label(token, field="token")

        def work(transaction: DirectoryTransaction) -> None:
            by_secret = given.startswith(PREFIX)
            known = transaction.find_token(hash_secret(given)) if by_secret else transaction.find_token_by_id(given)
            if known is None:
                raise NotFound("no such token")
            if not _administers(transaction, caller, known.member_id):
                _require_teammate(transaction, caller, known.member_id)
                require_owner(transaction, caller, known.member_id)
            if transaction.revoke_tokens(token_id=known.id):
                transaction.note(
                    "revoke_token",
                    by=caller.member_id,
                    team=_team_of(transaction, known.member_id),
                    subject=known.member_id,
                    before={"token_id": known.id, "label": known.label},
                )

        self._directory.transact(work)


def _read_label(value: object) -> str:
    """Of no team's policy: a token is of the workspace."""
    return screen_at_once({"label": fields.label(value, field="label")}, Policy())["label"]


def require_owner(directory: DirectoryReads, caller: Caller, owner: MemberId) -> None:
    member = directory.find_member(owner)
    seen = member is not None and (caller.is_operator or member.team == caller.team)
    if member is None or member.removed_at is not None or not seen:
        raise NotFound(f"no member {owner}")
    if not caller.is_operator and caller.member_id != owner:
        raise AccessDenied("only the operator or the member itself has its tokens")


def note_issued(transaction: DirectoryTransaction, token: Token, *, by: MemberId) -> None:
    ends = None if token.expires_at is None else token.expires_at.isoformat()
    transaction.note(
        "new_token",
        by=by,
        team=_team_of(transaction, token.member_id),
        subject=token.member_id,
        after={"token_id": token.id, "label": token.label, "expires_at": ends},
    )


def _team_of(transaction: DirectoryTransaction, id: MemberId) -> TeamName:
    member = transaction.find_member(id)
    return EXECUTIVE if member is None else member.team


def require_working(transaction: DirectoryTransaction, parent: Token | None) -> None:
    """In the transaction that adds to it: a tree that was just ended has no new leaf."""
    if parent is None:
        return
    known = transaction.find_token_by_id(parent.id)
    if known is None or not known.works_at(transaction.now):
        raise Unauthenticated(NOT_ADMITTED)


def _require_teammate(transaction: DirectoryTransaction, caller: Caller, owner: MemberId) -> None:
    """A token of another team is as good as none."""
    member = transaction.find_member(owner)
    if not caller.is_operator and (member is None or member.team != caller.team):
        raise NotFound("no such token")


def _administers(transaction: DirectoryTransaction, caller: Caller, owner: MemberId) -> bool:
    member = transaction.find_member(owner)
    own_team = member is not None and caller.team == member.team
    return own_team and caller.role is Role.ADMIN and owner != OPERATOR
