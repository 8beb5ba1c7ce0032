"""Prompts, which a person picks from a menu, and the names that complete their arguments and addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    TextContent,
)

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.envelope import one_line
from mycel.domain.ids import TeamName
from mycel.errors import MycelError
from mycel.surfaces.mcp import tool_results
from mycel.surfaces.mcp.callers import Guest
from mycel.surfaces.mcp.resources import TEMPLATE

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


# The protocol's own bound.
MOST_VALUES = 100
# Enough to know the names in use; an older one can still be typed.
NEWEST = 200


def _projects(memory: MemoryApi) -> Iterable[str]:
    return (project.name for project in memory.projects.list())


def _tags(memory: MemoryApi) -> Iterable[str]:
    return _by_use(tag for one in memory.list(limit=NEWEST) for tag in one.tags)


def _authors(memory: MemoryApi) -> Iterable[str]:
    return _by_use(one.agent_id for one in memory.list(limit=NEWEST))


def _ids(memory: MemoryApi) -> Iterable[str]:
    return (one.id for one in memory.list(limit=NEWEST))


def _by_use(names: Iterable[str]) -> list[str]:
    return [name for name, _ in Counter(names).most_common()]


# An argument of this name means the same wherever it stands.
NAMES: Mapping[str, Callable[[MemoryApi], Iterable[str]]] = MappingProxyType(
    {"agent": _authors, "id": _ids, "project": _projects, "tags": _tags}
)


async def complete(guest: Guest, params: CompleteRequestParams, written: Sequence[Written]) -> CompleteResult:
    """Nothing for what is unknown, as for what has no names to choose from."""
    name, value = params.argument.name, params.argument.value
    if name not in _arguments_of(params, written) or name not in NAMES:
        return _result([])
    # Of several, separated by commas, the last is being written.
    before, comma, begun = value.rpartition(",") if name == "tags" else ("", "", value)
    names = await guest.work(lambda: list(NAMES[name](guest.memory)))
    return _result([before + comma + found for found in _matching(names, begun.strip())])


def _arguments_of(params: CompleteRequestParams, written: Sequence[Written]) -> frozenset[str]:
    if isinstance(params.ref, PromptReference):
        wanted = params.ref.name
        return frozenset(name for prompt in written if prompt.name == wanted for name in prompt.takes)
    return frozenset({"id"}) if params.ref.uri == TEMPLATE.uri_template else frozenset()


def _matching(names: Iterable[str], begun: str) -> list[str]:
    """Those that begin so; one that would have to be rendered safe is no longer a name of anything."""
    wanted = begun.casefold()
    return [name for name in names if name.casefold().startswith(wanted) and one_line(name) == name]


def _result(values: list[str]) -> CompleteResult:
    shown = values[:MOST_VALUES]
    return CompleteResult(completion=Completion(values=shown, total=len(values), has_more=len(values) > len(shown)))
