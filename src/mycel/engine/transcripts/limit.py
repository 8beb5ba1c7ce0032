"""How much one transcript may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mycel.domain.fields import MAX_DEPTH
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
