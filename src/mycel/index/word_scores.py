"""BM25 of many memories at once, as `retrieval/bm25.py` has it for one text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mycel.retrieval.bm25 import LENGTH_WEIGHT, SATURATION
from mycel.retrieval.terms import PER_ONE

Scores = NDArray[np.float32]

# How often a term stands in a text, by the count that is kept.
_FOUND = np.arange(256, dtype=np.float32) / np.float32(PER_ONE)


def term_scores(rarity: float, counts: NDArray[np.uint8], lengths: Scores, usual_length: float) -> Scores:
    found = _FOUND[counts]
    weight = np.float32(rarity * (SATURATION + 1))
    return (weight * found / (found + _damping(lengths, usual_length))).astype(np.float32, copy=False)


def _damping(lengths: Scores, usual_length: float) -> Scores:
    return np.float32(SATURATION) * (np.float32(1 - LENGTH_WEIGHT) + np.float32(LENGTH_WEIGHT / usual_length) * lengths)


def most_of(rarities: Scores) -> float:
    """The highest score that terms could add."""
    return float((SATURATION + 1) * rarities.sum())
