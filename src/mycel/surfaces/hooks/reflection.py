"""What an agent is asked once in a session, where it was set up with `--reflect`: to save what it has learned."""

from __future__ import annotations

from pathlib import Path

REFLECTION = (
    "Mycel asks this once in a session. If this session taught something that will help the team later, save it now "
    "with the tool save_memory of the server mycel, one memory for each: a problem and what solved it, a decision with "
    "its reason, a convention, a mistake and how to avoid it. Each must be understood without this conversation. Leave "
    "out what is known already, what you have not verified, and secrets. If there is nothing of that kind, save "
    "nothing. Then end the turn; do not repeat your answer."
)
# Looked at from the end: the turn that has just ended stands there.
MOST_LOOKED_AT = 1024 * 1024
# How transcripts of Claude Code and of Codex write that a tool was used.
_TOOL_USES = (b'"tool_use"', b'"function_call"', b'"custom_tool_call"', b'"local_shell_call"')


def has_worked(transcript: Path) -> bool:
    """A chat in which nothing was done has taught the agent nothing."""
    try:
        with transcript.open("rb") as opened:
            opened.seek(max(0, transcript.stat().st_size - MOST_LOOKED_AT))
            text = opened.read(MOST_LOOKED_AT)
    except OSError:
        return False
    return any(mark in text for mark in _TOOL_USES)
