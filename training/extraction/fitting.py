"""The fits: whether a sentence is worth keeping, and which types it may then have.

Each type has a fit of its own, since many sentences may be of one type as well as of another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mycel.engine.english.weights import SCALE, TYPES
from mycel.engine.extraction.extract import BIAS, Row, Weights
from training.extraction.examples import WORD, Example, names_of, rows_of

Array = NDArray[np.float64]

# How strongly weights are drawn to zero, chosen by leaving talks out; the bias is left nearly free.
RIDGE = 6.0
RIDGE_OF_BIAS = 0.01
STEPS = 250
RATE = 0.05


def fit(examples: Sequence[Example]) -> Weights:
    names = names_of(examples)
    kept = [example for example in examples if example.types]
    columns = [_fit(examples, names, wanted=lambda example: bool(example.types))]
    columns += [_fit(kept, names, wanted=lambda example, kind=kind: kind in example.types) for kind in TYPES]
    table = np.rint(SCALE * np.column_stack(columns)).astype(int)
    rows: dict[str, Row] = {name: tuple(map(int, row)) for name, row in zip(names, table, strict=True)}
    told = {name: row for name, row in rows.items() if any(row)}
    return Weights(
        {name: row for name, row in told.items() if not name.startswith(WORD)},
        {name.removeprefix(WORD): row for name, row in told.items() if name.startswith(WORD)},
    )


def _fit(examples: Sequence[Example], names: Sequence[str], *, wanted: Callable[[Example], bool]) -> Array:
    """Logistic regression."""
    rows = rows_of(examples, names)
    targets = np.array([wanted(example) for example in examples], dtype=float)
    counts = np.array([example.weight for example in examples])
    ridge = np.array([RIDGE_OF_BIAS if name == BIAS else RIDGE for name in names])

    def slope(weights: Array) -> Array:
        chances = 1 / (1 + np.exp(-rows.times(weights)))
        return rows.gathered(counts * (chances - targets)) + ridge * weights

    return _descend(slope, np.zeros(len(names)))


def _descend(slope: Callable[[Array], Array], weights: Array) -> Array:
    """Adam, on all examples at once."""
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        found = slope(weights)
        mean = 0.9 * mean + 0.1 * found
        spread = 0.99 * spread + 0.01 * found**2
        weights = weights - RATE * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return weights
