"""What a coding agent told, in one form for all of them; and the events of each, spelled as the agent spells them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CLAUDE_CODE, CODEX, CURSOR, GEMINI, OPENCODE = "claude-code", "codex", "cursor", "gemini", "opencode"
AGENTS = (CLAUDE_CODE, CODEX, CURSOR, GEMINI, OPENCODE)

SESSION_STARTED = "session started"
PROMPTED = "prompted"
TOOL_USED = "tool used"
TASK_FAILED = "task failed"
ANSWERED = "answered"
TURN_ENDED = "turn ended"
COMPACTING = "compacting"
SUBAGENT_ENDED = "subagent ended"
SESSION_ENDED = "session ended"

# An option of the hook that ends a turn.
REFLECT = "--reflect"

USER, ASSISTANT = "user", "assistant"
Message = dict[str, str]


class Happening(NamedTuple):
    """`told` are the messages that came with it; `transcript` is the file where the agent keeps them instead."""

    agent: str
    event: str
    kind: str
    session_id: str | None = None
    cwd: Path = Path()
    # Why a session started: a compaction takes away what was injected before.
    source: str = ""
    prompt: str = ""
    told: tuple[Message, ...] = ()
    # They are all of the session, not only what is new.
    from_start: bool = False
    transcript: Path | None = None
    files: tuple[Path, ...] = ()
    # All that the tool was given to write into the one file.
    written: str = ""
    task_id: str | None = None
    failure: str | None = None
    last_words: str = ""
    # The turn went on since a hook had asked for it.
    goes_on: bool = False


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
    CLAUDE_CODE: (
        Event("SessionStart", SESSION_STARTED),
        Event("UserPromptSubmit", PROMPTED),
        Event("PostToolUse", TOOL_USED, "Write|Edit|MultiEdit|NotebookEdit"),
        Event("PostToolUseFailure", TASK_FAILED, "Task|Agent"),
        Event("Stop", TURN_ENDED),
        Event("StopFailure", TASK_FAILED),
        Event("SubagentStop", SUBAGENT_ENDED),
        Event("PreCompact", COMPACTING),
        Event("SessionEnd", SESSION_ENDED),
    ),
    CODEX: (
        Event("SessionStart", SESSION_STARTED),
        Event("UserPromptSubmit", PROMPTED),
        Event("PostToolUse", TOOL_USED, "apply_patch|Write|Edit"),
        Event("PostToolUseFailure", TASK_FAILED, installed=False),
        Event("Stop", TURN_ENDED),
        Event("StopFailure", TASK_FAILED, installed=False),
        Event("SubagentStop", SUBAGENT_ENDED),
        Event("PreCompact", COMPACTING),
        Event("SessionEnd", SESSION_ENDED),
    ),
    CURSOR: (
        Event("sessionStart", SESSION_STARTED),
        Event("beforeSubmitPrompt", PROMPTED),
        Event("afterFileEdit", TOOL_USED),
        Event("postToolUse", TOOL_USED, installed=False),
        Event("afterAgentResponse", ANSWERED),
        Event("preCompact", COMPACTING),
        Event("stop", TURN_ENDED),
        Event("subagentStop", SUBAGENT_ENDED),
        Event("sessionEnd", SESSION_ENDED),
    ),
    GEMINI: (
        Event("SessionStart", SESSION_STARTED),
        Event("BeforeAgent", PROMPTED),
        Event("AfterTool", TOOL_USED, "write_file|replace"),
        Event("AfterAgent", TURN_ENDED),
        # Before every request to the model, not only before it compresses.
        Event("PreCompress", COMPACTING, installed=False),
        Event("SessionEnd", SESSION_ENDED),
    ),
    OPENCODE: (
        Event("session.created", SESSION_STARTED),
        Event("chat.message", PROMPTED),
        Event("tool.execute.after", TOOL_USED),
        Event("experimental.session.compacting", COMPACTING),
        Event("session.idle", TURN_ENDED),
        Event("session.error", TASK_FAILED),
        Event("session.deleted", SESSION_ENDED),
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
