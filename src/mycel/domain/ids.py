"""Ids: UUIDs of version 7, so that they sort by the moment they were made."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import NewType, TypeVar

from mycel.errors import InvalidInput

MemoryId = NewType("MemoryId", str)
SourceId = NewType("SourceId", str)
EventId = NewType("EventId", str)
RecallId = NewType("RecallId", str)
ReportId = NewType("ReportId", str)
MemberId = NewType("MemberId", str)
TeamName = NewType("TeamName", str)
IdT = TypeVar("IdT", bound=str)

# Characters of an id that name it. Eight of the random end differ among a million memories; the first eight are a
# moment, and shared by all that was saved within 65 seconds.
LEAST_SHORT = 8

_FORM = "019a0000-0000-7000-8000-000000000000"
ID_LENGTH = len(_FORM)
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


def is_id(text: str) -> bool:
    """Whether a text is one whole id, in its canonical form."""
    return len(text) == ID_LENGTH and _CANONICAL.fullmatch(text) is not None


def parse_short(value: object, *, field: str = "id") -> str:
    """Return a whole id, or a part of one that `find_id` can look up; the marks of a citation may stand around it.

    A part is at least `LEAST_SHORT` characters from the beginning or from the end of an id.
    """
    text = value.strip().lower() if isinstance(value, str) else ""
    cited = _CITED.fullmatch(text)
    text = cited[1] if cited else text
    if len(text) >= LEAST_SHORT and (may_begin(text) or may_end(text)):
        return text
    wanted = f"is not an id of the form {_FORM}, nor {LEAST_SHORT} or more characters from an end of one"
    raise InvalidInput(wanted, field=field)


def is_whole(part: str) -> bool:
    return len(part) == ID_LENGTH


def may_begin(part: str) -> bool:
    """Tell whether an id could begin with this part."""
    return _CANONICAL.fullmatch(part + _FORM[len(part) :]) is not None


def may_end(part: str) -> bool:
    """Tell whether an id could end with this part."""
    return len(part) <= ID_LENGTH and _CANONICAL.fullmatch(_FORM[: ID_LENGTH - len(part)] + part) is not None


def is_short_for(part: str, id: str) -> bool:
    """Tell whether this part of an id, or the whole of it, names this one: the rule that the stores' SQL follows."""
    return id.startswith(part) or id.endswith(part)


def shortest_endings(ids: Iterable[IdT]) -> dict[IdT, str]:
    """Return as much of the end of each id as names none of the others, and no less than `LEAST_SHORT` characters.

    The end is random, where the beginning is the moment: two that were made together begin alike.
    """
    wanted = set(ids)
    endings = Counter(id[-LEAST_SHORT:] for id in wanted)
    endings.update(id[:LEAST_SHORT] for id in wanted)
    return {id: ending if endings[ending := id[-LEAST_SHORT:]] == 1 else _longer_ending(id, wanted) for id in wanted}


def _longer_ending(id: str, others: Iterable[str]) -> str:
    beside = [other for other in others if other != id]
    for length in range(LEAST_SHORT, ID_LENGTH):
        part = id[-length:]
        # A hyphen tells nothing, and looks like a mistake at the beginning.
        if part[0] != "-" and not any(is_short_for(part, other) for other in beside):
            return part
    return id
