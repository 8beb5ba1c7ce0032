"""Prompts: what a person picks from a menu to have a model do it well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.envelope import one_line
from mycel.domain.ids import TeamName
from mycel.errors import MycelError
from mycel.surfaces.mcp import tool_results
from mycel.surfaces.mcp.callers import Guest

MAX_ARGUMENT = 4_000
WAITING = 10
_PROJECT = "The name of a project"


@dataclass(frozen=True)
class Written:
    name: str
    title: str
    about: str
    write: Callable[[MemoryApi, Mapping[str, str]], str]
    takes: Mapping[str, str]


def _save_decision(_memory: MemoryApi, given: Mapping[str, str]) -> str:
    decided, project, tags = (one_line(given.get(name, "")) for name in ("decision", "project", "tags"))
    subject = f"this decision: {decided}" if decided else "the decision that was just made in this conversation"
    return (
        f"Save {subject}\n\n"
        "First call search_memory with its subject: if the team has decided something about it before, say so and "
        "ask whether the new decision replaces it. Then call save_memory once with type `decision`: `content` says "
        "what was decided and where it applies, in a sentence or two that need nothing of this conversation; "
        "`rationale` says why; `alternatives` lists what was considered and not chosen. Leave out what was not said. "
        f"{f'`project` is {project}. ' if project else ''}{f'`tags` are {tags}. ' if tags else ''}Show the id."
    )


def _review(memory: MemoryApi, given: Mapping[str, str]) -> str:
    waiting = memory.inbox(limit=WAITING, project=given.get("project") or None, agent=given.get("agent") or None)
    return (
        "Help to review what waits in the inbox of the team. For each candidate below say in a line whether it is true "
        "and useful beyond the session it came from, whether it repeats or contradicts what the team holds (ask "
        "search_memory), and what you would do: approve, approve with edits, or reject with a reason. Wait for the "
        "answer before calling approve_memory or reject_memory.\n\n"
        + tool_results.inbox(waiting, TeamName(memory.team)).text
    )


def _recap(memory: MemoryApi, given: Mapping[str, str]) -> str:
    bundle = memory.context_for(task=given.get("task") or None, project=given.get("project") or None)
    return "What the team knows that may matter here:\n\n" + (bundle.to_markdown() or tool_results.NOTHING)


PROMPTS: tuple[Written, ...] = (
    Written(
        "save-decision",
        "Save a decision",
        "Save what was decided, why, and what was not chosen.",
        _save_decision,
        {
            "decision": "What was decided; by default what this conversation has just decided",
            "project": _PROJECT,
            "tags": "Such as api,github",
        },
    ),
    Written(
        "review-inbox",
        "Review the inbox",
        "Go through what waits for review in the team.",
        _review,
        {"project": _PROJECT, "agent": "Only what this agent has written"},
    ),
    Written(
        "recall-context",
        "Recall what matters",
        "Put what the team knows about a task into the conversation.",
        _recap,
        {"task": "The task, in a sentence", "project": _PROJECT},
    ),
)


def listed(written: Sequence[Written]) -> list[Prompt]:
    return [
        Prompt(
            name=one.name,
            title=one.title,
            description=one.about,
            arguments=[
                PromptArgument(name=name, description=about, required=False) for name, about in one.takes.items()
            ],
        )
        for one in written
    ]


async def get(guest: Guest, name: str, given: Mapping[str, str], written: Sequence[Written]) -> GetPromptResult:
    prompt = next((one for one in written if one.name == name), None)
    if prompt is None:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name[:80]}")
    unknown = sorted(given.keys() - prompt.takes.keys())
    if unknown or any(len(value) > MAX_ARGUMENT for value in given.values()):
        raise MCPError(INVALID_PARAMS, f"{name} takes {', '.join(prompt.takes) or 'no arguments'}, each a short text")
    try:
        text = await guest.work(lambda: prompt.write(guest.memory, given))
    except MycelError as error:
        raise MCPError(INVALID_PARAMS, one_line(str(error)), data={"code": error.code}) from None
    message = PromptMessage(role="user", content=TextContent(type="text", text=text))
    return GetPromptResult(description=prompt.about, messages=[message])
