"""Ids: UUIDs of version 7, so that they sort by the moment they were made."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterable
from typing import NewType

from mycel.errors import InvalidInput

MemoryId = NewType("MemoryId", str)
SourceId = NewType("SourceId", str)
EventId = NewType("EventId", str)
RecallId = NewType("RecallId", str)
ReportId = NewType("ReportId", str)
MemberId = NewType("MemberId", str)
TeamName = NewType("TeamName", str)

# Of an id: the moment it was made, to the minute. What is cited by less would soon be ambiguous.
LEAST_BEGINNING = 8

_FORM = "019a0000-0000-7000-8000-000000000000"
_CITED = re.compile(r"\[?m:([^\s\[\]]{1,36})\]?")
_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class _Ticks:
    """Milliseconds in 48 bits and their fraction in 12 (RFC 9562, method 3), each greater than the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        now = (time.time_ns() << 12) // 1_000_000
        with self._lock:
            self._last = now = max(now, self._last + 1)
        return now


_ticks = _Ticks()


def new_id() -> str:
    """A UUIDv7 greater than every one made before in this process, even if the clock steps back."""
    now = _ticks.next()
    tail = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF
    digits = f"{((now >> 12) << 16) | 0x7000 | (now & 0xFFF):016x}{tail | 1 << 63:016x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def parse_id(value: object, *, field: str = "id") -> MemoryId:
    """The canonical form of an id that came from outside."""
    if isinstance(value, str):
        if _CANONICAL.fullmatch(value):
            return MemoryId(value)
        lowered = value.strip().lower()
        if _CANONICAL.fullmatch(lowered):
            return MemoryId(lowered)
    raise InvalidInput(f"is not an id of the form {_FORM}", field=field)


def parse_beginning(value: object, *, field: str = "id") -> str:
    """A whole id, or as much of its beginning as citations have; also with the marks of a citation around it."""
    text = value.strip().lower() if isinstance(value, str) else ""
    cited = _CITED.fullmatch(text)
    text = cited[1] if cited else text
    if len(text) >= LEAST_BEGINNING and _CANONICAL.fullmatch(text + _FORM[len(text) :]):
        return text
    wanted = f"is not an id of the form {_FORM}, nor the first {LEAST_BEGINNING} or more characters of one"
    raise InvalidInput(wanted, field=field)


def is_whole(beginning: str) -> bool:
    return len(beginning) == len(_FORM)


def shortest_beginning(id: str, others: Iterable[str]) -> str:
    """As much of an id as tells it from the others, and no less than tools take."""
    needed = max((_shared(id, other) + 1 for other in others if other != id), default=0)
    length = max(needed, LEAST_BEGINNING)
    # A hyphen tells nothing, and looks like a mistake at the end.
    return id[: length + 1] if id[length - 1 : length] == "-" else id[:length]


def _shared(one: str, other: str) -> int:
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
