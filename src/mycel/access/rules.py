"""Write rules: what a caller may do to a memory it can already see, and who decides what becomes true."""

from __future__ import annotations

from collections.abc import Callable, Collection

from mycel.domain.ids import MemberId
from mycel.domain.knowledge import is_knowledge
from mycel.domain.marks import ABOUT, ORIGIN
from mycel.domain.memory import Memory, MemoryType, Status, Visibility
from mycel.domain.team import Caller, Kind, Role, Trust
from mycel.errors import AccessDenied

_SPEAKERS = frozenset({Role.ORCHESTRATOR, Role.LEAD, Role.ADMIN})


def require_attribution(caller: Caller, agent_id: MemberId) -> None:
    if agent_id != caller.member_id and caller.role not in _SPEAKERS:
        raise AccessDenied("only an orchestrator, a lead or an admin can name another member here")


_CURATORS = frozenset({Role.LEAD, Role.ADMIN})
CURATOR_RANK = 3


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
    if memory.visibility is Visibility.PRIVATE:
        return False
    return caller.role in _CURATORS or (caller.role is Role.ORCHESTRATOR and is_knowledge(memory))


def may_purge(caller: Caller, memory: Memory) -> bool:
    return caller.role is Role.ADMIN or may_delete(caller, memory)


def may_review(caller: Caller) -> bool:
    """Human members, leads and admins decide what leaves the inbox."""
    return caller.role in _CURATORS or caller.kind is Kind.HUMAN


def require_edit(caller: Caller, memory: Memory) -> None:
    _require_own(memory)
    if not may_edit(caller, memory):
        raise AccessDenied("only its author, or a lead or admin of the team, can change this memory")


_WHO_DELETES = "only its author, or a lead or admin of the team, and of knowledge the orchestrator"


def require_delete(caller: Caller, memory: Memory) -> None:
    _require_own(memory)
    if not may_delete(caller, memory):
        raise AccessDenied(f"{_WHO_DELETES}, can delete this memory")


def require_purge(caller: Caller, memory: Memory) -> None:
    if not may_purge(caller, memory):
        raise AccessDenied(f"{_WHO_DELETES}, can purge this memory")


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


def rank_of(role: Role, kind: Kind) -> int:
    """Return how much a decision weighs: an agent's least, then an orchestrator's, a person's, a curator's."""
    if role in _CURATORS:
        return CURATOR_RANK
    if kind is Kind.HUMAN:
        return 2
    return 1 if role is Role.ORCHESTRATOR else 0


def counts_as_use(caller: Caller, *, for_use: bool = True) -> bool:
    """Tell whether a reading says that a memory is of use: what an agent fetches for its own work does.

    What people look at in pages or on the command line says nothing about that, nor what a tool copies: it reads with
    `for_use` false.
    """
    return for_use and caller.kind is Kind.AGENT


def require_operator(caller: Caller) -> None:
    if not caller.is_operator:
        raise AccessDenied("only the operator of the workspace can do this")


ARBITERS = (Role.ORCHESTRATOR, Role.LEAD, Role.ADMIN)


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


def may_decide(caller: Caller, memory: Memory) -> bool:
    """Tell whether `require_reviewer` would pass."""
    try:
        require_reviewer(caller, memory)
    except AccessDenied:
        return False
    return True


def require_second_person(caller: Caller, writers: Collection[MemberId], *, has_another: Callable[[], bool]) -> None:
    """Of text that wants to steer its reader; where the operator is the only person, nobody else could."""
    if caller.kind is not Kind.HUMAN:
        raise AccessDenied("its text may be an order to its reader: a person must approve it")
    if caller.member_id in writers and not (caller.is_operator and not has_another()):
        raise AccessDenied("its text may be an order to its reader: a person who did not write it must approve it")


def require_arbiter(caller: Caller) -> None:
    """Between two values of the same key."""
    if caller.role not in ARBITERS:
        raise AccessDenied("the orchestrator, a lead or an admin decides between two values of one key")


def _require_person(caller: Caller, memory: Memory) -> None:
    about = memory.metadata.get(ABOUT)
    is_person = caller.kind is Kind.HUMAN and caller.member_id == about
    if caller.role is not Role.ADMIN and not (is_person or (about is None and may_review(caller))):
        raise AccessDenied("the person it is about, or an admin, confirms a profile memory")
