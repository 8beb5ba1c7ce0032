"""The one door for captured material, whatever its form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import cast

from mycel.domain import fields
from mycel.domain.source import Transcript
from mycel.engine.transcripts import claude_code, codex
from mycel.engine.transcripts.messages import read_messages
from mycel.engine.transcripts.plain import read_plain
from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES, Said, byte_size, check_size, render
from mycel.errors import InvalidInput

# Enough to see past the bookkeeping that a session may begin with.
LOOKED_AT = 64
# One line may be an example that somebody pasted.
LEAST_RECOGNISED = 2

_BLANK = " \t\r\n"
_BYTE_ORDER_MARK = "\ufeff"
_UNSTORABLE_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def read_jsonl(text: str) -> Iterator[Said] | None:
    """What was said, if the text is such a transcript; without broken lines, and without one still being written."""
    if not _begins_and_ends_as_objects(text):
        return None
    entries = _entries(text)
    head = list(islice(entries, LOOKED_AT))
    for writer in (claude_code, codex):
        count = sum(entry is not None and writer.recognises(entry) for entry in head)
        if count >= LEAST_RECOGNISED and 2 * count >= len(head):
            return writer.read(entry for entry in chain(head, entries) if entry is not None)
    return None


def _begins_and_ends_as_objects(text: str) -> bool:
    """Prose before or after the lines means that somebody is showing them to somebody."""
    end = len(text)
    while end and text[end - 1] in _BLANK:
        end -= 1
    last = text.rfind("\n", 0, end) + 1
    return text.startswith("{", _first_filled(text)) and text[last:end].lstrip(_BLANK).startswith("{")


def _first_filled(text: str) -> int:
    at = 1 if text.startswith(_BYTE_ORDER_MARK) else 0
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _entries(text: str) -> Iterator[dict[str, object] | None]:
    """One for each line that is not blank; None where it is no JSON object."""
    at = _first_filled(text)
    while at < len(text):
        # Other line separators may stand inside a JSON text as they are.
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip(_BLANK)
        at = end + 1
        if line:
            yield _entry(line)


def _entry(line: str) -> dict[str, object] | None:
    try:
        value: object = json.loads(line)
        if "\\u" in line and _UNSTORABLE_ESCAPE.search(line):
            value = _storable(value)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _storable(value: object) -> object:
    """Output of tools holds NUL and halves of characters; the session around them is worth keeping."""
    if isinstance(value, str):
        return _UNSTORABLE.sub(_REPLACEMENT, value)
    if isinstance(value, list):
        return [_storable(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        return {_storable(name): _storable(one) for name, one in cast("dict[object, object]", value).items()}
    return value


def read_transcript(material: object, *, field: str = "messages") -> Transcript:
    """Messages, a plain text, or the transcript file of Claude Code or Codex, without its private parts.

    A longer file of the same session gives a text that begins with that of the shorter one. Raises `InvalidInput`
    naming the place, and `LimitExceeded` above `MAX_TRANSCRIPT_BYTES`.
    """
    if isinstance(material, str):
        return _read_text(material, field=field)
    if isinstance(material, list | tuple):
        return render(read_messages(cast("list[object] | tuple[object, ...]", material), field=field))
    raise InvalidInput(f"must be a list of messages or a text, not {type(material).__name__}", field=field)


def _read_text(text: str, *, field: str) -> Transcript:
    check_size(byte_size(text))
    # A line with NUL is a broken line of a file, but a fault of a text; half a character is a fault of both.
    fields.text(text.replace("\0", ""), field=field, max_bytes=MAX_TRANSCRIPT_BYTES)
    said = read_jsonl(text)
    if said is not None:
        return render(said)
    return read_plain(fields.text(text, field=field, max_bytes=MAX_TRANSCRIPT_BYTES))
