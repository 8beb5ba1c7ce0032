"""Whether two statements cannot both be true."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycel.engine.judging.alignment import Comparison, Nearness, compare
from mycel.engine.judging.apart import are_apart
from mycel.engine.judging.clauses import Clause
from mycel.engine.judging.findings import NOTHING, Finding
from mycel.engine.judging.negation import denied, opposite, ruled_out
from mycel.engine.judging.other_values import other_agent, other_name, other_value
from mycel.engine.judging.reversals import swapped

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
