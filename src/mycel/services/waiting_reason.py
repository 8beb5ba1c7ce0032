"""Why a memory waits for a person, by the ground that it lacks."""

from __future__ import annotations

from collections.abc import Sequence

from mycel.domain.knowledge import is_knowledge
from mycel.domain.marks import (
    ABOUT,
    AGENT,
    CHANGE,
    CONTESTED,
    EXPLICIT,
    GROUNDS,
    OUTSIDER,
    REVIEW,
    SAID_BY,
    SPOKE_AS,
    TAKEN_BACK,
    TWO_SOURCES,
)
from mycel.domain.memory import Memory, Status
from mycel.domain.policy import Policy, Promote

_SUGGESTED = "replaces another memory that stands, or repeats it; somebody should decide"
_OPPOSED = "contradicts what stands; somebody should decide"
_WAITS = "waits for a person"
_RIVAL = "another value stands under its key: the orchestrator, a lead or an admin decides which one holds"


def waiting_reason(memory: Memory, policy: Policy, *, replaces: Sequence[str] = ()) -> str:
    """Say why a memory waits; `replaces` names what gives way when it is approved."""
    reason = _reason(memory, policy)
    if not replaces:
        return reason
    named = ", ".join(f'"{name}"' for name in replaces)
    return f"{reason}; approving it {'changes' if CHANGE in memory.metadata else 'replaces'} {named}"


def _reason(memory: Memory, policy: Policy) -> str:
    if memory.status is Status.ACTIVE:
        return _SUGGESTED
    marked = memory.metadata.get(REVIEW)
    if isinstance(marked, str):
        change = memory.metadata.get(CHANGE)
        return f"it changes {', '.join(change['fields'])} of what stands: {marked}" if change else marked
    if CONTESTED in memory.metadata:
        return _OPPOSED
    if is_knowledge(memory):
        return _RIVAL
    if memory.evidence_ref is None:
        return _WAITS
    taken_back = memory.metadata.get(TAKEN_BACK)
    if isinstance(taken_back, str):
        return f'may have been taken back in the same talk: "{taken_back}"'
    about = memory.metadata.get(ABOUT)
    if about is not None:
        return f"{memory.metadata.get(SAID_BY, about)} should confirm it: it is about {about}"
    grounds = memory.metadata.get(GROUNDS)
    return _without_grounds(memory) if grounds is None else _by_grounds(memory, str(grounds), policy)


def _by_grounds(memory: Memory, grounds: str, policy: Policy) -> str:
    """Something speaks for it; so it is the policy that leaves it to a person, or a run that has not looked yet."""
    speaker = memory.metadata.get(SAID_BY)
    said = {
        EXPLICIT: f"{speaker} said it outright" if speaker else "said outright",
        TWO_SOURCES: "two sources say it",
    }.get(grounds, f"drawn by {grounds}")
    if (left := policy.review_reason(memory.type, memory.rationale)) is not None:
        return f"{said}, but {left}"
    if grounds in (EXPLICIT, TWO_SOURCES) and policy.promote is Promote.REVIEWED:
        return f"{said}, but the team's policy leaves it to a person"
    if memory.confidence < policy.promote_from:
        return f"{said}, but it is less sure than the team's policy asks"
    return f"{said}; the next consolidation looks at it"


def _without_grounds(memory: Memory) -> str:
    speaker, spoke_as = memory.metadata.get(SAID_BY), memory.metadata.get(SPOKE_AS)
    if spoke_as == AGENT:
        who = f"{speaker}, an agent" if speaker else "an agent"
        return f"said by {who}: nothing becomes true by an agent's word alone"
    if spoke_as == OUTSIDER:
        return f"said by {speaker}, who is no member of the team"
    return f"{speaker} said it in passing, not outright" if speaker else "said in passing, not outright"
