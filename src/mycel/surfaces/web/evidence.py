"""Evidence where it was said: some of the source before and after the characters that support a memory."""

from __future__ import annotations

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.inbox import Surroundings
from mycel.domain.memory import Memory
from mycel.errors import NotFound

AROUND = 240


def evidence_of(memory: MemoryApi, one: Memory, *, around: int = AROUND) -> Surroundings | None:
    """None also where the source is out of sight."""
    at = one.evidence_ref
    if at is None:
        return None
    try:
        text = memory.sources.get(at.source_id).text
    except NotFound:
        return None
    return Surroundings(
        source_id=at.source_id,
        before=text[max(0, at.start - around) : at.start],
        quote=text[at.start : at.end],
        after=text[at.end : at.end + around],
        start=at.start,
        end=at.end,
    )
