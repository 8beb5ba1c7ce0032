"""The one door for captured material, whatever its form."""

from __future__ import annotations

from typing import cast

from mycel.domain import fields
from mycel.domain.source import Transcript
from mycel.engine.transcripts.jsonl import read_jsonl
from mycel.engine.transcripts.limit import MAX_TRANSCRIPT_BYTES, byte_size, check_size
from mycel.engine.transcripts.messages import read_messages
from mycel.engine.transcripts.plain import read_plain
from mycel.engine.transcripts.said import render
from mycel.errors import InvalidInput


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
