"""What the logistic fits of relevance look at, taken from the product's own functions.

They only add and multiply their constants, so with unit vectors in place of these, what arrives at the sigmoid is the
vector of features itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.finding_quality import TOP
from training.fit.gather import Asked
from training.fit.measured import Ordered

Vector = NDArray[np.float64]

# Places in the vector: those of each constant's numbers.
TOPIC = slice(0, 9)
USEFUL = slice(9, 13)
USEFUL_WORDS = slice(13, 18)
_UNITS = np.eye(18)


@dataclass(slots=True)
class _Sigmoid:
    """Keeps what it is given, and answers with where that is kept, so that it can be told whose it was."""

    kept: list[Vector] = field(default_factory=list[Vector])

    def __call__(self, x: Vector) -> float:
        self.kept.append(x)
        # The first of each slice belongs to the constant. Being on the topic must not change the product.
        return 1.0 if x[TOPIC.start] else float(len(self.kept) + 1)

    def of(self, relevance: float) -> Vector | None:
        return self.kept[int(relevance) - 2] if relevance else None


@dataclass(frozen=True, slots=True)
class Seen:
    """One question: its features of being on the topic, and for each hit among the first ten those of being useful."""

    asked: Asked
    topic: Vector | None
    hits: Sequence[tuple[Vector, bool]]


def see(ordered: Ordered, kind: slice) -> list[Seen]:
    """`kind` is what its hits are judged by: `USEFUL`, or `USEFUL_WORDS` where words are all there is."""
    return [_see(ordered, number, kind) for number in range(len(ordered.replays))]


def _see(ordered: Ordered, number: int, kind: slice) -> Seen:
    sigmoid = _Sigmoid()
    units = {
        "TOPIC": tuple(_UNITS[TOPIC]),
        "USEFUL": tuple(_UNITS[USEFUL]),
        "USEFUL_WORDS": tuple(_UNITS[USEFUL_WORDS]),
        # Where the cut lies is not fitted, and must not look like a feature.
        "CUT": 0.0,
        "CUT_WORDS": 0.0,
        "_sigmoid": sigmoid,
    }
    one = ordered.replays[number][0]
    replay = ordered.judge(number, units)
    hits: list[tuple[Vector, bool]] = []
    for candidate in replay.close[:TOP]:
        features = sigmoid.of(candidate.relevance)
        if features is not None and features[kind.start]:
            id = one.kept.shelf.ids[candidate.key[1]]
            if id not in one.question.maybe:
                hits.append((features[kind], id in one.question.gold))
    return Seen(one, next((x for x in sigmoid.kept if x[TOPIC.start]), None), hits)
