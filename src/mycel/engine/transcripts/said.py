"""What was said, one turn after another, and the text it becomes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from mycel.domain.source import Transcript, Turn

USER, ASSISTANT, SYSTEM, TOOL, UNKNOWN = "user", "assistant", "system", "tool", ""

# What the usual formats call those who take part.
ROLES = {
    "user": USER,
    "human": USER,
    "assistant": ASSISTANT,
    "ai": ASSISTANT,
    "model": ASSISTANT,
    "system": SYSTEM,
    "developer": SYSTEM,
    "tool": TOOL,
    "function": TOOL,
}

PARAGRAPH = "\n\n"
CUT_MARK = "…"


@dataclass(frozen=True, slots=True)
class Said:
    role: str
    content: str
    speaker: str | None = None
    said_at: datetime | None = None


def render(said: Iterable[Said]) -> Transcript:
    """Paragraphs of `speaker or role: content`. What is blank leaves no trace; the rest stands as it was said."""
    pieces: list[str] = []
    turns: list[Turn] = []
    at = 0
    for one in said:
        if not one.content.strip():
            continue
        name = one.speaker or one.role
        lead = f"{PARAGRAPH if turns else ''}{name}: " if name else PARAGRAPH if turns else ""
        start = at + len(lead)
        at = start + len(one.content)
        pieces += (lead, one.content)
        turns.append(Turn(one.role, start, at, one.speaker, one.said_at))
    return Transcript("".join(pieces), tuple(turns))


def clip(text: str, *, most: int) -> str:
    """The beginning of a text, with a mark where something is missing."""
    shown = text.strip()
    return shown if len(shown) <= most else shown[: most - 1].rstrip() + CUT_MARK
