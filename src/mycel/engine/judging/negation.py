"""Whether one clause denies what the other says: by a negation, by an opposite, or by ruling it out."""

from __future__ import annotations

from functools import cache
from itertools import islice

from mycel.engine.judging.alignment import Comparison, Nearness
from mycel.engine.judging.apart import name_other_subjects
from mycel.engine.judging.clauses import Role, Token
from mycel.engine.judging.findings import MOST, NOTHING, Finding, rated
from mycel.engine.judging.opposites import exclude_each_other
from mycel.engine.judging.other_values import is_many_valued, values_differ
from mycel.engine.judging.vocabulary import terms

LEAST_IN_OTHER_WORDS = 0.72

_WITHOUT = frozenset(("without", "except", "except-for", "apart-from"))
_SAYING = frozenset((Role.OBJECT, Role.VERB))


def denied(pair: Comparison) -> Finding:
    """Said by one and denied by the other, by "not" or by an opposite; the two together say the same again."""
    turns = [(one, other) for one, other in pair.opposed if not (one.role is other.role is Role.SUBJECT)]
    if not (pair.first.is_scene or pair.second.is_scene):
        turns += _left_out(pair)
    alone = sum(token.denies in _permissions() for token in (*pair.only_first, *pair.only_second))
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
    found = ((one, other) for one, other in pair.pairs if (one.marker in _WITHOUT) is not (other.marker in _WITHOUT))
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


@cache
def _permissions() -> frozenset[str]:
    return frozenset(terms(raw)[0] for raw in ("allow", "enable", "possible"))


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
