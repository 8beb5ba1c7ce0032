"""Stretches of a transcript file, read in pieces that the service takes in the time an agent may wait."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, cast

from mycel.engine.transcripts.privacy import PRIVATE, PrivateFilter, without_private
from mycel.surfaces.hooks.hook_event import CODEX

PIECE_BYTES = 128 * 1024
# A line that is longer is passed over: no service would take it.
MOST_OF_LINE = 16 * 1024 * 1024

# In which the last words of an agent are looked for.
_MOST_OF_END = 1024 * 1024

# A piece may be one line, and whoever reads it tells the format by more: these lines say nothing themselves.
_SAYING_NOTHING = {CODEX: '{"type":"session_meta","payload":{}}\n' * 2}
_SAYING_NOTHING_BY_DEFAULT = '{"type":"summary","summary":"","leafUuid":"mycel"}\n' * 2
# What holds a line together is no part of what was said: hiding it would hide the rest of the session as well.
_STRUCTURE = frozenset(
    {
        *("type", "role", "id", "uuid", "parentUuid", "leafUuid", "sessionId", "session_id", "timestamp", "name"),
        *("call_id", "tool_use_id", "model", "status", "stop_reason", "cwd", "version", "gitBranch", "requestId"),
    }
)


class FileRange(NamedTuple):
    """Whole lines of a file, from one byte to another."""

    file: str
    agent: str
    since: int
    until: int


class Piece(NamedTuple):
    """As the service takes it, without private parts; empty when nothing of it may be told."""

    text: str
    end: int


def new_range(file: Path, *, agent: str, known: int) -> FileRange:
    """What was written since; the last line may still be being written. A file that has shrunk is another one."""
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            since = known if known <= size else 0
            until = _last_line_end(opened, since, size)
    except FileNotFoundError:
        # An agent may tell of a session before it has written anything down.
        since = until = known
    return FileRange(str(file), agent, since, until)


def has_words(file: Path, words: str) -> bool:
    """Whether its last lines say them: an agent may tell of its end before it has written it down."""
    try:
        with file.open("rb") as opened:
            opened.seek(max(0, opened.seek(0, 2) - _MOST_OF_END))
            raw = opened.read()
    except FileNotFoundError:
        return False
    forms = (json.dumps(words, ensure_ascii=in_ascii)[1:-1] for in_ascii in (False, True))
    return any(form.encode("utf-8", "replace") in raw for form in forms)


def read_piece(part: FileRange) -> Piece:
    """The first piece of a part. `OSError` when the file is gone."""
    with Path(part.file).open("rb") as opened:
        opened.seek(part.since)
        raw = opened.read(min(PIECE_BYTES, part.until - part.since))
        cut = raw.rfind(b"\n") + 1
        if not cut:
            rest = opened.readline(min(MOST_OF_LINE, part.until - part.since - len(raw)))
            raw += rest
            cut = len(raw)
    end = part.since + cut
    if not raw[:cut].endswith(b"\n"):
        return Piece("", end)
    # Neither can be stored; what a tool printed is not worth losing the session for.
    text = _without_private(raw[:cut].decode("utf-8", "replace").replace("\0", "\ufffd"))
    lead = _SAYING_NOTHING.get(part.agent, _SAYING_NOTHING_BY_DEFAULT)
    return Piece(lead + text if text.strip() else "", end)


def _last_line_end(opened: Any, since: int, size: int) -> int:
    at = size
    while at > since:
        start = max(since, at - PIECE_BYTES)
        opened.seek(start)
        found = opened.read(at - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return since


def _without_private(text: str) -> str:
    if PRIVATE not in text.lower():
        return text
    return "".join(_line_without_private(line) for line in text.split("\n") if line)


def _line_without_private(line: str) -> str:
    if PRIVATE not in line.lower():
        return f"{line}\n"
    try:
        found: object = json.loads(line)
        return json.dumps(_cleaned(found, PrivateFilter(), name=""), ensure_ascii=False) + "\n"
    except (ValueError, RecursionError):
        # Nobody could read it, and nobody can tell what of it is private.
        return ""


def _cleaned(value: object, shutter: PrivateFilter, *, name: str) -> Any:
    if isinstance(value, str):
        return without_private(value) if name in _STRUCTURE else shutter.shown(value)
    if isinstance(value, list):
        return [_cleaned(one, shutter, name="") for one in cast("list[object]", value)]
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        return {key: _cleaned(one, shutter, name=key) for key, one in named.items()}
    return value
