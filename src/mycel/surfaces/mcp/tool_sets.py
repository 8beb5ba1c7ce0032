"""Which tools a model gets: few are used better than many."""

from __future__ import annotations

from enum import StrEnum


class ToolSet(StrEnum):
    """`coding` fits a coding agent; `team` and `swarm` are for agents that share work; `full` is everything."""

    CODING = "coding"
    TEAM = "team"
    SWARM = "swarm"
    FULL = "full"

    @property
    def keeps_working_memory(self) -> bool:
        return self in {ToolSet.SWARM, ToolSet.FULL}


TOOL_SETS = tuple(one.value for one in ToolSet)
