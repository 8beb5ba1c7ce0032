"""Ids: UUIDs of version 7, so that they sort by the moment they were made."""

from __future__ import annotations

import os
import re
import threading
import time
from typing import NewType

from mycel.errors import InvalidInput

MemoryId = NewType("MemoryId", str)
SourceId = NewType("SourceId", str)
EventId = NewType("EventId", str)
RecallId = NewType("RecallId", str)
ReportId = NewType("ReportId", str)
MemberId = NewType("MemberId", str)
TeamName = NewType("TeamName", str)

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
    raise InvalidInput("is not an id of the form 019a0000-0000-7000-8000-000000000000", field=field)
