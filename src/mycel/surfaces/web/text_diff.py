"""What changed between two texts, line by line and word by word, in time that grows with the texts alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

# Of one comparison. Beyond it, what differs is shown as a whole.
MOST_LINES = 400
MOST_WORDS = 400
# Of all comparisons of a page: steps that they take at most, less than a second of them, and characters shown.
MOST_STEPS = 20_000_000
MOST_SHOWN = 1_000_000
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


_LEFT_OUT = Line("…", ())


@dataclass(slots=True)
class Effort:
    """What is left of it for the comparisons of one page: texts can be made so that each takes a minute."""

    steps: int = MOST_STEPS
    shown: int = MOST_SHOWN

    def matcher(self, old: Sequence[str], new: Sequence[str], *, most: int) -> SequenceMatcher[str] | None:
        """None where comparing could take more than is left."""
        if len(old) > most or len(new) > most:
            return None
        # For each run that both have, all pairs of the same word may be looked at; blanks begin none.
        counts = Counter(new)
        pairs = sum(counts[word] for word in old if not word.isspace())
        steps = (1 + 2 * min(pairs, len(old), len(new))) * (len(old) + pairs)
        if steps > self.steps:
            return None
        self.steps -= steps
        return SequenceMatcher(str.isspace, old, new, autojunk=False)

    def may_show(self, lines: Sequence[Line]) -> bool:
        self.shown -= sum(len(piece.text) for line in lines for piece in line.pieces)
        return self.shown >= 0


def diff_lines(before: str, after: str, effort: Effort | None = None) -> list[Line]:
    """Empty where nothing differs; `…` alone where the page shows too much already."""
    if before == after:
        return []
    effort = effort or Effort()
    found = _compared(before, after, effort)
    return found if effort.may_show(found) else [_LEFT_OUT]


def _compared(before: str, after: str, effort: Effort) -> list[Line]:
    old, new = before.splitlines(), after.splitlines()
    matcher = effort.matcher(old, new, most=MOST_LINES)
    if matcher is None:
        return [*_whole("-", old), *_whole("+", new)]
    return list(_lines(matcher, old, new, effort))


def _lines(matcher: SequenceMatcher[str], old: Sequence[str], new: Sequence[str], effort: Effort) -> Iterator[Line]:
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        if group[0][1] > 0:
            yield _LEFT_OUT
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from _whole(" ", old[a:b])
            else:
                yield from _pairs(old[a:b], new[c:d], effort)


def _pairs(old: Sequence[str], new: Sequence[str], effort: Effort) -> Iterator[Line]:
    """The first of the one with the first of the other; of lines that share little, no words are picked out."""
    compared = [_words(before, after, effort) for before, after in zip(old, new, strict=False)]
    yield from (Line("-", before) for before, _ in compared)
    yield from _whole("-", old[len(compared) :])
    yield from (Line("+", after) for _, after in compared)
    yield from _whole("+", new[len(compared) :])


def _words(before: str, after: str, effort: Effort) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = effort.matcher(old, new, most=MOST_WORDS)
    if matcher is None:
        return (Piece(before, True),), (Piece(after, True),)
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
