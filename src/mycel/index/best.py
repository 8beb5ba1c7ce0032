"""The best of many scores without sorting all of them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

ScoreT = TypeVar("ScoreT", np.float32, np.float64)

BLOCK = 16


def bar_of(scores: NDArray[ScoreT], *, limit: int) -> ScoreT:
    """A bar that `limit` of the scores reach, if there are so many, and few others do.

    Where there are many, the best of each block of them: so many blocks hold at least one each that reaches it.
    """
    blocks = len(scores) // BLOCK
    if blocks > limit:
        scores = scores[: blocks * BLOCK].reshape(blocks, BLOCK).max(axis=1)
    return scores.min() if len(scores) <= limit else np.partition(scores, len(scores) - limit)[len(scores) - limit]
