"""Secrets that stand broken over lines or strings: the text joined again, and where its characters stood."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from mycel.engine.secrets.values import is_random

_KEY = r"[A-Za-z0-9+/_=.-]"
# A line that goes on in the next one, and a string that is put together from several.
_CONTINUED = re.compile(
    rf"(?<={_KEY})(?:\\\r?\n[ \t]{{0,40}}"
    r"|(?P<quote>[\"'])[ \t]{0,8}[+.&\\]?[ \t]{0,8}(?:\r?\n[ \t]{0,40})?[+.&]?[ \t]{0,8}[bfru]?(?P=quote))"
    rf"(?={_KEY})"
)
_SIGNS_OF_CONTINUED = {
    "\\": ("\\\n", "\\\r\n"),
    '"': ('"\n', '"\r\n', '" +', '" \\', '" .'),
    "'": ("'\n", "'\r\n", "' +", "' \\", "' ."),
}
# Pieces of a key that a terminal or a mail has broken: the second has its line to itself.
_ASSIGNMENT = re.compile(r"[=:]")
_PIECE_AFTER = re.compile(r"[ \t>]{0,40}(?P<piece>[A-Za-z0-9+/_.-]{6,512}={0,2})[ \t\"',;]{0,4}(?=\r?\n|\Z)")
_PIECE_CHARS = 200
_LEAST_BROKEN_CHARS = 16
_CLASSES = bytes(
    ord("\n") if code == ord("\n") else ord("a") if code < 128 and re.match(_KEY, chr(code)) else ord(" ")
    for code in range(256)
)
_PIECE_AT_END_OF_LINE = b"a" * 8 + b"\n"


class Joined(NamedTuple):
    """A text without the breaks inside its keys: where the breaks were in it, and how much was left out before each."""

    text: str
    breaks: list[int]
    left_out: list[int]

    def has_break(self, start: int, end: int) -> bool:
        return bisect_right(self.breaks, start) < bisect_right(self.breaks, end - 1)

    def original(self, at: int, *, is_end: bool = False) -> int:
        """Where a character of the joined text stands in the original."""
        number = bisect_right(self.breaks, at - 1 if is_end else at)
        return at + (self.left_out[number - 1] if number else 0)


def joined(text: str) -> Joined | None:
    """None where nothing is broken, which is so in nearly every text."""
    if "\n" not in text and '" +' not in text and "' +" not in text:
        return None
    breaks = sorted({*_continued(text), *_broken_keys(text)})
    if not breaks:
        return None
    pieces: list[str] = []
    found = Joined("", [], [])
    kept_from = length = 0
    for start, end in breaks:
        if start < kept_from:
            continue
        pieces.append(text[kept_from:start])
        length += start - kept_from
        kept_from = end
        found.breaks.append(length)
        found.left_out.append(kept_from - length)
    return found._replace(text="".join([*pieces, text[kept_from:]]))


def _continued(text: str) -> Iterator[tuple[int, int]]:
    for character, signs in _SIGNS_OF_CONTINUED.items():
        if character in text and any(sign in text for sign in signs):
            return (found.span() for found in _CONTINUED.finditer(text))
    return iter(())


def _broken_keys(text: str) -> Iterator[tuple[int, int]]:
    classes = text.encode("ascii", "replace").translate(_CLASSES) if "\n" in text else b""
    at = classes.find(_PIECE_AT_END_OF_LINE)
    while at >= 0:
        end = at + len(_PIECE_AT_END_OF_LINE) - 1
        farthest = max(0, end - _PIECE_CHARS)
        first = max(farthest, classes.rfind(b" ", farthest, end) + 1, classes.rfind(b"\n", farthest, end) + 1)
        after = _PIECE_AFTER.match(text, end + 1)
        if after and _are_one(text[first:end], after["piece"]):
            yield end, after.start("piece")
        at = classes.find(_PIECE_AT_END_OF_LINE, end)


def _are_one(before: str, after: str) -> bool:
    """Whether two pieces are of one key, and not the words at the end of one line and in the next."""
    tail = _ASSIGNMENT.split(before)[-1] or before
    return is_random(tail + after, least=_LEAST_BROKEN_CHARS) and _is_mixed(after) and _is_mixed(tail)


def _is_mixed(piece: str) -> bool:
    has_digit = any(map(str.isdigit, piece))
    return (has_digit and not piece.isdigit()) or (piece[1:] != piece[1:].lower() and not piece.isupper())
