"""What changed between two texts, line by line and word by word, in time that grows with the texts alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

# Comparing takes the product of both lengths at worst: beyond this, what differs is shown as a whole.
MOST_LINES = 400
MOST_WORDS = 400
CONTEXT_LINES = 3
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Piece(NamedTuple):
    text: str
    changed: bool


class Line(NamedTuple):
    """`sign` is `+`, `-`, a blank where both agree, or `…` where some that agree are left out."""

    sign: str
    pieces: tuple[Piece, ...]


def diff_lines(before: str, after: str) -> list[Line]:
    """Empty where nothing differs."""
    if before == after:
        return []
    old, new = before.splitlines(), after.splitlines()
    if len(old) > MOST_LINES or len(new) > MOST_LINES:
        return [*_whole("-", old), *_whole("+", new)]
    return list(_lines(old, new))


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES):
        if group[0][1] > 0:
            yield Line("…", ())
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from _whole(" ", old[a:b])
            elif kind == "replace" and b - a == d - c:
                yield from _pairs(old[a:b], new[c:d])
            else:
                yield from _whole("-", old[a:b])
                yield from _whole("+", new[c:d])


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    compared = [_words(before, after) for before, after in zip(old, new, strict=True)]
    yield from (Line("-", before) for before, _ in compared)
    yield from (Line("+", after) for _, after in compared)


def _words(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) > MOST_WORDS or len(new) > MOST_WORDS:
        return (Piece(before, True),), (Piece(after, True),)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        changed = kind != "equal"
        left += [Piece("".join(old[a:b]), changed)] if b > a else []
        right += [Piece("".join(new[c:d]), changed)] if d > c else []
    return tuple(left), tuple(right)


def _whole(sign: str, lines: Sequence[str]) -> Iterator[Line]:
    return (Line(sign, (Piece(line, False),)) for line in lines)
