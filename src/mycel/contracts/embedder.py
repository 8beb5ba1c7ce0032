"""Embedders: what turns texts into vectors whose nearness is nearness of meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    # Only where vectors are really made: the import costs more than most commands take.
    import numpy as np
    from numpy.typing import NDArray

    # One row, and one row per text.
    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Background:
    """What a model's cosine says when it says nothing; measured against it, different models mean the same.

    `mean` and `deviation` are those of questions and memories that have nothing to do with each other; `spread` is
    the usual deviation of one question's cosines over a whole store.
    """

    mean: float
    deviation: float
    spread: float


class Embedder(Protocol):
    """One model. Safe to use from any thread; making one loads nothing, the first use does.

    Both `embed_…` methods return one row per text, of `dimensions` numbers; the caller checks them. They raise
    `Unavailable` when there is no answer now, and `Misconfigured` when there will never be one.
    """

    @property
    def model(self) -> str:
        """Names what makes vectors comparable: two embedders of one name give the same vectors."""
        ...

    @property
    def dimensions(self) -> int: ...
    @property
    def max_tokens(self) -> int:
        """More of one text than this is not read."""
        ...

    @property
    def batch_size(self) -> int:
        """How many texts to pass at once, for speed and for the limits of the other side."""
        ...

    @property
    def background(self) -> Background: ...
    def token_ends(self, text: str) -> Sequence[int]:
        """Where each token of the text ends, counted in characters; an estimate where the tokens are not known."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """A question, which some models read differently; one row."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors: ...
    def close(self) -> None: ...
