"""Large JSON, decoded piece by piece: one call for all of it holds the interpreter lock, and everybody waits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")


class PieceDecoder:
    """Decodes one text as `json.loads` does, each string and number of it by itself, at most `depth` levels deep.

    Raises `JSONDecodeError`, and `RecursionError` for what is nested deeper.
    """

    def __init__(self, *, parse_float: Callable[[str], Any], parse_constant: Callable[[str], Any], depth: int) -> None:
        self._decoder = json.JSONDecoder(parse_float=parse_float, parse_constant=parse_constant)
        self._depth = depth
        # Of names that come again and again one is kept.
        self._names: dict[str, str] = {}

    def decode(self, text: str) -> Any:
        found, at = self._value(text, _skip(text, 0), self._depth)
        if at != len(text):
            raise json.JSONDecodeError("Extra data", text, at)
        return found

    def _value(self, text: str, at: int, depth: int) -> tuple[Any, int]:
        """The value that begins there, and the place of what follows it."""
        opening = text[at : at + 1]
        if opening in ("{", "[") and depth == 0:
            raise RecursionError
        if opening == "{":
            return self._object(text, at, depth - 1)
        if opening == "[":
            return self._array(text, at, depth - 1)
        found, end = self._decoder.raw_decode(text, at)
        return found, _skip(text, end)

    def _array(self, text: str, at: int, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        at = _skip(text, at + 1)
        if text[at : at + 1] == "]":
            return found, _skip(text, at + 1)
        while True:
            value, at = self._value(text, at, depth)
            found.append(value)
            at, is_last = _next(text, at, closing="]")
            if is_last:
                return found, at

    def _object(self, text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        at = _skip(text, at + 1)
        if text[at : at + 1] == "}":
            return found, _skip(text, at + 1)
        while True:
            if text[at : at + 1] != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
            name, at = self._value(text, at, depth)
            if text[at : at + 1] != ":":
                raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
            found[self._names.setdefault(name, name)], at = self._value(text, _skip(text, at + 1), depth)
            at, is_last = _next(text, at, closing="}")
            if is_last:
                return found, at


def _next(text: str, at: int, *, closing: str) -> tuple[int, bool]:
    """The place after a comma or after the end."""
    sign = text[at : at + 1]
    if sign not in (",", closing):
        raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    return _skip(text, at + 1), sign == closing


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
