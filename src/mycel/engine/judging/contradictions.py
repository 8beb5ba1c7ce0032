"""Whether two statements cannot both be true, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice

from mycel.engine.judging.clauses import PLAIN, Clause, Role, Token
from mycel.engine.judging.comparison import (
    MOST,
    NOTHING,
    Comparison,
    Finding,
    Nearness,
    are_apart,
    compare,
    name_other_subjects,
    rated,
)
from mycel.engine.language import (
    direction,
    exclude_each_other,
    has_sole_agent,
    is_comparing,
    is_permission,
    leaves_out,
    may_have_many,
    place_class,
)

LEAST_IN_OTHER_WORDS = 0.72

_SAYING = frozenset((Role.OBJECT, Role.VERB))


def denied(pair: Comparison) -> Finding:
    """Said by one and denied by the other, by "not" or by an opposite; the two together say the same again."""
    turns = [(one, other) for one, other in pair.opposed if not (one.role is other.role is Role.SUBJECT)]
    if not (pair.first.is_scene or pair.second.is_scene):
        turns += _left_out(pair)
    alone = sum(is_permission(token.denies) for token in (*pair.only_first, *pair.only_second))
    alone += _unless_alone(pair)
    is_negated = pair.first.is_negated is not pair.second.is_negated
    if (is_negated + len(turns) + alone) % 2 == 0 or values_differ(pair):
        return NOTHING
    if is_negated and not turns and not alone:
        # An opposite without its partner may have been negated to say the same.
        is_open = any(token.denies and token.role in _SAYING for token in (*pair.first_left, *pair.second_left))
        return NOTHING if is_open else _plainly_denied(pair)
    if name_other_subjects(pair):
        return NOTHING
    reason = f"opposites: {turns[0][0].text} / {turns[0][1].text}" if turns else "one forbids what the other says"
    return rated(pair, [token for turn in turns for token in turn], least=0.45, reason=reason)


def _left_out(pair: Comparison) -> list[tuple[Token, Token]]:
    """What one has and the other does without: with a key, without a key."""
    found = ((one, other) for one, other in pair.pairs if leaves_out(one.marker) is not leaves_out(other.marker))
    return list(islice(found, 1))


def _unless_alone(pair: Comparison) -> bool:
    """Unless you are an admin you may not: admins may."""
    conditions = {pair.first.condition, pair.second.condition}
    return conditions == {"", "unless"} and not any(
        token.role is Role.CONDITION for token in (*pair.first_left, *pair.second_left)
    )


def _plainly_denied(pair: Comparison) -> Finding:
    """Whoever denies must not speak of more than the other says: no cat is no black cat, but not the reverse."""
    denying, saying = (
        (pair.first_left, pair.second_left) if pair.first.is_negated else (pair.second_left, pair.first_left)
    )
    reason = "the same words but negated"
    if any(one.bound != other.bound for one, other in pair.pairs):
        # "Not more than 5" is "at most 5".
        return NOTHING
    unsaid = [token for token in denying if token.value is None]
    is_scene = pair.first.is_scene or pair.second.is_scene
    if unsaid and any(token.value is None for token in saying):
        is_likely = pair.nearness is Nearness.CLOSE and not is_scene and not name_other_subjects(pair)
        return rated(pair, (), least=LEAST_IN_OTHER_WORDS, reason=reason) if is_likely else NOTHING
    if any(token.role is Role.VERB for token in unsaid):
        return NOTHING
    cover = pair.common / (pair.common + len(unsaid))
    return Finding(MOST * cover if cover > (0.7 if is_scene else 0.6) else 0.3 * cover, reason)


def opposite(pair: Comparison) -> Finding:
    if pair.first.is_negated is not pair.second.is_negated or name_other_subjects(pair) or values_differ(pair):
        return NOTHING
    found = _excluded(pair)
    if found is None or (is_many_valued(pair) and found[0].role is Role.OBJECT):
        return NOTHING
    return rated(pair, found, least=0.45, reason=f"opposites: {found[0].text} / {found[1].text}")


def _excluded(pair: Comparison) -> tuple[Token, Token] | None:
    for one in pair.only_first:
        for other in pair.only_second:
            if one.role in _SAYING and other.role in _SAYING and exclude_each_other(one.term, other.term):
                return one, other
    return None


def ruled_out(pair: Comparison) -> Finding:
    for one, other in pair.pairs:
        if (one.role is Role.DENIED) is not (other.role is Role.DENIED):
            return rated(pair, (), least=0.6, reason=f"one rules out: {one.text}")
    return NOTHING


MOST_WORDS_OF_AN_ANSWER = 3
# Fewer may be a title with a number of its own, such as that of a release.
LEAST_WORDS_WITHOUT_VERB = 3
LEAST_WHEN_CLOSE = 0.6
# No frame is that much alike.
_NEVER = 2.0
_SHAPE = re.compile(
    r"(?P<channel>#.+)|(?P<path>~?/.*)|(?P<file>[\w-]+\.[a-z]{1,5})|(?P<numbered>[a-z]+-[0-9]+)|(?P<host>[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<snake>[a-z0-9]+(?:_[a-z0-9]*)+)|(?P<kebab>[a-z0-9]+(?:-[a-z0-9]+)+)"
)


def values_differ(pair: Comparison) -> bool:
    return any(_conflict(pair, one, other) for one in pair.only_first for other in pair.only_second)


def other_value(pair: Comparison) -> Finding:
    if (name_other_subjects(pair) and not _are_alike_throughout(pair)) or name_other_objects(pair):
        return NOTHING
    if any(one.role is other.role is Role.VERB for one, other in pair.opposed):
        # The gate opens at six and closes at ten.
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


def name_other_objects(pair: Comparison) -> bool:
    """Whether the same is done to other things: grips are ordered for 12 euros, mudguards for 30."""
    ones, others = (_direct_objects(left) for left in (pair.first_left, pair.second_left))
    return bool(ones and others)


def _direct_objects(left: Sequence[Token]) -> list[Token]:
    return [token for token in left if token.role is Role.OBJECT and token.value is None and not token.marker]


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
    if one.value.dimension != PLAIN:
        return True
    if one.near and other.near:
        return not set(one.near).isdisjoint(other.near)
    # So many requests are no port: where only one names what it counts, the other has to speak of that as well.
    counted = {*one.near, *other.near}
    told = {token.term for token in (pair.second if one.near else pair.first).tokens}
    return not counted or pair.first.act == pair.second.act or not counted.isdisjoint(told)


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
    if not one or not other or name_other_subjects(pair, *one, *other) or _lists_things(pair):
        return NOTHING
    least = _least_frame(pair, one, other)
    return rated(
        pair,
        (*_named_first(one), *_named_first(other)),
        least=least,
        reason=f"other value: {one[0].text} / {other[0].text}",
    )


def _lists_things(pair: Comparison) -> bool:
    """Whether both another thing and something else of it is said: grips from one maker, mudguards from another."""
    if not name_other_objects(pair):
        return False
    return all(
        any(token.marker or token.value is not None for token in _said_besides(left))
        for left in (pair.first_left, pair.second_left)
    )


def _said_besides(left: Sequence[Token]) -> list[Token]:
    direct = {id(token) for token in _direct_objects(left)}
    return [token for token in left if token.role in {Role.OBJECT, Role.SCOPE} and id(token) not in direct]


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
    places = {place_class(token.marker) for token in one} & {place_class(token.marker) for token in other}
    if is_same_act or (pair.first.is_plain and pair.second.is_plain):
        return 0.7 if places or is_inverted or (named and pair.common > 1) else _NEVER
    is_likely = (named == 2 and pair.common > 2) or (named and is_plain and places - {""} and pair.common > 1)
    return 0.85 if is_likely else _NEVER


def _shape(token: Token) -> str:
    """How a name is written, where that says what sort of name it is: a file, a channel, a member."""
    if not token.is_name:
        return ""
    found = _SHAPE.fullmatch(token.term)
    return found.lastgroup or "" if found else ""


def is_many_valued(pair: Comparison) -> bool:
    return pair.first.verb == pair.second.verb and may_have_many(pair.first.verb)


def _objects(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.role is Role.OBJECT and token.value is None]


def other_agent(pair: Comparison) -> Finding:
    is_sole = has_sole_agent(pair.first.verb) or pair.first.has_agent or pair.second.has_agent
    is_same_act = pair.first.act == pair.second.act or pair.first.is_plain or pair.second.is_plain
    if not is_same_act or not is_sole or not (pair.first.verb and pair.second.verb):
        return NOTHING
    one = [token for token in pair.first_left if token.role is Role.SUBJECT]
    other = [token for token in pair.second_left if token.role is Role.SUBJECT]
    if not one or not other or (_objects(pair.first_left) and _objects(pair.second_left)):
        return NOTHING
    return rated(pair, (*one, *other), least=0.6, reason=f"other owner: {one[0].text} / {other[0].text}")


def swapped(pair: Comparison) -> Finding:
    first, second = pair.first, pair.second
    if first.is_negated is not second.is_negated:
        return NOTHING
    turned = _turned_sequence(pair) if first.sequence and second.sequence else _turned_roles(pair)
    return rated(pair, (), least=0.6, reason="the same words, but the other way round") if turned else NOTHING


def _turned_sequence(pair: Comparison) -> bool:
    one, other = pair.first.sequence, pair.second.sequence
    if one is None or other is None:
        return False
    across = len(one.earlier & other.later) + len(one.later & other.earlier)
    return across > len(one.earlier & other.earlier) + len(one.later & other.later)


def _turned_roles(pair: Comparison) -> bool:
    first, second = pair.first, pair.second
    if first.act != second.act:
        return False
    words = [(one, other) for one, other in pair.pairs if not one.is_light and one.value is None]
    if _are_turned({(direction(one.marker), direction(other.marker)) for one, other in words}):
        return True
    compares = any(is_comparing(token.marker) for token in first.tokens)
    if first.is_passive is not second.is_passive or not (first.verb or compares):
        return False
    return _are_turned({(_side(one), _side(other)) for one, other in words})


def _are_turned(places: set[tuple[str, str]]) -> bool:
    return any((after, before) in places for before, after in places if before != after and before and after)


def _side(token: Token) -> str:
    if token.role is Role.SUBJECT:
        return "before the verb"
    return "after the verb" if token.role in {Role.OBJECT, Role.SCOPE} else ""


Judge = Callable[[Comparison], Finding]

_OF_SCENES: tuple[Judge, ...] = (denied,)
_OF_ONE_SCENE: tuple[Judge, ...] = (denied, opposite, swapped)
_OF_FACTS: tuple[Judge, ...] = (denied, opposite, other_value, other_name, other_agent, swapped, ruled_out)


def contradiction(first: Clause, second: Clause, *, nearness: Nearness = Nearness.UNKNOWN) -> Finding:
    """The strongest reason why not both can hold."""
    pair = compare(first, second, nearness=nearness)
    if not pair.common or are_apart(pair):
        return NOTHING
    return max((judge(pair) for judge in _judges(pair)), key=lambda finding: finding.score)


def _judges(pair: Comparison) -> Sequence[Judge]:
    """Of scenes, "a man is sitting", there may be many at once: only a denial says that there is none."""
    if not (pair.first.is_scene or pair.second.is_scene):
        return _OF_FACTS
    return _OF_ONE_SCENE if pair.first.is_definite and pair.second.is_definite else _OF_SCENES
