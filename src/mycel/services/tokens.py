"""Issuing and revoking bearer tokens."""

from __future__ import annotations

from dataclasses import replace

from mycel.access.tokens import PREFIX, hash_secret, new_secret
from mycel.contracts.directory import Directory, DirectoryReads, DirectoryTransaction
from mycel.domain import fields
from mycel.domain.ids import MemberId, new_id
from mycel.domain.policy import Policy
from mycel.domain.team import OPERATOR, Caller, IssuedToken, Role, Token
from mycel.errors import AccessDenied, NotFound
from mycel.services.organisation import read_member_id
from mycel.services.screening import screen_at_once


class Tokens:
    """The operator issues for anyone, everybody for themselves; an admin may end those of its team.

    An admin that could issue for others could act as them, and so read what is private to them.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def issue(self, caller: Caller, member_id: object, *, label: object = None, ttl: object = None) -> IssuedToken:
        owner = read_member_id(member_id)
        name = "" if label is None else _read_label(label)
        lifetime = None if ttl is None else fields.lifetime(ttl)
        secret = new_secret()

        def work(transaction: DirectoryTransaction) -> Token:
            _require_owner(transaction, caller, owner)
            token = Token(new_id(), owner, name, transaction.now)
            if lifetime is not None:
                token = replace(token, expires_at=transaction.now + lifetime)
            transaction.add_token(token, hash_secret(secret))
            return token

        return IssuedToken(self._directory.transact(work), secret)

    def owner(self, caller: Caller, member_id: object) -> MemberId:
        """The member, if the caller may have tokens issued for it; otherwise the error that `issue` raises."""
        owner = read_member_id(member_id)
        _require_owner(self._directory, caller, owner)
        return owner

    def list(self, caller: Caller, *, member_id: object = None) -> list[Token]:
        owner = None if member_id is None else read_member_id(member_id)
        if caller.is_operator:
            return self._directory.list_tokens(owner)
        return self._directory.list_tokens(caller.member_id) if owner in {None, caller.member_id} else []

    def revoke(self, caller: Caller, token: object) -> None:
        """By the id that `list` shows, or by the secret itself."""
        given = fields.label(token, field="token")

        def work(transaction: DirectoryTransaction) -> None:
            known = {entry.id: entry for entry in transaction.list_tokens()}.get(given)
            if given.startswith(PREFIX):
                known = transaction.find_token(hash_secret(given))
            if known is None:
                raise NotFound("no such token")
            if not _administers(transaction, caller, known.member_id):
                _require_teammate(transaction, caller, known.member_id)
                _require_owner(transaction, caller, known.member_id)
            transaction.revoke_tokens(token_id=known.id)

        self._directory.transact(work)


def _read_label(value: object) -> str:
    """Of no team's policy: a token is of the workspace."""
    return screen_at_once({"label": fields.label(value, field="label")}, Policy())["label"]


def _require_owner(directory: DirectoryReads, caller: Caller, owner: MemberId) -> None:
    member = directory.find_member(owner)
    seen = member is not None and (caller.is_operator or member.team == caller.team)
    if member is None or member.removed_at is not None or not seen:
        raise NotFound(f"no member {owner}")
    if not caller.is_operator and caller.member_id != owner:
        raise AccessDenied("only the operator or the member itself has its tokens")


def _require_teammate(transaction: DirectoryTransaction, caller: Caller, owner: MemberId) -> None:
    """A token of another team is as good as none."""
    member = transaction.find_member(owner)
    if not caller.is_operator and (member is None or member.team != caller.team):
        raise NotFound("no such token")


def _administers(transaction: DirectoryTransaction, caller: Caller, owner: MemberId) -> bool:
    member = transaction.find_member(owner)
    own_team = member is not None and caller.team == member.team
    return own_team and caller.role is Role.ADMIN and owner != OPERATOR
