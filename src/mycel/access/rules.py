"""Write rules: what a caller may do to a memory it can already see."""

from __future__ import annotations

from mycel.domain.marks import ORIGIN
from mycel.domain.memory import Memory, Status, Visibility
from mycel.domain.team import Caller, Kind, Role
from mycel.errors import AccessDenied

_CURATORS = frozenset({Role.LEAD, Role.ADMIN})


def may_curate(caller: Caller) -> bool:
    """Leads and admins look after what is shared in their team."""
    return caller.role in _CURATORS


def is_copy(memory: Memory) -> bool:
    """Received from another team, which alone changes it."""
    return ORIGIN in memory.metadata


def may_edit(caller: Caller, memory: Memory) -> bool:
    """Its author; leads and admins what is shared; orchestrators knowledge; people the inbox."""
    if is_copy(memory):
        return False
    if caller.member_id == memory.agent_id:
        return True
    if memory.visibility is Visibility.PRIVATE:
        return False
    if caller.role in _CURATORS:
        return True
    if caller.role is Role.ORCHESTRATOR and memory.key is not None:
        return True
    return memory.status is Status.INBOX and may_review(caller)


def may_delete(caller: Caller, memory: Memory) -> bool:
    if is_copy(memory):
        return False
    if caller.member_id == memory.agent_id:
        return True
    return memory.visibility is not Visibility.PRIVATE and caller.role in _CURATORS


def may_purge(caller: Caller, memory: Memory) -> bool:
    return caller.role is Role.ADMIN or may_delete(caller, memory)


def may_review(caller: Caller) -> bool:
    """Human members, leads and admins decide what leaves the inbox."""
    return caller.role in _CURATORS or caller.kind is Kind.HUMAN


def require_edit(caller: Caller, memory: Memory) -> None:
    _require_own(memory)
    if not may_edit(caller, memory):
        raise AccessDenied("only its author, or a lead or admin of the team, can change this memory")


def require_delete(caller: Caller, memory: Memory) -> None:
    _require_own(memory)
    if not may_delete(caller, memory):
        raise AccessDenied("only its author, or a lead or admin of the team, can delete this memory")


def require_purge(caller: Caller, memory: Memory) -> None:
    if not may_purge(caller, memory):
        raise AccessDenied("only its author, or a lead or admin of the team, can purge this memory")


def _require_own(memory: Memory) -> None:
    if is_copy(memory):
        origin = memory.metadata[ORIGIN].get("team")
        raise AccessDenied(f"this is a copy of a memory of team {origin}, which alone can change or withdraw it")


def require_transition(caller: Caller, before: Memory, after: Memory) -> None:
    """Changes of audience and status that an ordinary edit must not slip in."""
    same_audience = (before.visibility, before.allowed_roles) == (after.visibility, after.allowed_roles)
    if not same_audience and caller.member_id != before.agent_id and caller.role is not Role.ADMIN:
        raise AccessDenied("only its author or an admin can change who sees this memory")
    if before.status is Status.INBOX and after.status is not Status.INBOX and not may_review(caller):
        raise AccessDenied("a person, a lead or an admin decides what leaves the inbox")


def require_operator(caller: Caller) -> None:
    if not caller.is_operator:
        raise AccessDenied("only the operator of the workspace can do this")
