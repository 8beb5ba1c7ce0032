"""Whether two clauses say the same words the other way round: who does it to whom, or what comes first."""

from __future__ import annotations

from mycel.engine.judging.alignment import Comparison
from mycel.engine.judging.clauses import Role, Token
from mycel.engine.judging.findings import NOTHING, Finding, rated


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
    if _are_turned({(_direction(one), _direction(other)) for one, other in words}):
        return True
    is_comparing = any(token.marker == "than" for token in first.tokens)
    if first.is_passive is not second.is_passive or not (first.verb or is_comparing):
        return False
    return _are_turned({(_side(one), _side(other)) for one, other in words})


def _are_turned(places: set[tuple[str, str]]) -> bool:
    return any((after, before) in places for before, after in places if before != after and before and after)


def _direction(token: Token) -> str:
    return {"from": "from", "to": "to", "into": "to"}.get(token.marker, "")


def _side(token: Token) -> str:
    if token.role is Role.SUBJECT:
        return "before the verb"
    return "after the verb" if token.role in {Role.OBJECT, Role.SCOPE} else ""
