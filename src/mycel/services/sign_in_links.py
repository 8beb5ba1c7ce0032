"""Links that sign a browser in, once.

A link is kept as a token that opens nothing: its hash is of no secret. So it ends with the token it was asked for
with, and whichever process of a workspace is shown it knows whether it was used.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from mycel.access.token_secret import hash_secret, new_secret
from mycel.contracts.clock import Clock
from mycel.contracts.directory import Directory, DirectoryReads, DirectoryTransaction
from mycel.domain.ids import MemberId, new_id
from mycel.domain.team import Caller, IssuedToken, Token
from mycel.errors import NotFound
from mycel.services.organisation import caller_for
from mycel.services.tokens import LINK, Lifetime, note_issued, require_owner, require_working

# For one member; whoever asks for more loses its own earlier ones, and nobody else's.
MOST_LINKS = 8


class SignInLinks:
    def __init__(self, directory: Directory, clock: Clock) -> None:
        self._directory = directory
        self._clock = clock

    def offer(
        self, caller: Caller, member: MemberId, *, parent: Token, lifetime: timedelta
    ) -> tuple[str, datetime | None]:
        """The code of a new one, and when it ends: no later than `parent`, the token that the caller has shown."""
        code = secrets.token_urlsafe(32)

        def work(transaction: DirectoryTransaction) -> datetime | None:
            require_owner(transaction, caller, member)
            require_working(transaction, parent)
            now = transaction.now
            own = [
                one
                for one in transaction.list_tokens(member)
                if one.id.startswith(LINK) and one.label == caller.member_id and one.works_at(now)
            ]
            for earlier in own[: max(0, len(own) - MOST_LINKS + 1)]:
                transaction.revoke_tokens(token_id=earlier.id)
            ends_at = Lifetime(at_most=lifetime).end(now, parent)
            link = Token(LINK + new_id(), member, caller.member_id, now, ends_at, parent_id=parent.id)
            transaction.add_token(link, _hash(code))
            return ends_at

        return code, self._directory.transact(work)

    def redeem(self, code: str, *, label: str, at_most: timedelta) -> IssuedToken:
        """A token of the member's, for as long as whoever offered the link may have one issued; it never works again.

        `NotFound` or `AccessDenied` when it is wrong, used or over.
        """
        # First without a transaction: wrong ones must not keep those waiting who write.
        _find(self._directory, code, self._clock.now())
        secret = new_secret()

        def work(transaction: DirectoryTransaction) -> Token:
            now = transaction.now
            link = _find(transaction, code, now)
            parent = transaction.find_token_by_id(link.parent_id or "")
            require_working(transaction, parent)
            require_owner(transaction, caller_for(transaction, MemberId(link.label)), link.member_id)
            transaction.revoke_tokens(token_id=link.id)
            ends_at = Lifetime(at_most=at_most).end(now, parent)
            token = Token(new_id(), link.member_id, label, now, ends_at, parent_id=link.parent_id)
            transaction.add_token(token, hash_secret(secret))
            note_issued(transaction, token, by=link.member_id)
            return token

        return IssuedToken(self._directory.transact(work), secret)


def _find(directory: DirectoryReads, code: str, now: datetime) -> Token:
    link = directory.find_token(_hash(code))
    if link is None or not link.works_at(now):
        raise NotFound("no such code")
    return link


def _hash(code: str) -> str:
    """Of what no header can bring: a code is never taken for a token."""
    return hash_secret(f"{LINK}\0{code}")
