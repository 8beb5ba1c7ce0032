"""What a command reads besides its line: a file, or standard input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from mycel.errors import InvalidInput
from mycel.held_files import open_unheld
from mycel.surfaces.cli.output import note

if TYPE_CHECKING:
    from mycel.contracts.memory_fields import Messages

FROM_INPUT = "-"
# The largest content any setting allows; more would only be read to be refused.
MAX_CONTENT_BYTES = 1024 * 1024
_BYTE_ORDER_MARK = "\ufeff"


def content_of(text: str, *, field: str = "content") -> str:
    """The text of the line itself, or what standard input holds where it says `-`."""
    if text != FROM_INPUT:
        return text
    found = _decoded(_read_input(field=field, most=MAX_CONTENT_BYTES), field=field)
    return found.removesuffix("\n").removesuffix("\r")


def read_material(place: str, *, field: str = "file") -> str:
    """All of a file, or of standard input for `-`, as long as it can be captured."""
    from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES

    if place == FROM_INPUT:
        return _decoded(_read_input(field=field, most=MAX_TRANSCRIPT_BYTES), field=field)
    try:
        with open_unheld(Path(place)) as file:
            return _decoded(_read(file, field=field, most=MAX_TRANSCRIPT_BYTES), field=field)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "not a file name"
        raise InvalidInput(f"cannot be read: {why}", field=field) from None


def read_messages(place: str) -> Messages:
    """A JSON list of objects as messages; any other text, such as a transcript of an agent, as it is."""
    text = read_material(place)
    if text.lstrip().startswith("["):
        try:
            found: object = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(found, list) and all(isinstance(one, dict) for one in cast(list[object], found)):
            return cast("Messages", found)
    return text


def _read_input(*, field: str, most: int) -> bytes:
    if sys.stdin.isatty():
        note("Reading what you type; Ctrl-D on a line of its own ends it.")
    return _read(sys.stdin.buffer, field=field, most=most)


def _read(file: BinaryIO, *, field: str, most: int) -> bytes:
    found = file.read(most + 1)
    if len(found) > most:
        raise InvalidInput(f"is longer than {most:,} bytes", field=field)
    return found


def _decoded(found: bytes, *, field: str) -> str:
    try:
        return found.decode().removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError:
        raise InvalidInput("is not UTF-8 text", field=field) from None
