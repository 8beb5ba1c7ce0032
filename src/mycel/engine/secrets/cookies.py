"""Cookies that log somebody in: in headers, options of commands and code."""

from __future__ import annotations

import re

from mycel.engine.secrets.span import Span
from mycel.engine.secrets.values import is_placeholder, is_random

_START = re.compile(
    r"cookies?\\{0,3}[\"']?[ \t]{0,4}(?:[:=]|(?<=[ \t]--cookie)[ \t])[ \t]{0,4}\\{0,3}[\"']?", re.IGNORECASE
)
_PAIR = re.compile(
    r"(?P<name>[\w.$-]{1,64})=(?P<value>[^\s;,\"'\\]{1,4096})\\{0,3}[\"']?"
    r"(?:;[ \t]{0,4}(?:(?:HttpOnly|Secure)\b;?[ \t]{0,4}){0,2})?",
    re.IGNORECASE,
)
_SESSION = re.compile(r"sess(?:ion)?[_-]?id=(?P<value>[A-Za-z0-9%._~+/-]{16,512})", re.IGNORECASE)
_MOST_PAIRS = 40
_LEAST_CHARS = 16


def cookie_at(text: str, at: int) -> Span | None:
    """From the first to the last of the values that are secret in the cookies named there."""
    start = _START.match(text, at)
    pair = _PAIR.match(text, start.end()) if start else None
    first = last = None
    for _ in range(_MOST_PAIRS):
        if not pair:
            break
        if _is_secret(pair["value"]):
            first, last = first or pair, pair
        pair = _PAIR.match(text, pair.end())
    return Span(first.start("value"), last.end("value"), "cookie") if first and last else None


def session_at(text: str, at: int) -> Span | None:
    """The value of a session's cookie that stands without the word: `JSESSIONID=...`."""
    found = _SESSION.match(text, at)
    return Span(found.start("value"), found.end("value"), "cookie") if found and _is_secret(found["value"]) else None


def _is_secret(value: str) -> bool:
    return len(value) >= _LEAST_CHARS and is_random(value, least=_LEAST_CHARS) and not is_placeholder(value)
