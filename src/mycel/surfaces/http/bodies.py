"""Request bodies: counted while they are read, and JSON of bounded depth whose every text and number can be kept."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast

from starlette.types import Message, Receive, Scope

from mycel.domain.fields import LEAST_INTEGER, MAX_COUNT, MAX_DEPTH, MOST_INTEGER
from mycel.errors import InvalidInput, TooLarge
from mycel.surfaces.http.problems import Problem, Refused

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


MAX_BODY_BYTES = 1024 * 1024
# The material of a capture: a long day of an agent.
MAX_CAPTURE_BYTES = 32 * 1024 * 1024
# What is larger takes so long to read that others have to get their turns meanwhile.
LARGE_BODY_BYTES = 256 * 1024
JSON = "application/json"
_FIELD_END = re.compile(r"[.\[]")
# Lists whose entries have fields of ours.
_PLACES = re.compile(r"(?:items|artifacts|messages|teams)\[\d+\](?:\.[a-zA-Z_]+)?")


class Gone(Exception):
    """The client left before it had sent everything; nobody waits for an answer."""


def check_announced(scope: Scope, *, limit: int) -> None:
    """What announces itself as too large need not be sent; what says nothing or lies is counted all the same."""
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if announced.isdigit() and int(announced) > limit:
        raise too_large(limit)


async def read_body(scope: Scope, receive: Receive, *, limit: int) -> bytes:
    check_announced(scope, limit=limit)
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        part, more = chunk_of(await receive())
        size += len(part)
        if size > limit:
            raise too_large(limit)
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def chunk_of(message: Message) -> tuple[bytes, bool]:
    if message["type"] == "http.disconnect":
        raise Gone
    return message.get("body", b""), message.get("more_body", False)


def too_large(limit: int) -> TooLarge:
    return TooLarge(f"the body is larger than {limit:,} bytes")


def require_json(scope: Scope) -> None:
    """Also against pages elsewhere: a browser asks first before it sends JSON to another site."""
    given = next((value for name, value in scope["headers"] if name == b"content-type"), b"").decode("latin-1")
    if given.partition(";")[0].strip().lower() != JSON:
        status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise Refused(Problem(status, f"send it as {JSON}", code="unsupported_media_type", field="Content-Type"))


def read_object(raw: bytes, *, field: str = "body") -> dict[str, Any]:
    """The one JSON object of a body; an empty body is an empty object."""
    if not raw:
        return {}
    try:
        found = _decoded(raw.decode())
    except UnicodeDecodeError:
        raise InvalidInput("is not UTF-8 text", field=field) from None
    except RecursionError:
        raise InvalidInput(f"is nested more than {MAX_DEPTH} deep", field=field) from None
    except ValueError as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidInput(f"is not valid JSON{where}", field=field) from None
    if not isinstance(found, dict):
        raise InvalidInput("must be a JSON object", field=field)
    named = cast(dict[str, Any], found)
    for name, value in named.items():
        # Names that are none are named by their request, before one of them is shown.
        check_text(name, field)
        _check(value, name, 2)
    return named


def _decoded(text: str) -> object:
    if len(text) > LARGE_BODY_BYTES:
        return PieceDecoder(parse_constant=float, parse_float=_number, depth=MAX_DEPTH).decode(text)
    return json.loads(text, parse_constant=float, parse_float=_number)


def _number(text: str) -> int | float:
    """JSON knows no difference between 5 and 5.0."""
    found = float(text)
    return int(found) if found.is_integer() and abs(found) <= MAX_COUNT else found


def check_text(value: str, field: str) -> None:
    """NUL and lone surrogates are kept by neither database; ASCII, the most of it, holds no surrogate."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput("holds a lone surrogate, which is not valid Unicode text", field=_named(field)) from None
    if "\0" in value:
        raise InvalidInput("holds a NUL character", field=_named(field))


def _check(value: object, field: str, depth: int) -> None:
    if isinstance(value, str):
        check_text(value, field)
    elif isinstance(value, dict | list):
        if depth > MAX_DEPTH:
            raise InvalidInput(f"is nested more than {MAX_DEPTH} deep", field=_named(field))
        _check_within(cast("dict[str, object] | list[object]", value), field, depth)
    elif isinstance(value, int):
        if not LEAST_INTEGER <= value <= MOST_INTEGER:
            raise InvalidInput("holds a whole number outside 64 bits", field=_named(field))
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput("holds a number that is not finite", field=_named(field))


def _check_within(value: dict[str, object] | list[object], field: str, depth: int) -> None:
    if isinstance(value, list):
        for place, item in enumerate(value):
            _check(item, f"{field}[{place}]", depth + 1)
        return
    for name, item in value.items():
        check_text(name, field)
        _check(item, f"{field}.{name}", depth + 1)


def _named(field: str) -> str:
    """Our name of it: inside of what people name themselves, a name may itself be what is wrong."""
    within = _PLACES.match(field)
    return within[0] if within else _FIELD_END.split(field, maxsplit=1)[0]
