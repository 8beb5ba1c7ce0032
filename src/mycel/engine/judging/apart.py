"""Whether two clauses speak of other things, times, places or conditions, so that both can hold."""

from __future__ import annotations

from collections.abc import Sequence

from mycel.engine.judging.alignment import Comparison
from mycel.engine.judging.clauses import Role, Token
from mycel.engine.judging.values import DATE, WEEKDAY

_WHERE = frozenset((Role.SUBJECT, Role.SCOPE, Role.CONDITION))
_OPPOSITE_PLACES = frozenset(
    (
        *(frozenset((place, "outside")) for place in ("in", "inside", "within")),
        *(frozenset((place, "except")) for place in ("in", "on", "for", "during")),
        *(frozenset((time, "during")) for time in ("before", "after")),
        frozenset(("with", "without")),
        frozenset(("until", "since")),
    )
)


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
    is_elsewhere = frozenset((one.marker, other.marker)) in _OPPOSITE_PLACES
    return one.bound != other.bound or is_elsewhere


def _says_more(pair: Comparison) -> bool:
    return bool(pair.first_left and pair.second_left)


def _times_differ(one: Token, other: Token) -> bool:
    """Before and after the same thing; where nothing else differs, it is the order itself that is said."""
    return one.role is other.role is Role.SCOPE and {one.marker, other.marker} == {"before", "after"}


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
