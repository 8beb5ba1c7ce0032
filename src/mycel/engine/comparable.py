"""Which memories may be compared at all: the same readers, the same place, the same sort of statement."""

from __future__ import annotations

from mycel.domain.change import audience_of
from mycel.domain.marks import ORIGIN, REVIEW
from mycel.domain.memory import Memory, MemoryType, Scope, Visibility

CLAIMS = frozenset(
    {
        MemoryType.FACT,
        MemoryType.LESSON,
        MemoryType.DECISION,
        MemoryType.PROFILE,
        MemoryType.PROJECT,
        MemoryType.CONTEXT,
        MemoryType.NOTE,
    }
)
# What says nothing that could be wrong, and is only ever a repetition of its like.
POINTERS = frozenset({MemoryType.TASK_HINT, MemoryType.REFERENCE})
COMPARED = CLAIMS | POINTERS
# A page of text makes many statements; comparing it as one finds nothing but noise.
MAX_STATEMENT = 1200


def is_compared(memory: Memory) -> bool:
    """What waits for a person because of its text or author is nobody's opponent before it was looked at."""
    return memory.type in COMPARED and len(memory.content) <= MAX_STATEMENT and REVIEW not in memory.metadata


def may_merge(first: Memory, second: Memory) -> bool:
    same_sort = first.type is second.type or {first.type, second.type} <= CLAIMS - {
        MemoryType.DECISION,
        MemoryType.PROFILE,
    }
    return same_sort and first.category == second.category and _together(first, second)


def may_contradict(first: Memory, second: Memory) -> bool:
    profile = MemoryType.PROFILE in (first.type, second.type)
    same_person = not profile or (first.type is second.type and first.agent_id == second.agent_id)
    return {first.type, second.type} <= CLAIMS and same_person and _together(first, second)


def _together(first: Memory, second: Memory) -> bool:
    if ORIGIN in first.metadata or ORIGIN in second.metadata or not _same_readers(first, second):
        return False
    same_key = first.key == second.key or first.key is None or second.key is None
    return same_key and _place(first) == _place(second)


def _place(memory: Memory) -> tuple[object, ...]:
    """Where it applies: what holds for one agent or session is not what holds for all."""
    narrow = {Scope.AGENT: memory.agent_id, Scope.SESSION: memory.session_id}.get(memory.scope)
    return memory.project_id, memory.repo_id, memory.scope, narrow


def _same_readers(first: Memory, second: Memory) -> bool:
    """A report about both must tell nobody of one that only sees the other."""
    ours, theirs = audience_of(first), audience_of(second)
    alike = (ours.visibility, set(ours.allowed_roles)) == (theirs.visibility, set(theirs.allowed_roles))
    return alike and (ours.visibility is Visibility.TEAM or ours.agent_id == theirs.agent_id)
