"""Who decides what becomes true: people and leads about the inbox, the person about a profile, arbiters about keys."""

from __future__ import annotations

from collections.abc import Callable, Collection

from mycel.access.rules import is_copy, may_review
from mycel.domain.ids import MemberId
from mycel.domain.marks import ABOUT
from mycel.domain.memory import Memory, MemoryType
from mycel.domain.team import Caller, Kind, Role, Trust
from mycel.errors import AccessDenied

_ARBITERS = frozenset({Role.ORCHESTRATOR, Role.LEAD, Role.ADMIN})


def require_reviewer(caller: Caller, memory: Memory) -> None:
    if is_copy(memory):
        raise AccessDenied("this is a copy of a memory of another team, which decides about it")
    if caller.trust is Trust.LOW:
        raise AccessDenied("somebody of low trust decides about nothing, not even its own")
    if memory.type is MemoryType.PROFILE:
        _require_person(caller, memory)
    elif memory.key is not None and caller.role is Role.ORCHESTRATOR:
        return
    elif not may_review(caller):
        raise AccessDenied("a person, a lead or an admin decides what leaves the inbox")


def require_second_person(caller: Caller, writers: Collection[MemberId], *, has_another: Callable[[], bool]) -> None:
    """Of text that wants to steer its reader; where the operator is the only person, nobody else could."""
    if caller.kind is not Kind.HUMAN:
        raise AccessDenied("its text may be an order to its reader: a person must approve it")
    if caller.member_id in writers and not (caller.is_operator and not has_another()):
        raise AccessDenied("its text may be an order to its reader: a person who did not write it must approve it")


def require_arbiter(caller: Caller) -> None:
    """Between two values of the same key."""
    if caller.role not in _ARBITERS:
        raise AccessDenied("the orchestrator, a lead or an admin decides between two values of one key")


def _require_person(caller: Caller, memory: Memory) -> None:
    about = memory.metadata.get(ABOUT)
    is_person = caller.kind is Kind.HUMAN and caller.member_id == about
    if caller.role is not Role.ADMIN and not (is_person or (about is None and may_review(caller))):
        raise AccessDenied("the person it is about, or an admin, confirms a profile memory")
