"""The events of each agent's hooks, spelled as the agent spells them: the one table behind hooks and installing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mycel.surfaces.hooks import hook_event as told


class Event(NamedTuple):
    """`tools` are those it is asked for, as the agent's settings match them.

    One that is not `installed` is understood all the same: not every version of the agent knows it, or another one
    tells the same.
    """

    name: str
    kind: str
    tools: str = ""
    installed: bool = True


EVENTS: dict[str, tuple[Event, ...]] = {
    told.CLAUDE_CODE: (
        Event("SessionStart", told.SESSION_STARTED),
        Event("UserPromptSubmit", told.PROMPTED),
        Event("PostToolUse", told.TOOL_USED, "Write|Edit|MultiEdit|NotebookEdit"),
        Event("PostToolUseFailure", told.TASK_FAILED, "Task|Agent"),
        Event("Stop", told.TURN_ENDED),
        Event("StopFailure", told.TASK_FAILED),
        Event("SubagentStop", told.SUBAGENT_ENDED),
        Event("PreCompact", told.COMPACTING),
        Event("SessionEnd", told.SESSION_ENDED),
    ),
    told.CODEX: (
        Event("SessionStart", told.SESSION_STARTED),
        Event("UserPromptSubmit", told.PROMPTED),
        Event("PostToolUse", told.TOOL_USED, "apply_patch|Write|Edit"),
        Event("PostToolUseFailure", told.TASK_FAILED, installed=False),
        Event("Stop", told.TURN_ENDED),
        Event("StopFailure", told.TASK_FAILED, installed=False),
        Event("SubagentStop", told.SUBAGENT_ENDED),
        Event("PreCompact", told.COMPACTING),
        Event("SessionEnd", told.SESSION_ENDED),
    ),
    told.CURSOR: (
        Event("sessionStart", told.SESSION_STARTED),
        Event("beforeSubmitPrompt", told.PROMPTED),
        Event("afterFileEdit", told.TOOL_USED),
        Event("postToolUse", told.TOOL_USED, installed=False),
        Event("afterAgentResponse", told.ANSWERED),
        Event("preCompact", told.COMPACTING),
        Event("stop", told.TURN_ENDED),
        Event("subagentStop", told.SUBAGENT_ENDED),
        Event("sessionEnd", told.SESSION_ENDED),
    ),
    told.GEMINI: (
        Event("SessionStart", told.SESSION_STARTED),
        Event("BeforeAgent", told.PROMPTED),
        Event("AfterTool", told.TOOL_USED, "write_file|replace"),
        Event("AfterAgent", told.TURN_ENDED),
        # Before every request to the model, not only before it compresses.
        Event("PreCompress", told.COMPACTING, installed=False),
        Event("SessionEnd", told.SESSION_ENDED),
    ),
    told.OPENCODE: (
        Event("session.created", told.SESSION_STARTED),
        Event("chat.message", told.PROMPTED),
        Event("tool.execute.after", told.TOOL_USED),
        Event("experimental.session.compacting", told.COMPACTING),
        Event("session.idle", told.TURN_ENDED),
        Event("session.error", told.TASK_FAILED),
        Event("session.deleted", told.SESSION_ENDED),
    ),
}


def kind_of(agent: str, event: str) -> str | None:
    """In any spelling: SessionStart, session-start and sessionStart are one."""
    wanted = squeezed(event)
    return next((one.kind for one in EVENTS.get(agent, ()) if squeezed(one.name) == wanted), None)


def name_of(agent: str, kind: str) -> str:
    """As the agent spells the event that tells this."""
    return next(one.name for one in EVENTS[agent] if one.kind == kind)


def installed_events(agent: str) -> Iterator[Event]:
    return (one for one in EVENTS[agent] if one.installed)


def squeezed(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
