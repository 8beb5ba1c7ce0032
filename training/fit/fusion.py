"""The weights of the order: one constant after the other, on all sets but one and reported on that one, then on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training.fit.constants import FUSION, OF_NEIGHBOURS, Values, today
from training.fit.gather import SETS
from training.fit.measured import Orders

ROUNDS = 3
# How many values to either side are looked at before a constant moves.
REACH = 2
# Less than this many points is no reason to leave what stands today.
FLAT = 0.1
# Fewer short questions than this cannot tell how to weigh their words.
LEAST_SHORT = 50
# Standard errors: for one constant beside the others, and for all of them together.
WORTH_ALONE, WORTH_TOGETHER = 1.0, 2.0
CONVERSATIONS = "LoCoMo"


@dataclass(frozen=True, slots=True)
class Fold:
    """Values fitted on `on`, and what they gain over today's there and on the set held back, with standard errors."""

    on: tuple[str, ...]
    held: str | None
    values: Values
    gain: tuple[float, float]
    held_gain: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class FusionFit:
    folds: Sequence[Fold]
    everything: Fold
    proposal: Values
    proposal_gain: tuple[float, float]
    # By constant and value, the points gained over the proposal.
    profile: Mapping[str, Mapping[float, float]]
    short_questions: int


def fit_fusion(orders: Orders) -> FusionFit:
    short = orders.short_questions()
    names = [name for name in FUSION if name != "EMPHASIS" or short >= LEAST_SHORT]
    folds = [_fold(orders, [name for name in SETS if name != held], held, names) for held in SETS]
    everything = _fold(orders, SETS, None, names)
    proposal, gain = _proposal(orders, everything, folds)
    best = orders.mean(SETS, proposal)
    profile = {
        name: {value: orders.mean(SETS, {**proposal, name: value}) - best for value in _around(name, proposal[name])}
        for name in names
    }
    return FusionFit(folds, everything, proposal, gain, profile, short)


def standing() -> Values:
    return {name: value for name, value in today().items() if name in FUSION}


def _fold(orders: Orders, on: Sequence[str], held: str | None, names: Sequence[str]) -> Fold:
    free = [name for name in names if CONVERSATIONS in on or name not in OF_NEIGHBOURS]
    values = _search(orders, on, free)
    start = standing()
    held_gain = None if held is None else orders.gain([held], values, over=start)
    return Fold(tuple(on), held, values, orders.gain(on, values, over=start), held_gain)


def _search(orders: Orders, on: Sequence[str], names: Sequence[str]) -> Values:
    start = standing()
    values = dict(start)
    for _ in range(ROUNDS):
        before = dict(values)
        for name in names:
            values[name] = _best(orders, on, values, name, usual=start[name])
        if values == before:
            break
    return values


def _best(orders: Orders, on: Sequence[str], values: Values, name: str, *, usual: float) -> float:
    """Of all values that are as good as the best within noise, the one nearest to today's."""
    grid = FUSION[name]
    found = {value: orders.mean(on, {**values, name: value}) for value in _around(name, values[name])}
    alike = [value for value, mean in found.items() if mean >= max(found.values()) - FLAT]
    return min(alike, key=lambda value: (abs(grid.index(value) - grid.index(usual)), -found[value]))


def _around(name: str, value: float) -> tuple[float, ...]:
    grid = FUSION[name]
    place = grid.index(value)
    return grid[max(0, place - REACH) : place + REACH + 1]


def _proposal(orders: Orders, everything: Fold, folds: Sequence[Fold]) -> tuple[Values, tuple[float, float]]:
    """What was fitted on all sets, less each change that brings no more than noise; today's where little is left."""
    start, values = standing(), dict(everything.values)
    while changed := [name for name in values if values[name] != start[name]]:
        gains = {name: orders.gain(SETS, values, over={**values, name: start[name]}) for name in changed}
        least = min(changed, key=lambda name: gains[name][0] / max(gains[name][1], 1e-9))
        if gains[least][0] > WORTH_ALONE * gains[least][1]:
            break
        values[least] = start[least]
    gain = orders.gain(SETS, values, over=start)
    held_back = sum(fold.held_gain[0] for fold in folds if fold.held_gain is not None)
    if gain[0] <= WORTH_TOGETHER * gain[1] or held_back <= 0:
        return start, (0.0, 0.0)
    return values, gain
