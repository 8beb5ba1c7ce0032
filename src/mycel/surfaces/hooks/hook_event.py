"""What a coding agent told, in one form for all of them."""

from __future__ import annotations

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
    task_id: str | None = None
    failure: str | None = None
    last_words: str = ""
