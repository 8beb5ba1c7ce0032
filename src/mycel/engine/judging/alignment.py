"""Putting two clauses beside each other: which words say the same, which the opposite, and which stand alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from mycel.engine.judging.clauses import Clause, Role, Token
from mycel.engine.judging.opposites import denies
from mycel.engine.judging.vocabulary import akin

Pair = tuple[Token, Token]

# What both begin with, so that "limiter" is near "limit" and a misspelt ending does not count.
LEAST_COMMON_PREFIX = 5

CORE = frozenset((Role.SUBJECT, Role.SCOPE, Role.CONDITION, Role.OBJECT, Role.VERB))


class Nearness(Enum):
    """What is known of the meaning of two texts."""

    UNKNOWN = "unknown"
    SOME = "some"
    CLOSE = "close"


@dataclass(frozen=True)
class Comparison:
    """Two clauses and the words they share; `nearness` is that of the whole texts."""

    first: Clause
    second: Clause
    pairs: Sequence[Pair]
    opposed: Sequence[Pair]
    only_first: Sequence[Token]
    only_second: Sequence[Token]
    nearness: Nearness

    @cached_property
    def common(self) -> int:
        return sum(not one.is_light for one, _ in (*self.pairs, *self.opposed))

    @cached_property
    def first_left(self) -> Sequence[Token]:
        return _core(self.only_first, other=self.second)

    @cached_property
    def second_left(self) -> Sequence[Token]:
        return _core(self.only_second, other=self.first)

    def frame(self, *slots: Token) -> float:
        """How much of both is the same when the given words are put aside: 0 to 1."""
        aside = {term for token in slots for term in (token.akin, *token.near)}
        left = sum(token.akin not in aside for token in (*self.first_left, *self.second_left) if token.value is None)
        return self.common / (self.common + 0.5 * left) if self.topic else 0.0

    @cached_property
    def topic(self) -> int:
        """How many things both speak of; that both do the same, or in the same environment, says little."""
        return sum(
            not (one.is_light or _is_place(one) or _is_place(other) or (one.role is other.role is Role.VERB))
            for one, other in (*self.pairs, *self.opposed)
        )


def compare(first: Clause, second: Clause, *, nearness: Nearness = Nearness.UNKNOWN) -> Comparison:
    waiting: dict[str, list[Token]] = {}
    for token in second.tokens:
        waiting.setdefault(token.akin, []).append(token)
    pairs: list[Pair] = []
    only_first: list[Token] = []
    for token in first.tokens:
        partners = waiting.get(token.akin)
        if partners:
            pairs.append((token, partners.pop(_same_role(partners, token.role))))
        else:
            only_first.append(token)
    only_second = [token for left in waiting.values() for token in left]
    opposed: list[Pair] = []
    if only_first and only_second:
        _take(only_first, only_second, into=opposed, when=_are_opposed)
        _take(only_first, only_second, into=pairs, when=_are_alike)
    return Comparison(first, second, pairs, opposed, only_first, only_second, nearness)


def _is_place(token: Token) -> bool:
    return token.is_environment and token.marker != ""


def _same_role(partners: Sequence[Token], role: Role) -> int:
    return next((place for place, partner in enumerate(partners) if partner.role is role), 0)


def _take(first: list[Token], second: list[Token], *, into: list[Pair], when: Callable[[Token, Token], bool]) -> None:
    for one in list(first):
        other = next((token for token in second if when(one, token)), None)
        if other is not None:
            into.append((one, other))
            first.remove(one)
            second.remove(other)


def _are_opposed(one: Token, other: Token) -> bool:
    return (
        (one.denies != "" and akin(one.denies) == other.akin)
        or (other.denies != "" and akin(other.denies) == one.akin)
        or (one.value is None and other.value is None and denies(one.term, other.term))
    )


def _are_alike(one: Token, other: Token) -> bool:
    if one.value is not None or other.value is not None or one.is_name is not other.is_name:
        return False
    if one.denies and one.denies == other.denies:
        return True
    mine, theirs = one.term, other.term
    shorter = min(len(mine), len(theirs))
    if shorter < LEAST_COMMON_PREFIX or abs(len(mine) - len(theirs)) > 4:
        return False
    return mine[:shorter] == theirs[:shorter]


def _core(tokens: Sequence[Token], *, other: Clause) -> Sequence[Token]:
    """Without the verb where the other clause has none of its own: "lasts two weeks" is "is two weeks"."""
    skips_verb = other.is_plain
    return tuple(
        token
        for token in tokens
        if token.role in CORE and not token.is_light and not (skips_verb and token.role is Role.VERB)
    )
