"""Vectors of passages: how they are checked and stored, and the rows of one team kept in memory for searching."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from mycel.errors import Unavailable
from mycel.index import scan
from mycel.index.findable import Findable
from mycel.index.passage_rows import (
    LEAST_CAPACITY,
    MAX_PASSAGES,
    Matrix,
    Numbers,
    PassageRows,
    inverse_norms_of,
    packed_spans,
    rows_of_spans,
    run_starts,
)
from mycel.index.sign_bits import SignBits

Vectors = NDArray[np.float32]

GROWTH = 1.25
# Compacting copies every row, so it waits until a third of them is of no use.
MOST_DEAD_SHARE = 1 / 3


def checked(vectors: Vectors, *, count: int, dimensions: int) -> Vectors:
    """What an embedder returned, or `Unavailable` saying what is wrong with it."""
    rows = np.asarray(vectors, np.float32)
    if rows.shape != (count, dimensions):
        raise Unavailable(f"the embedder returned vectors of shape {rows.shape}, expected {(count, dimensions)}")
    if not np.isfinite(rows).all():
        raise Unavailable("the embedder returned a vector with a number that is not finite")
    if not rows.any(axis=1).all():
        raise Unavailable("the embedder returned a vector of zeros")
    return rows


def quantised(vectors: Vectors) -> list[bytes]:
    """Each row as signed bytes, its largest number becoming 127: a cosine needs no scale."""
    scales = 127 / np.maximum(np.abs(vectors).max(axis=1, keepdims=True, initial=0), 1e-30)
    return [row.tobytes() for row in np.rint(vectors * scales).astype(np.int8)]


class VectorRows:
    """The passages of one team as signed bytes. One thread writes at a time; any number search meanwhile.

    The rule: what a search may be reading is never overwritten. A new row is written beyond `count` (its vector,
    norm, signs and owner first, then `count`, then its flag in `alive`), and only then are the rows it replaces
    marked dead and left where they are. Growing, compacting and new sign bits make new arrays and swap one reference.
    A search takes that reference once, then a copy of `alive`, which it therefore reads from front to back: it sees
    a memory that is being replaced as it was, as it will be, or as the better of the two, but never without its
    passages and never with those of another.
    """

    def __init__(self, dimensions: int, *, passages: PassageRows | None = None) -> None:
        self.dimensions = dimensions
        self._passages = passages or PassageRows.empty(dimensions)
        self.memories = int(np.count_nonzero(self._passages.spans))

    @property
    def count(self) -> int:
        """Passages that can be found."""
        return self._passages.count - self._passages.dead

    @property
    def passages(self) -> PassageRows:
        """The present arrays, for saving them."""
        return self._passages

    def put(self, number: int, *, passages: Sequence[bytes]) -> None:
        """Replaces whatever passages the memory had."""
        self.replace([(number, passages)])

    def replace(self, embedded: Iterable[tuple[int, Sequence[bytes]]]) -> None:
        """As `put`, for many memories at once."""
        latest = dict(embedded)
        for number, passages in latest.items():
            if not passages:
                self.remove(number)
        numbers = np.repeat(np.array(list(latest), np.int64), [len(passages) for passages in latest.values()])
        self.extend(numbers, matrix=self._matrix(list(chain.from_iterable(latest.values()))))

    def extend(self, numbers: NDArray[np.integer], *, matrix: Matrix) -> None:
        """Replaces the passages of all these memories: one number per row, rows of one memory in their order."""
        if not len(numbers):
            return
        if np.any(numbers[1:] < numbers[:-1]):
            order = np.argsort(numbers, kind="stable")
            numbers, matrix = numbers[order], matrix[order]
        firsts = run_starts(numbers.astype(np.int64))
        if np.diff(firsts, append=len(numbers)).max() > MAX_PASSAGES:
            raise ValueError(f"a memory has more than {MAX_PASSAGES} passages")
        offset = self._append(numbers.astype(np.int32), matrix=matrix)
        spans = packed_spans(firsts, total=len(numbers), offset=offset)
        self._respan(numbers[firsts].astype(np.int64), spans=spans)

    def remove(self, number: int) -> None:
        if len(self._passages.rows_of(number)):
            self._respan(np.array([number]), spans=np.zeros(1, np.int64))

    def findable(self, memories: NDArray[np.bool_]) -> Findable:
        """Of these memories, by number, what can be found now."""
        return Findable(memories, self._passages)

    def nearest(
        self, query: Vectors | scan.Query, *, allowed: NDArray[np.bool_] | Findable, limit: int
    ) -> tuple[Numbers, Vectors]:
        """Numbers and cosines, best first. Equal cosines: the higher number first. `allowed` is by memory number."""
        found = allowed if isinstance(allowed, Findable) else self.findable(allowed)
        return scan.nearest_memories(
            found, query=scan.prepared(query), limit=limit, one_each=self.count == self.memories
        )

    def similarities(self, query: Vectors | scan.Query, *, numbers: Sequence[int] | Numbers) -> Vectors:
        """The cosine of each memory's best passage, not a number for those without passages."""
        wanted = np.asarray(numbers, np.int64)
        return scan.similarity_of(self._passages, query=scan.prepared(query), numbers=wanted)

    def _matrix(self, passages: Sequence[bytes]) -> Matrix:
        return np.frombuffer(b"".join(passages), np.int8).reshape(len(passages), self.dimensions)

    def _append(self, owners: NDArray[np.int32], *, matrix: Matrix) -> int:
        passages = self._with_room(len(owners), highest=int(owners[-1]))
        start, end = passages.count, passages.count + len(owners)
        passages.vectors[start:end] = matrix
        passages.inverse_norms[start:end] = inverse_norms_of(matrix)
        passages.owners[start:end] = owners
        if passages.signs is not None:
            passages.signs.write(matrix, start=start)
        passages.count = end
        passages.alive[start:end] = True
        self._renew_signs(passages)
        return start

    def _with_room(self, rows: int, *, highest: int) -> PassageRows:
        passages = self._passages
        needed = passages.count + rows
        if needed > passages.capacity:
            passages = self._passages = passages.resized(max(needed, int(needed * GROWTH)))
        if highest >= len(passages.spans):
            spans = np.zeros(max(highest + 1, int(highest * GROWTH)), np.int64)
            spans[: len(passages.spans)] = passages.spans
            passages.spans = spans
        return passages

    def _renew_signs(self, passages: PassageRows) -> None:
        """The centre is that of the rows when it was taken; twice as many may lie elsewhere."""
        made_for = scan.EXACT_ROWS if passages.signs is None else 2 * passages.signs.made_for
        if passages.count > made_for:
            passages.signs = SignBits.of(passages.vectors[: passages.count], capacity=passages.capacity)

    def _respan(self, numbers: Numbers, *, spans: Numbers) -> None:
        """Points memories to their new passages, then marks the old ones dead."""
        passages = self._passages
        old = passages.spans[numbers]
        passages.spans[numbers] = spans
        rows, _ = rows_of_spans(old)
        passages.alive[rows] = False
        passages.dead += len(rows)
        self.memories += int(np.count_nonzero(spans)) - int(np.count_nonzero(old))
        if passages.dead > MOST_DEAD_SHARE * passages.count and passages.dead > LEAST_CAPACITY:
            self._compact(passages)

    def _compact(self, passages: PassageRows) -> None:
        self._passages = passages.living(passages.alive[: passages.count])
