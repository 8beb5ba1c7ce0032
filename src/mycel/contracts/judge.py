"""What the engine expects of the small model that reads: how two statements stand to each other, what talk is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol


class PairOdds(NamedTuple):
    """How likely it is that two statements, the earlier one first, stand so to each other; together 1."""

    duplicate: float
    contradiction: float
    supersedes: float
    related: float
    unrelated: float


class Sentence(NamedTuple):
    """A turn of a talk or one sentence of it; `role` is `user` or `assistant`, `before` what was said just before."""

    text: str
    role: str = "user"
    before: str = ""


class SentenceOdds(NamedTuple):
    """How likely it is that a sentence is worth keeping, and that a careful team would let it stand unseen.

    `types` says which type of memory it is if it is kept, `kinds` what sort of talk it is (`explicit_decision`,
    `hypothetical`, `quoted_text`, …); each of both is 1 together.
    """

    keep: float
    active: float
    types: Mapping[str, float]
    kinds: Mapping[str, float]


class Judge(Protocol):
    """Safe to use from any thread. Raises `Unavailable` when it cannot be run."""

    def compare(
        self, pairs: Sequence[tuple[str, str]], *, is_enough: Callable[[int, PairOdds], bool] | None = None
    ) -> Sequence[PairOdds]:
        """Of each pair the earlier statement first.

        `is_enough` says of the number of a pair whether the odds of that order alone will do.
        """
        ...

    def weigh(self, sentences: Sequence[Sentence]) -> Sequence[SentenceOdds]: ...
