"""What was found against two statements being true together, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mycel.engine.judging.alignment import Comparison, Nearness
from mycel.engine.judging.clauses import Token


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
