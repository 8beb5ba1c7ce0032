"""What there is to learn from: the sentences that no rule settles, with their signs, words and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.extraction import Labelled
from mycel.engine.english.weights import TYPES
from mycel.engine.extraction.extract import BIAS, Reading, read
from mycel.engine.extraction.talk import Talk

# What is seen less often says more about the talk than about the language.
LEAST_SEEN = 4
# What only may be kept says less than what must be.
MAY_WEIGHT = 0.3

# A sign is known by its name, a word by itself behind a tab, which no name has.
WORD = "\t"


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence: what it shows, the types that it may have (none: not worth keeping), and how much it counts."""

    shown: frozenset[str]
    types: frozenset[str]
    weight: float


def examples_of(labelled: Labelled) -> list[Example]:
    talk = Talk(labelled.transcript)
    found: list[Example] = []
    for place, statement in enumerate(talk.statements):
        reading = read(talk, place)
        if not isinstance(reading, Reading):
            continue
        keep, may = (
            frozenset(
                kind
                for label in labels
                if 2 * (min(label.end, statement.end) - max(label.start, statement.start)) >= label.end - label.start
                for kind in label.types & frozenset(TYPES)
            )
            for labels in (labelled.keep, labelled.may)
        )
        shown = reading.signs | {BIAS} | {WORD + word for word in talk.words(place)}
        weight = MAY_WEIGHT if may and not keep else 1.0
        found.append(Example(frozenset(shown), keep | may, weight))
    return found


def names_of(examples: Iterable[Example]) -> list[str]:
    """All that is seen often enough, in order."""
    counts = Counter(name for example in examples for name in example.shown)
    return sorted(name for name, count in counts.items() if count >= LEAST_SEEN)


@dataclass(frozen=True, slots=True)
class Rows:
    """Which columns each example has: without a matrix product the sums are the same on every machine."""

    columns: NDArray[np.intp]
    rows: NDArray[np.intp]
    count: int
    width: int

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(self.rows, weights[self.columns], self.count)

    def gathered(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each column the sum over the examples that have it."""
        return np.bincount(self.columns, values[self.rows], self.width)


def rows_of(examples: Sequence[Example], names: Sequence[str]) -> Rows:
    places = {name: place for place, name in enumerate(names)}
    pairs = [
        (places[name], row) for row, example in enumerate(examples) for name in sorted(example.shown) if name in places
    ]
    columns, rows = (np.array([pair[side] for pair in pairs], dtype=np.intp) for side in (0, 1))
    return Rows(columns, rows, len(examples), len(names))
