"""Logistic regression by Fisher scoring, with a ridge that pulls towards what is known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROUNDS = 50
CLOSE_ENOUGH = 1e-8
# As heavy as this share of all examples; enough where sets alone cannot tell two signals apart.
RIDGE = 0.002
LARGEST = 30.0
TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows that are so with probability `ceilings * sigmoid(features @ answer + offsets)`; the shares add up to one."""

    features: Array
    targets: Array
    shares: Array
    offsets: Array
    ceilings: Array

    def surprise(self, answer: Array) -> Array:
        """The log loss of each."""
        stated = self._stated(_sigmoid(self.features @ answer + self.offsets))
        return -(self.targets * np.log(stated) + (1 - self.targets) * np.log(1 - stated))

    def step(self, answer: Array, start: Array) -> Array:
        curve = _sigmoid(self.features @ answer + self.offsets)
        stated = self._stated(curve)
        slope = self.ceilings * curve * (1 - curve)
        variance = stated * (1 - stated)
        gradient = self.features.T @ (self.shares * (self.targets - stated) * slope / variance)
        curvature = (self.features * (self.shares * slope**2 / variance)[:, None]).T @ self.features
        return np.linalg.solve(curvature + RIDGE * np.eye(len(start)), gradient - RIDGE * (answer - start))

    def _stated(self, curve: Array) -> Array:
        return np.clip(self.ceilings * curve, TINY, 1 - TINY)


def fit(examples: Examples, *, towards: Sequence[float]) -> tuple[float, ...]:
    start = np.asarray(towards, float)
    answer, best = start.copy(), _loss(examples, start, start)
    for _ in range(ROUNDS):
        step = examples.step(answer, start)
        # Full steps overshoot where the ceiling bends the curve.
        while (loss := _loss(examples, answer + step, start)) > best:
            step = step / 2
            if np.abs(step).max() < CLOSE_ENOUGH:
                return tuple(answer.tolist())
        answer, best = answer + step, loss
        if np.abs(step).max() < CLOSE_ENOUGH:
            break
    return tuple(answer.tolist())


def gain(examples: Examples, answer: Sequence[float], *, over: Sequence[float]) -> tuple[float, float]:
    """How much less surprised one is than by the other, and the standard error of that."""
    each = examples.surprise(np.asarray(over, float)) - examples.surprise(np.asarray(answer, float))
    mean = float(examples.shares @ each)
    return mean, float(np.sqrt((examples.shares**2) @ (each - mean) ** 2))


def _loss(examples: Examples, answer: Array, start: Array) -> float:
    return float(examples.shares @ examples.surprise(answer) + RIDGE / 2 * ((answer - start) ** 2).sum())


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(x, -LARGEST, LARGEST)))
