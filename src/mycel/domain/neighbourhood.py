"""Which memories are neighbours: turns of one conversation and chunks of one document are saved one after another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from mycel.domain.memory import Memory
from mycel.domain.source import origin_of


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """So many on either side, saved within so many others and so much time. Stores give each memory a number."""

    beside: int = 2
    window: int = 64
    within: timedelta = timedelta(minutes=30)

    def holds(self, memory: Memory, other: Memory) -> bool:
        """Whether two memories were saved together: in one folder, session and source, by one author."""
        return _saved_with(memory) == _saved_with(other) and abs(memory.created_at - other.created_at) <= self.within

    def pick(self, number: int, memories: Mapping[int, Memory]) -> tuple[int, ...]:
        """The rule itself, which stores follow: those right before, from the nearest on, and those right after."""
        near = sorted(
            other
            for other, memory in memories.items()
            if 0 < abs(other - number) <= self.window and self.holds(memories[number], memory)
        )
        before = [other for other in reversed(near) if other < number]
        after = [other for other in near if other > number]
        return (*before[: self.beside], *after[: self.beside])


def _saved_with(memory: Memory) -> tuple[object, ...]:
    return memory.path, memory.agent_id, memory.session_id, origin_of(memory)
