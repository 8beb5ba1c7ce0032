"""Knowledge: memories with a key, of which one value stands per project and category."""

from __future__ import annotations

from mycel.domain.memory import Memory
from mycel.domain.team import Caller, Role


def replaces(caller: Caller, standing: Memory, incoming: Memory) -> bool:
    """Whether a write takes the place of the standing value, or waits as a candidate that contradicts it."""
    if caller.member_id == standing.agent_id or caller.role is Role.ORCHESTRATOR:
        return True
    return incoming.confidence > standing.confidence
