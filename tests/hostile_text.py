"""Texts that make a careless pattern slow: how a match begins, a long run of what may repeat there, and a wrong end.

They are made from the patterns themselves, as the parser of `re` reads them. Texts that only repeat one word find
hardly any of the slow ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import thread_time
from typing import Any, NamedTuple

# What is written in long runs, whatever a pattern says.
COMMON_RUNS = (" ", "\n", ".", "-", "a", "0", "\t", '"', "<", "\\")
# No pattern of the package has this sign in it.
WRONG_END = "\u2603"
# So long a repetition is as good as endless.
_LONG = 256
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_CLASSES = (codes.IN, codes.ANY, codes.NOT_LITERAL, codes.CATEGORY)
# From these the members of a class are taken, and what is none.
_SIGNS = " a0.\n-_A/:\"'<>,;\t\\=#*(`[{|&%$@!?~\u00e9\u4e2d\u200b"
_MEMBERS_TRIED = 8

# A pattern that goes back from every place takes some ten times as long for a text of the first size.
_SIZE, _SUSPICIOUS_SECONDS = 8_192, 0.002
_LONG_SECONDS = 0.2
# Doubling the text doubles a time that is linear; a quadratic one grows fourfold.
_MOST_GROWTH = 3.0
# The same over two doublings, which is the quicker look.
_SUSPICIOUS_GROWTH = 8.0
_TRIES = 4


class Hostile(NamedTuple):
    lead: str
    run: str
    end: str

    def text(self, length: int) -> str:
        return self.lead + self.run * max(1, length // len(self.run)) + self.end


class Anatomy(NamedTuple):
    """Each endless repetition of a pattern with what leads to it and what ends it, and the words of the pattern."""

    repeats: frozenset[Hostile]
    words: frozenset[str]


def anatomy_of(pattern: re.Pattern[Any]) -> Anatomy:
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    walk = _Walk()
    walk.sequence(parser.parse(text, pattern.flags), lead="")
    return Anatomy(frozenset(walk.repeats), frozenset(walk.words))


def hostile_texts(anatomies: Iterable[Anatomy], *, every: bool) -> list[Hostile]:
    """Every run after what leads to it; with `every`, each lead and each word before each run."""
    known = list(anatomies)
    repeats = {repeat for anatomy in known for repeat in anatomy.repeats}
    words = {word for anatomy in known for word in anatomy.words}
    leads = {repeat.lead for repeat in repeats} | {""}
    runs = {repeat.run for repeat in repeats}
    ends = {repeat.end for repeat in repeats} | {WRONG_END, ""}
    found = set(repeats)
    found |= {Hostile("", repeat.lead + repeat.run, repeat.end) for repeat in repeats if repeat.lead}
    found |= {Hostile("", run, WRONG_END) for run in (*runs, *COMMON_RUNS)}
    found |= {Hostile(lead, run, WRONG_END) for lead in leads for run in COMMON_RUNS[:2]}
    if every:
        found |= {Hostile("", run, end) for run in runs for end in ends}
        found |= {
            Hostile(lead, run, end)
            for lead in (*leads, *words)
            for run in (*runs, *COMMON_RUNS, *words)
            for end in (WRONG_END, "")
        }
    return sorted(found)


def grows_too_fast(
    read: Callable[[str], object], hostile: Hostile, *, size: int = _SIZE, doublings: int = 1
) -> str | None:
    """How long it takes for texts of which each is twice as long as the one before, if that is not linear."""
    for small in (24, 256, 1_024):
        if _seconds(read, hostile, small) > _LONG_SECONDS and _seconds(read, hostile, small) > _LONG_SECONDS:
            return f"{hostile} takes seconds for {small} characters"
    whole = _seconds(read, hostile, size)
    if whole < _SUSPICIOUS_SECONDS or whole < _SUSPICIOUS_GROWTH * _seconds(read, hostile, size // 4):
        return None
    for doubled in range(doublings):
        growth = [_growth(read, hostile, size << doubled)]
        # Another process may have been in the way.
        while growth[-1] > _MOST_GROWTH and len(growth) < _TRIES:
            growth.append(_growth(read, hostile, size << doubled))
        # A step from one way of reading to another comes once; what is not linear grows so again.
        if min(growth) > _MOST_GROWTH and _growth(read, hostile, size << doubled + 1) > _MOST_GROWTH:
            return f"{hostile}: {size << doubled} characters take {min(growth):.1f} times as long as half of them"
    return None


def _growth(read: Callable[[str], object], hostile: Hostile, size: int) -> float:
    half = min(_seconds(read, hostile, size // 2) for _ in range(3))
    return min(_seconds(read, hostile, size) for _ in range(2)) / max(half, 1e-6)


def _seconds(read: Callable[[str], object], hostile: Hostile, size: int) -> float:
    text = hostile.text(size)
    began = thread_time()
    read(text)
    return thread_time() - began


class _Walk:
    """Through the tree of a pattern; what leads to a place is a text that matches everything before it."""

    def __init__(self) -> None:
        self.repeats: set[Hostile] = set()
        self.words: set[str] = set()

    def sequence(self, nodes: Iterable[Any], *, lead: str) -> str:
        word = ""
        for op, value in nodes:
            if op is codes.LITERAL:
                word += chr(value)
            elif word:
                self.words.add(word)
                word = ""
            lead = self.step(op, value, lead=lead)
        if word:
            self.words.add(word)
        return lead

    def step(self, op: Any, value: Any, *, lead: str) -> str:
        if op in _REPEATS:
            least, most, body = value
            if most >= _LONG:
                self.repeats.update(Hostile(lead, run, end) for run, end in _runs(body) if run)
            self.sequence(body, lead=lead)
            return lead + _sample(body) * min(least, 64)
        if op is codes.BRANCH:
            return min((self.sequence(branch, lead=lead) for branch in value[1]), key=len)
        if op is codes.SUBPATTERN:
            return self.sequence(value[3], lead=lead)
        if op is codes.ATOMIC_GROUP:
            return self.sequence(value, lead=lead)
        if op in (codes.ASSERT, codes.ASSERT_NOT):
            self.sequence(value[1], lead=lead if value[0] > 0 else "")
            return lead
        return lead + _sample([(op, value)])


def _runs(body: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """What may be repeated, and a sign that ends it: for each sort of character of a class, each branch of a group."""
    nodes = list(body)
    op, value = nodes[0] if len(nodes) == 1 else (None, None)
    if op in _CLASSES:
        others = [sign for sign in _SIGNS if not _is_in(op, value, sign)]
        yield from ((member, (others or [WRONG_END])[0]) for member in _members(op, value))
    elif op is codes.BRANCH:
        for branch in value[1]:
            yield from _runs(branch)
    elif op in (codes.SUBPATTERN, codes.ATOMIC_GROUP) or op in _REPEATS:
        yield from _runs(value if op is codes.ATOMIC_GROUP else value[-1])
    else:
        yield _sample(nodes), WRONG_END


def _members(op: Any, value: Any) -> list[str]:
    found = [sign for sign in _SIGNS if _is_in(op, value, sign)]
    if op is codes.IN and not found:
        named = [inner for kind, inner in value if kind in (codes.LITERAL, codes.RANGE)]
        found = [chr(inner[0] if isinstance(inner, tuple) else inner) for inner in named]
    return found[:_MEMBERS_TRIED]


def _is_in(op: Any, value: Any, sign: str) -> bool:
    if op is codes.ANY:
        return sign != "\n"
    if op is codes.NOT_LITERAL:
        return ord(sign) != value
    if op is codes.CATEGORY:
        return _is_of(value, sign)
    is_named = any(
        (kind is codes.LITERAL and inner == ord(sign))
        or (kind is codes.RANGE and inner[0] <= ord(sign) <= inner[1])
        or (kind is codes.CATEGORY and _is_of(inner, sign))
        for kind, inner in value
    )
    return is_named != (value[0][0] is codes.NEGATE)


def _is_of(category: Any, sign: str) -> bool:
    name = str(category).removeprefix("CATEGORY_")
    is_of = {"SPACE": sign.isspace(), "DIGIT": sign.isdecimal(), "WORD": sign.isalnum() or sign == "_"}
    return is_of[name.removeprefix("NOT_")] != name.startswith("NOT_")


def _sample(nodes: Iterable[Any]) -> str:
    """A short text that a sequence matches, or nearly."""
    made = ""
    for op, value in nodes:
        if op is codes.LITERAL:
            made += chr(value)
        elif op in _CLASSES:
            made += "".join(_members(op, value)[:1])
        elif op in _REPEATS:
            made += _sample(value[2]) * min(value[0], 64)
        elif op is codes.BRANCH:
            made += min(map(_sample, value[1]), key=len)
        elif op is codes.SUBPATTERN:
            made += _sample(value[3])
        elif op is codes.ATOMIC_GROUP:
            made += _sample(value)
    return made
