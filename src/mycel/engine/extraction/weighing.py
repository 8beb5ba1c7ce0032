"""How likely a sentence is worth keeping by its signs and words, and as what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from math import exp
from typing import NamedTuple

from mycel.domain.memory import MemoryType
from mycel.engine.extraction import weights

# How much a sign or a word speaks for keeping, and then for each type.
Row = tuple[int, ...]

BIAS = "bias"


class Weights(NamedTuple):
    """Whole numbers, `weights.SCALE` of which make one: they add up to the same sum in any order."""

    signs: Mapping[str, Row]
    words: Mapping[str, Row]


class Weighed(NamedTuple):
    """A type, and the chance that the sentence is worth keeping and may have it."""

    type: MemoryType
    chance: float


@cache
def fitted() -> Weights:
    """Those that the package carries."""
    return Weights(read_table(weights.SIGNS), read_table(weights.WORDS))


def read_table(text: str) -> dict[str, Row]:
    """Entries such as `we do:4,9,-1,-1,-1,-4,-6`, apart by bars."""
    entries = (entry.strip().rpartition(":") for entry in text.replace("\n", "|").split("|") if entry.strip())
    return {name: tuple(map(int, numbers.split(","))) for name, _, numbers in entries}


def weigh(signs: Collection[str], words: Iterable[str], *, least: float, table: Weights) -> Weighed | None:
    """The likeliest type, where the chance is at least `least`."""
    rows = [table.signs[BIAS]]
    rows += filter(None, map(table.signs.get, signs))
    rows += filter(None, map(table.words.get, set(words)))
    keep = _logistic(sum([row[0] for row in rows]))
    if keep < least:
        return None
    _, *sums = map(sum, zip(*rows, strict=True))
    best = max(sums)
    chance = keep * _logistic(best)
    return Weighed(weights.TYPES[sums.index(best)], chance) if chance >= least else None


def _logistic(score: int) -> float:
    return 1 / (1 + exp(-score / weights.SCALE))
