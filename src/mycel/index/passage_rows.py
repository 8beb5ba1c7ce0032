"""The arrays of passages behind `VectorRows`: who owns which row, and what may be read while rows are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mycel.index.sign_bits import SignBits

Matrix = NDArray[np.int8]
Numbers = NDArray[np.int64]
Rows = NDArray[np.intp]

# Where a memory's passages are, in one number, so that it is read and written in one step.
SPAN_BITS = 16
MAX_PASSAGES = (1 << SPAN_BITS) - 1

LEAST_CAPACITY = 1_024
NORM_BLOCK = 16_384


@dataclass(slots=True)
class PassageRows:
    """One generation of arrays; see `VectorRows` for the order in which they are written and read.

    `vectors`, `inverse_norms`, `owners` and the columns of `signs` are written once for each row. `alive` says which
    rows count. `spans` tells for each memory number where its passages are; they always lie together.
    """

    vectors: Matrix
    inverse_norms: NDArray[np.float32]
    owners: NDArray[np.int32]
    alive: NDArray[np.bool_]
    spans: Numbers
    signs: SignBits | None = None
    count: int = 0
    dead: int = 0

    @classmethod
    def empty(cls, dimensions: int, *, capacity: int = LEAST_CAPACITY) -> PassageRows:
        return cls(
            vectors=np.empty((capacity, dimensions), np.int8),
            inverse_norms=np.empty(capacity, np.float32),
            owners=np.zeros(capacity, np.int32),
            alive=np.zeros(capacity, np.bool_),
            spans=np.zeros(LEAST_CAPACITY, np.int64),
        )

    @classmethod
    def of(
        cls,
        vectors: Matrix,
        *,
        inverse_norms: NDArray[np.float32],
        owners: NDArray[np.int32],
        signs: SignBits | None = None,
    ) -> PassageRows:
        """All rows alive, the passages of each memory together; the arrays become its own."""
        spans = np.zeros(max(LEAST_CAPACITY, int(owners.max(initial=0)) + 1), np.int64)
        firsts = run_starts(owners)
        spans[owners[firsts]] = packed_spans(firsts, total=len(owners))
        alive = np.ones(len(owners), np.bool_)
        return cls(vectors, inverse_norms, owners, alive, spans, signs, count=len(owners))

    @property
    def capacity(self) -> int:
        return len(self.owners)

    def resized(self, capacity: int) -> PassageRows:
        grown = PassageRows.empty(self.vectors.shape[1], capacity=capacity)
        used = slice(0, self.count)
        for name in ("vectors", "inverse_norms", "owners", "alive"):
            getattr(grown, name)[used] = getattr(self, name)[used]
        # A copy: searches that still read these arrays must not be sent to rows that only the new ones have.
        grown.spans, grown.count, grown.dead = self.spans.copy(), self.count, self.dead
        grown.signs = None if self.signs is None else self.signs.resized(capacity)
        return grown

    def living(self, alive: NDArray[np.bool_]) -> PassageRows:
        """These rows alone, in the same order; where none is dead, the same memory seen again."""
        kept = slice(0, len(alive)) if alive.all() else np.flatnonzero(alive)
        signs = self.signs
        if signs is not None:
            signs = SignBits(signs.centre, signs.words[:, kept], signs.made_for)
        norms, owners = self.inverse_norms[kept], self.owners[kept]
        return PassageRows.of(self.vectors[kept], inverse_norms=norms, owners=owners, signs=signs)

    def rows_of(self, number: int) -> Rows:
        spans = self.spans
        span = int(spans[number]) if 0 <= number < len(spans) else 0
        first = span >> SPAN_BITS
        return np.arange(first, first + (span & MAX_PASSAGES))


def inverse_norms_of(vectors: Matrix) -> NDArray[np.float32]:
    """Nothing for a row of zeros: its cosine with anything is then zero as well."""
    norms = np.empty(len(vectors), np.float32)
    for first in range(0, len(vectors), NORM_BLOCK):
        block = vectors[first : first + NORM_BLOCK].astype(np.float32)
        norms[first : first + NORM_BLOCK] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)


def run_starts(owners: NDArray[np.int32] | Numbers) -> Rows:
    """Where another owner begins."""
    changes = np.empty(len(owners), np.bool_)
    changes[:1] = True
    np.not_equal(owners[1:], owners[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def run_lengths(firsts: Rows, *, total: int) -> Rows:
    return np.diff(firsts, append=total)


def packed_spans(firsts: Rows, *, total: int, offset: int = 0) -> Numbers:
    return (firsts.astype(np.int64) + offset) << SPAN_BITS | run_lengths(firsts, total=total)


def rows_of_spans(spans: Numbers) -> tuple[Rows, Rows]:
    """Every row of these spans, one span after the other, and how many rows each has."""
    firsts, lengths = spans >> SPAN_BITS, spans & MAX_PASSAGES
    starts = np.cumsum(lengths) - lengths
    return np.repeat(firsts - starts, lengths) + np.arange(int(lengths.sum())), lengths
