"""Tools over the agent's own working memory: it lives in the agent's own process, so only over stdio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mycel.domain.ids import TeamName
from mycel.embedded.working_memory import WorkingMemory
from mycel.surfaces.mcp.telling import NOTHING, Told
from mycel.surfaces.mcp.tool import Effect, Tool
from mycel.surfaces.mcp.tool_sets import ToolSet


@dataclass(frozen=True, kw_only=True)
class WorkingTool(Tool):
    """`does` nothing of the API: `apply` does it to the working memory."""

    apply: Callable[[WorkingMemory, Mapping[str, Any]], object]

    @property
    def repeats_by_key(self) -> bool:
        return False


def _read(memory: WorkingMemory, _arguments: Mapping[str, Any]) -> WorkingMemory:
    return memory


def _update(memory: WorkingMemory, arguments: Mapping[str, Any]) -> WorkingMemory:
    if "plan" in arguments:
        memory.current_plan = arguments["plan"]
    if "constraint" in arguments:
        memory.add_constraint(arguments["constraint"])
    if "note" in arguments and arguments["note"] not in memory.scratchpad[-1:]:
        memory.note(arguments["note"])
    if "context_key" in arguments:
        key, value = arguments["context_key"], arguments.get("context_value")
        if value is None:
            memory.remove_context(key)
        else:
            memory.set_context(key, value)
    memory.snapshot()
    return memory


def _tell(found: WorkingMemory, _home: TeamName) -> Told:
    structured = {
        "plan": found.current_plan,
        "constraints": list(found.active_constraints),
        "context": dict(found.task_context),
        "scratchpad": list(found.scratchpad),
    }
    return Told(found.to_markdown() or NOTHING, structured)


WORKING: tuple[WorkingTool, ...] = (
    WorkingTool(
        name="get_working_memory",
        does="",
        about="Your own plan, constraints, task context and notes of this session, also after a restart. Nobody else "
        "sees them.",
        apply=_read,
        tell=_tell,
        sets=frozenset({ToolSet.SWARM}),
    ),
    WorkingTool(
        name="update_working_memory",
        does="",
        about="Keep your plan, a constraint, a value of the task context or a note in mind for this session; it "
        "survives a restart and is never shared. What the team should know belongs into save_memory.",
        takes=("plan", "constraint", "context_key", "context_value", "note"),
        apply=_update,
        tell=_tell,
        sets=frozenset({ToolSet.SWARM}),
        effect=Effect.CHANGES,
    ),
)
