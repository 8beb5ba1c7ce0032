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
# Below this, marks on single words would hide that the line is another.
LEAST_ALIKE = 0.6
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
            else:
                yield from _pairs(old[a:b], new[c:d])


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """The first of the one with the first of the other; of lines that share little, no words are picked out."""
    compared = [_words(before, after) for before, after in zip(old, new, strict=False)]
    yield from (Line("-", before) for before, _ in compared)
    yield from _whole("-", old[len(compared) :])
    yield from (Line("+", after) for _, after in compared)
    yield from _whole("+", new[len(compared) :])


def _words(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) > MOST_WORDS or len(new) > MOST_WORDS:
        return (Piece(before, True),), (Piece(after, True),)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < LEAST_ALIKE:
        return (Piece(before, False),), (Piece(after, False),)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        changed = kind != "equal"
        left += [Piece("".join(old[a:b]), changed)] if b > a else []
        right += [Piece("".join(new[c:d]), changed)] if d > c else []
    return tuple(left), tuple(right)


def _whole(sign: str, lines: Sequence[str]) -> Iterator[Line]:
    return (Line(sign, (Piece(line, False),)) for line in lines)
