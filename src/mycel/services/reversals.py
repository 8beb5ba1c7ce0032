"""Reversals: who may take a decision back, and which decisions a change of a memory would take back.

The history of a memory says who made each decision about it, the directory which role they had then. Whoever made a
decision may take it back, and so may anybody of at least the same rank, and a curator of the team.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from mycel.access.rules import CURATOR_RANK, may_curate, rank_of
from mycel.access.scope import engine_scope
from mycel.contracts.directory import Directory
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import MemberId
from mycel.domain.marks import without_marks
from mycel.domain.memory import Memory, Status, Version
from mycel.domain.team import ENGINE, OPERATOR, Caller, Kind, Role
from mycel.errors import AccessDenied

# How many changes of the organisation are looked through for the role that somebody had; more of them since a decision
# than a workspace sees in years leave it to the curators.
_MOST_ACTIONS = 2_000
_PAGE = 200
# The clocks of the directory and of a team's history differ by less.
_CLOSE = timedelta(seconds=1)
_WORDS = re.compile(r"\w+")
_AND_ABOVE = {0: "any member", 1: "an orchestrator, a person", 2: "another person"}
_GONE, _WAITING, STANDING = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decided, when, and what they did, in the past tense."""

    by: MemberId
    at: datetime
    did: str
    # Sent back to the inbox, where reviewers decide; only its author may not decide against that.
    only_asks: bool = False


