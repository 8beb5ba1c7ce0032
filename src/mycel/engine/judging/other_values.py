"""Whether two clauses give different answers to the same question: another value, name or owner."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from mycel.engine.judging.alignment import Comparison, Nearness
from mycel.engine.judging.apart import name_other_subjects
from mycel.engine.judging.clauses import Clause, Role, Token
from mycel.engine.judging.findings import NOTHING, Finding, rated
from mycel.engine.judging.values import PLAIN
from mycel.engine.judging.vocabulary import terms

_MANY_VALUED = "support include contain have provide offer accept know list cover allow depend call read show translate"
_SOLE_AGENT = "own maintain lead manage responsible owned generate handle"
MOST_WORDS_OF_AN_ANSWER = 3
# Fewer may be a title with a number of its own, such as that of a release.
LEAST_WORDS_WITHOUT_VERB = 3
LEAST_WHEN_CLOSE = 0.6
# No frame is that much alike.
_NEVER = 2.0
_MARKER_CLASSES = {
    word: words.split()[0]
    for words in ("with using via through by over", "in on at under inside into to onto", "from out-of")
    for word in words.split()
}
_SHAPE = re.compile(
    r"(?P<channel>#.+)|(?P<path>~?/.*)|(?P<file>[\w-]+\.[a-z]{1,5})|(?P<numbered>[a-z]+-[0-9]+)|(?P<host>[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<snake>[a-z0-9]+(?:_[a-z0-9]*)+)|(?P<kebab>[a-z0-9]+(?:-[a-z0-9]+)+)"
)


def values_differ(pair: Comparison) -> bool:
    return any(_conflict(pair, one, other) for one in pair.only_first for other in pair.only_second)


def other_value(pair: Comparison) -> Finding:
    if name_other_subjects(pair) and not _are_alike_throughout(pair):
        return NOTHING
    repeated = [(one, other) for one, other in pair.pairs if one.value is not None]
    ones = [*pair.only_first, *(one for one, other in repeated if other.role is Role.EXTRA)]
    others = [*pair.only_second, *(other for one, other in repeated if one.role is Role.EXTRA)]
    for one in ones:
        for other in others:
            if _conflict(pair, one, other) and not _is_denied(pair, one, other):
                reason = f"other value: {one.text} / {other.text}"
                return rated(pair, (one, other), least=_least_for_value(pair), reason=reason)
    return NOTHING


def _least_for_value(pair: Comparison) -> float:
    """On Monday they meet, on Friday they release: who does another thing may do it at another time."""
    acts_differ = all(any(token.role is Role.VERB for token in left) for left in (pair.first_left, pair.second_left))
    return 0.7 if acts_differ and pair.nearness is not Nearness.CLOSE else 0.45


def _is_denied(pair: Comparison, one: Token, other: Token) -> bool:
    """Not on Monday, but on Friday; "not below 80" though is a value like any other."""
    return (pair.first.is_negated or pair.second.is_negated) and not (one.bound or other.bound)


def _conflict(pair: Comparison, one: Token, other: Token) -> bool:
    if one.value is None or other.value is None or one.value.dimension != other.value.dimension:
        return False
    if one.value.agrees_with(other.value):
        return False
    are_subjects = one.role is other.role is Role.SUBJECT and not (one.is_count and other.is_count)
    if are_subjects and not _are_alike_throughout(pair):
        return False
    if (one.is_count and _is_version(other)) or (other.is_count and _is_version(one)):
        return False
    if one.value.dimension == PLAIN and one.near and other.near:
        return not set(one.near).isdisjoint(other.near)
    return True


def _are_alike_throughout(pair: Comparison) -> bool:
    """Sentences without a verb that is known, as in other languages, where all the rest is the same."""
    roles = {token.role for token in (*pair.first.tokens, *pair.second.tokens)}
    only_values = all(token.value is not None for token in (*pair.first_left, *pair.second_left))
    return roles == {Role.SUBJECT} and only_values and pair.common >= LEAST_WORDS_WITHOUT_VERB


def _is_version(token: Token) -> bool:
    return token.value is not None and not token.is_count and ("." in token.value.amount or token.text[0] in "vV")


def other_name(pair: Comparison) -> Finding:
    """Another thing in the place where there can be only one."""
    if pair.first.is_negated or pair.second.is_negated or is_many_valued(pair):
        return NOTHING
    one = _said(pair.first_left, beside=pair.second_left)
    other = _said(pair.second_left, beside=pair.first_left)
    if other and not one:
        one = _said_first(pair.first, pair.first_left)
    elif one and not other:
        other = _said_first(pair.second, pair.second_left)
    if not one or not other or name_other_subjects(pair, *one, *other):
        return NOTHING
    least = _least_frame(pair, one, other)
    return rated(
        pair,
        (*_named_first(one), *_named_first(other)),
        least=least,
        reason=f"other value: {one[0].text} / {other[0].text}",
    )


def _named_first(said: Sequence[Token]) -> Sequence[Token]:
    """What takes more than a few words is not one answer."""
    return sorted(said, key=lambda token: not token.is_name)[:MOST_WORDS_OF_AN_ANSWER]


def _said(left: Sequence[Token], *, beside: Sequence[Token]) -> Sequence[Token]:
    """What stands alone in the place of the object, or in a place that the other clause fills too."""
    found = [token for token in left if token.role is Role.OBJECT and token.value is None]
    if found:
        return found
    markers = {token.marker for token in beside if token.role is Role.OBJECT} - {""}
    return [token for token in left if token.role is Role.SCOPE and (_shape(token) or token.marker in markers)]


def _said_first(clause: Clause, left: Sequence[Token]) -> Sequence[Token]:
    """In "X is the name of the lock" it is X that is said."""
    return [] if clause.verb else [token for token in left if token.role is Role.SUBJECT and token.value is None]


def _least_frame(pair: Comparison, one: Sequence[Token], other: Sequence[Token]) -> float:
    """How much else must agree before two different words are two answers to the same question.

    The less the words themselves look like answers, the more: 0.35 for two names of the same make, 0.5 for two names,
    0.7 for two words in the same place. Found on several hundred pairs written for the purpose.
    """
    is_same_act = pair.first.act == pair.second.act
    is_plain = pair.first.is_plain or pair.second.is_plain
    named = any(token.is_name for token in one) + any(token.is_name for token in other)
    if is_same_act or is_plain:
        if {_shape(token) for token in one} & {_shape(token) for token in other} - {""}:
            return 0.35
        if named == 2:
            return 0.5
    if pair.nearness is Nearness.CLOSE:
        return LEAST_WHEN_CLOSE
    is_inverted = any(token.role is Role.SUBJECT for token in (*one, *other))
    places = {_marker_class(token) for token in one} & {_marker_class(token) for token in other}
    if is_same_act or (pair.first.is_plain and pair.second.is_plain):
        return 0.7 if places or is_inverted or (named and pair.common > 1) else _NEVER
    is_likely = (named == 2 and pair.common > 2) or (named and is_plain and places - {""} and pair.common > 1)
    return 0.85 if is_likely else _NEVER


def _marker_class(token: Token) -> str:
    return _MARKER_CLASSES.get(token.marker, token.marker)


def _shape(token: Token) -> str:
    """How a name is written, where that says what sort of name it is: a file, a channel, a member."""
    if not token.is_name:
        return ""
    found = _SHAPE.fullmatch(token.term)
    return found.lastgroup or "" if found else ""


def is_many_valued(pair: Comparison) -> bool:
    many = _verbs(_MANY_VALUED)
    return pair.first.verb in many and pair.second.verb in many and pair.first.verb == pair.second.verb


def _objects(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.role is Role.OBJECT and token.value is None]


@cache
def _verbs(words: str) -> frozenset[str]:
    return frozenset(terms(raw)[0] for raw in words.split())


def other_agent(pair: Comparison) -> Finding:
    is_sole = pair.first.verb in _verbs(_SOLE_AGENT) or pair.first.has_agent or pair.second.has_agent
    is_same_act = pair.first.act == pair.second.act or pair.first.is_plain or pair.second.is_plain
    if not is_same_act or not is_sole or not (pair.first.verb and pair.second.verb):
        return NOTHING
    one = [token for token in pair.first_left if token.role is Role.SUBJECT]
    other = [token for token in pair.second_left if token.role is Role.SUBJECT]
    if not one or not other or (_objects(pair.first_left) and _objects(pair.second_left)):
        return NOTHING
    return rated(pair, (*one, *other), least=0.6, reason=f"other owner: {one[0].text} / {other[0].text}")
