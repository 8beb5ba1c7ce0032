"""Transcripts that coding agents write: one JSON object per line, told from other JSON by the shape of its lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import cast

from mycel.engine.transcripts import claude_code, codex
from mycel.engine.transcripts.said import Said

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