class Reversals:
    """Asked by every use case that can bring something back."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def require(self, caller: Caller, decisions: Iterable[Decision]) -> None:
        """Raise `AccessDenied`, which says who may, unless the caller may take back each of these decisions."""
        if may_curate(caller):
            return
        for decision in decisions:
            rank = self._rank_then(caller, decision)
            if decision.by != caller.member_id and rank > rank_of(caller.role, caller.kind):
                others = f"{_AND_ABOVE[rank]}, " if rank in _AND_ABOVE else ""
                raise AccessDenied(
                    f"{decision.by} {decision.did}: only {decision.by}, {others}a lead or an admin of the team "
                    f"can take that back"
                )

    def may(self, caller: Caller, decisions: Iterable[Decision]) -> bool:
        """Tell whether `require` would pass."""
        try:
            self.require(caller, decisions)
        except AccessDenied:
            return False
        return True

    def may_stand(self, store: Store | Transaction, caller: Caller, memory: Memory) -> bool:
        """Tell whether nobody of a higher rank has taken a memory away, so that the caller may bring it back."""
        return may_curate(caller) or self.may(caller, taken_away(_versions(store, memory), STANDING))

    def require_return(self, store: Store | Transaction, caller: Caller, before: Memory, after: Memory) -> None:
        """Check a change that makes a memory count for more than before: undeleted, active again, out of the inbox."""
        if may_curate(caller) or _presence(after) <= _presence(before):
            return
        decided = taken_away(_versions(store, before), _presence(after))
        is_author = caller.member_id == before.agent_id
        self.require(caller, (one for one in decided if is_author or not one.only_asks))

    def require_change(
        self, store: Store | Transaction, caller: Caller, before: Memory, after: Memory, *, changed: Collection[str]
    ) -> None:
        """Check an edit of these fields: it must not put back what somebody of a higher rank has changed."""
        if may_curate(caller) or not store.memories.was_changed_by_others(before.id, caller.member_id):
            return
        self.require_return(store, caller, before, after)
        self.require(caller, reverted(_versions(store, before), before, after, changed=changed))

    def _rank_then(self, caller: Caller, decision: Decision) -> int:
        """Return the rank of the one who decided, as it was then; a stranger to the team ranks with its curators."""
        if decision.by in {ENGINE, caller.member_id}:
            return 0
        member = self._directory.find_member(decision.by)
        if member is None or member.id == OPERATOR:
            return CURATOR_RANK
        rank = _rank_in(
            caller.team, None if member.removed_at is not None else _Seat(member.team, member.role, member.kind)
        )
        before: str | None = None
        for _ in range(0, _MOST_ACTIONS, _PAGE):
            actions = self._directory.list_actions(caller.team, before=before, limit=_PAGE)
            for action in actions:
                if action.at < decision.at - _CLOSE:
                    return rank
                if action.subject != decision.by or not {"role"} & (action.before.keys() | action.after.keys()):
                    continue
                earlier = _rank_in(caller.team, _seat_from(action.before))
                if action.at > decision.at + _CLOSE:
                    rank = earlier
                elif action.before:
                    # Two clocks: it may have been before or after.
                    rank = max(rank, earlier)
            if len(actions) < _PAGE:
                return rank
            before = actions[-1].id
        return CURATOR_RANK


class _Seat(NamedTuple):
    """What somebody was in the organisation at one moment."""

    team: str
    role: Role
    kind: Kind


def _seat_from(noted: Mapping[str, Any]) -> _Seat | None:
    return _Seat(noted["team"], Role(noted["role"]), Kind(noted["kind"])) if noted else None


def _rank_in(team: str, seat: _Seat | None) -> int:
    return CURATOR_RANK if seat is None or seat.team != team else rank_of(seat.role, seat.kind)


def taken_away(versions: Sequence[Version], presence: int) -> list[Decision]:
    """Return the decisions that stand against a memory, of which one with this presence would be the reversal."""
    found: list[Decision] = []
    levels = [_presence(version.memory) for version in versions]
    highest_since = 0
    for place in range(len(versions) - 1, 0, -1):
        level, memory, earlier = levels[place], versions[place].memory, versions[place - 1].memory
        is_loss = level < levels[place - 1] or (level == _GONE and memory.status is not earlier.status)
        if is_loss and level < presence and highest_since <= level:
            version = versions[place]
            did = _LOST[level] if level != _GONE else f"made it {memory.status}"
            found.append(Decision(version.changed_by, version.believed_from, did, only_asks=level == _WAITING))
        highest_since = max(highest_since, level)
    return found


_LOST = {0: "deleted it", _WAITING: "sent it back to the inbox"}


def reverted(versions: Sequence[Version], before: Memory, after: Memory, *, changed: Collection[str]) -> list[Decision]:
    """Return the decisions that an edit of these fields would take back.

    A text that somebody changed must not come back as it was; other words are a new statement. How long a memory lives
    must not be prolonged, and its audience not be another, after somebody has set them.
    """
    found: list[Decision] = []
    for name in changed:
        old, new = getattr(before, name), getattr(after, name)
        if name == "status" or is_same(old, new):
            continue
        place = len(versions) - 1
        while place > 0 and is_same(getattr(versions[place - 1].memory, name), old):
            place -= 1
        if place == 0:
            continue
        was = [getattr(version.memory, name) for version in versions[:place]]
        if name in _AUDIENCE:
            is_reversal = True
        elif name in _ENDS:
            is_reversal = old is not None and (new is None or new > old)
        else:
            is_reversal = any(is_same(one, new) for one in was)
        if is_reversal:
            version = versions[place]
            found.append(Decision(version.changed_by, version.believed_from, f"changed its {name}"))
    return found


_AUDIENCE = frozenset({"visibility", "allowed_roles"})
_ENDS = frozenset({"expires_at", "valid_until"})


def is_same(one: object, other: object) -> bool:
    """Compare values as a reader would: neither case nor spacing nor punctuation make another text."""
    if one == other:
        return True
    if isinstance(one, str) and isinstance(other, str):
        words = _WORDS.findall(one.casefold())
        return bool(words) and words == _WORDS.findall(other.casefold())
    if isinstance(one, tuple) and isinstance(other, tuple):
        return sorted(map(str, cast("tuple[object, ...]", one))) == sorted(map(str, cast("tuple[object, ...]", other)))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return without_marks(cast("Mapping[str, Any]", one)) == without_marks(cast("Mapping[str, Any]", other))
    return False


def _presence(memory: Memory) -> int:
    if memory.deleted_at is not None:
        return 0
    return {Status.ACTIVE: STANDING, Status.INBOX: _WAITING}.get(memory.status, _GONE)


def _versions(store: Store | Transaction, memory: Memory) -> list[Version]:
    """Whoever may change a memory answers to all its history, also to what was out of its sight."""
    return store.memories.versions(engine_scope(memory.team), memory.id, deleted=True)
