"""How likely a sentence is worth keeping by its signs alone, and as what."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp

from mycel.domain.memory import MemoryType
from mycel.engine.extraction.weights import BIAS, SCALE, TYPES, WEIGHTS


def weigh(signs: Iterable[str]) -> tuple[MemoryType, float]:
    """The type that the signs speak for most, and the chance that this is right."""
    rows = [WEIGHTS[sign] for sign in signs if sign in WEIGHTS]
    scores = [sum(column) for column in zip(BIAS, *rows, strict=True)]
    best = max(scores)
    return TYPES[scores.index(best)], 1 / (1 + exp(-best / SCALE))
