"""Two clauses beside each other: which words say the same or the opposite, and whether both can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from mycel.engine.judging.clauses import DATE, WEEKDAY, Clause, Role, Token
from mycel.engine.language import akin, are_before_and_after, are_opposite_places, denies

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


_WHERE = frozenset((Role.SUBJECT, Role.SCOPE, Role.CONDITION))


def are_apart(pair: Comparison) -> bool:
    """Whether they speak of other times, places or conditions."""
    first, second = pair.first, pair.second
    return (
        first.tense is not second.tense
        or (first.condition != second.condition and first.condition != "" and second.condition != "")
        or _both_left(pair, Role.CONDITION)
        or _both_left(pair, Role.SCOPE)
        or any(token.is_environment for token in (*pair.only_first, *pair.only_second))
        or any(one.role in _WHERE and other.role in _WHERE and _bounds_differ(one, other) for one, other in pair.pairs)
        or (_says_more(pair) and any(_times_differ(one, other) for one, other in pair.pairs))
        or any(_is_outer(one) and _is_outer(other) for one, other in pair.opposed)
    )


def _is_outer(token: Token) -> bool:
    return token.role in {Role.SCOPE, Role.CONDITION}


def _both_left(pair: Comparison, role: Role) -> bool:
    ones = [token for token in pair.only_first if token.role is role and _limits(token)]
    others = [token for token in pair.only_second if token.role is role and _limits(token)]
    return bool(ones and others) and not all(token.is_light for token in (*ones, *others))


def _limits(token: Token) -> bool:
    is_outer = token.role is Role.CONDITION or token.bound != ""
    return token.value is None or is_outer or token.value.dimension in {DATE, WEEKDAY}


def _bounds_differ(one: Token, other: Token) -> bool:
    return one.bound != other.bound or are_opposite_places(one.marker, other.marker)


def _says_more(pair: Comparison) -> bool:
    return bool(pair.first_left and pair.second_left)


def _times_differ(one: Token, other: Token) -> bool:
    """Before and after the same thing; where nothing else differs, it is the order itself that is said."""
    return one.role is other.role is Role.SCOPE and are_before_and_after(one.marker, other.marker)


def name_other_subjects(pair: Comparison, *said: Token) -> bool:
    """Whether each names something of its own where the other names something else."""
    ones = [token for token in pair.first_left if _is_subject(token) and token not in said]
    others = [token for token in pair.second_left if _is_subject(token) and token not in said]
    if not ones or not others:
        return False
    shares_subject = any(one.role is other.role is Role.SUBJECT and not one.is_light for one, other in pair.pairs)
    return not shares_subject or _are_parallel(pair, ones, others)


def _is_subject(token: Token) -> bool:
    return token.role is Role.SUBJECT and not token.is_count


def _are_parallel(pair: Comparison, ones: Sequence[Token], others: Sequence[Token]) -> bool:
    """Before or after the same word: the read timeout, the connect timeout."""
    partners = {id(one): other for one, other in pair.pairs}
    first, second = pair.first.tokens, pair.second.tokens
    beside = {id(other): _neighbours(second, other) for other in others}
    for one in ones:
        for side, neighbour in enumerate(_neighbours(first, one)):
            partner = partners.get(id(neighbour))
            if partner is not None and any(found[side] is partner for found in beside.values()):
                return True
    return False


def _neighbours(tokens: Sequence[Token], token: Token) -> tuple[Token | None, Token | None]:
    at = next(place for place, found in enumerate(tokens) if found is token)
    return (tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None)


class Finding(NamedTuple):
    score: float
    reason: str


NOTHING = Finding(0.0, "")
MOST = 0.95
# One common word may be a coincidence, unless the meaning is known to be near.
LEAST_FOR_ONE_WORD = 0.8


def rated(pair: Comparison, slots: Sequence[Token], *, least: float, reason: str) -> Finding:
    """0.5 where, the given words put aside, just enough of both is the same."""
    if pair.topic == 1 and pair.nearness is Nearness.UNKNOWN:
        least = max(least, LEAST_FOR_ONE_WORD)
    return Finding(min(MOST, 0.5 * pair.frame(*slots) / least), reason)
