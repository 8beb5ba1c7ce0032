"""What was said, one turn after another, the text it becomes, and how much of it there may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from mycel.domain.fields import MAX_DEPTH
from mycel.domain.source import Transcript, Turn
from mycel.errors import InvalidInput, LimitExceeded

MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024


def check_size(size: int) -> None:
    if size > MAX_TRANSCRIPT_BYTES:
        raise LimitExceeded(f"the transcript is larger than {MAX_TRANSCRIPT_BYTES:,} bytes; send it in parts")


def byte_size(text: str) -> int:
    """Lone surrogates count as well: whether they are allowed is asked elsewhere."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def size_of(value: object, *, field: str) -> int:
    """The bytes of all texts inside a value, which may be nested so deep that it would end a recursive reader."""
    size = 0
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        found, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise InvalidInput(f"is nested more than {MAX_DEPTH} deep", field=field)
        if isinstance(found, str):
            size += byte_size(found)
        elif isinstance(found, Mapping):
            inner = cast("Mapping[object, object]", found)
            waiting += ((one, depth + 1) for one in (*inner, *inner.values()))
        elif isinstance(found, list | tuple):
            waiting += ((one, depth + 1) for one in cast("list[object] | tuple[object, ...]", found))
    return size


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
