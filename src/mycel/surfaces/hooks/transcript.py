"""The new part of a transcript file, cut so that the service takes each piece in the time an agent may wait."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from mycel.engine.transcripts.privacy import PRIVATE, Shutter, without_private
from mycel.surfaces.hooks.happening import CODEX

PART_BYTES = 128 * 1024
# The rest of a longer file follows with the next hook.
MOST_AT_ONCE = 8 * 1024 * 1024
# Enough to say once more how a session ended, when that is all there is to say.
_MOST_REPEATED = 64 * 1024

# A piece may be one line, and whoever reads it tells the format by more: these lines say nothing themselves.
_SAYING_NOTHING = {
    CODEX: '{"type":"session_meta","payload":{}}\n' * 2,
}
_SAYING_NOTHING_BY_DEFAULT = '{"type":"summary","summary":"","leafUuid":"mycel"}\n' * 2
# What holds a line together is no part of what was said: hiding it would hide the rest of the session as well.
_STRUCTURE = frozenset(
    {
        *("type", "role", "id", "uuid", "parentUuid", "leafUuid", "sessionId", "session_id", "timestamp", "name"),
        *("call_id", "tool_use_id", "model", "status", "stop_reason", "cwd", "version", "gitBranch", "requestId"),
    }
)


class NewLines(NamedTuple):
    """`parts` in order, as the service takes them; the last begins at `last_start`, and all end at `end`."""

    parts: list[str]
    last_start: int
    end: int


def read_new(path: Path, *, agent: str, since: int) -> NewLines:
    """Whole lines only: the last one may still be written. A file that has become shorter is another one."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        start = since if since <= size else 0
        file.seek(start)
        raw = file.read(MOST_AT_ONCE)
    end = raw.rfind(b"\n") + 1
    if not end and len(raw) == MOST_AT_ONCE:
        # One line that nobody could send: it is passed over.
        end, raw = len(raw), b""
    parts: list[str] = []
    last_start = start
    for at, piece in _pieces(raw[:end]):
        text = _without_private(piece)
        if text.strip():
            parts.append(_SAYING_NOTHING.get(agent, _SAYING_NOTHING_BY_DEFAULT) + text)
            last_start = start + at
    return NewLines(parts, last_start, start + end)


def read_again(path: Path, *, agent: str, since: int, end: int) -> str | None:
    """The end of what was sent, for a session that closes without anything new."""
    since = max(since, end - _MOST_REPEATED)
    found = read_new(path, agent=agent, since=since)
    return found.parts[-1] if found.parts and found.end >= end > since else None


def _pieces(raw: bytes) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(raw):
        cut = raw.rfind(b"\n", at, at + PART_BYTES) + 1 or raw.find(b"\n", at) + 1 or len(raw)
        # Neither can be stored; what a tool printed is not worth losing the session for.
        yield at, raw[at:cut].decode("utf-8", "replace").replace("\0", "\ufffd")
        at = cut


def _without_private(text: str) -> str:
    if PRIVATE not in text.lower():
        return text
    return "".join(_line_without_private(line) for line in text.split("\n") if line)


def _line_without_private(line: str) -> str:
    if PRIVATE not in line.lower():
        return f"{line}\n"
    try:
        found: object = json.loads(line)
        return json.dumps(_cleaned(found, Shutter(), name=""), ensure_ascii=False) + "\n"
    except (ValueError, RecursionError):
        # Nobody could read it, and nobody can tell what of it is private.
        return ""


def _cleaned(value: object, shutter: Shutter, *, name: str) -> Any:
    if isinstance(value, str):
        return without_private(value) if name in _STRUCTURE else shutter.shown(value)
    if isinstance(value, list):
        return [_cleaned(one, shutter, name="") for one in cast("list[object]", value)]
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        return {key: _cleaned(one, shutter, name=key) for key, one in named.items()}
    return value
