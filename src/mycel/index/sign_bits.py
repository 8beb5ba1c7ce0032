"""Sign bits of centred vectors: a coarse first look at many rows that reads an eighth of their bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64

# Vectors of one model all lean the same way, so without centring most signs are the same in every row. Taking out
# the part along their mean, from rows and questions alike, finds 99.4 % of the best ten among the nearest 3 % of
# 18,558 real vectors; subtracting the mean finds 98.8 %, leaving it in 97.8 %. A random rotation adds nothing.
CENTRE_SAMPLE = 65_536

# In blocks this long the words, their difference and the counts stay in the second-level cache: 8 ms for a million
# rows of 384 bits. Word by word over all rows it takes 14 ms, numkong's hamming 15, and rows before words 53.
DISTANCE_BLOCK = 8_192
PACKING_BLOCK = 4_096

# Enough to place a threshold within a thirtieth of what it lets through; counting a million would take 1.5 ms.
HISTOGRAM_SAMPLE = 32_768

# Where fewer of the rows than this are allowed, gathering their signs is cheaper than passing over the others.
SPARSE = 0.25


@dataclass(frozen=True, slots=True)
class SignBits:
    """One column per row: `words[i]` holds the i-th 64 signs of every row, so that a scan reads whole columns."""

    centre: NDArray[np.float32]
    words: NDArray[np.uint64]
    made_for: int

    @classmethod
    def of(cls, vectors: NDArray[np.int8], *, capacity: int) -> SignBits:
        count, dimensions = vectors.shape
        made = cls(centre_of(vectors), np.zeros((-(-dimensions // WORD_BITS), capacity), np.uint64), count)
        made.write(vectors, start=0)
        return made

    def write(self, vectors: NDArray[np.int8], *, start: int) -> None:
        for first in range(0, len(vectors), PACKING_BLOCK):
            block = vectors[first : first + PACKING_BLOCK].astype(np.float32)
            columns = slice(start + first, start + first + len(block))
            self.words[:, columns] = packed_signs(block, centre=self.centre).T

    def closest(self, query: NDArray[np.float32], *, allowed: NDArray[np.bool_], wanted: int) -> NDArray[np.intp]:
        """About `wanted` of the allowed rows that share most signs with the query, in their order."""
        signs = packed_signs(query[np.newaxis], centre=self.centre)[0]
        count = int(np.count_nonzero(allowed))
        if count == len(allowed):
            return smallest(hamming(self.words[:, :count], signs), wanted=wanted, bits=self.bits)
        rows = np.flatnonzero(allowed)
        if count < SPARSE * len(allowed):
            return rows[smallest(hamming(self.words.take(rows, axis=1), signs), wanted=wanted, bits=self.bits)]
        # Passing over the others is quicker than leaving them out, but they have no say in the threshold.
        distances = hamming(self.words[:, : len(allowed)], signs).take(rows)
        return rows[smallest(distances, wanted=wanted, bits=self.bits)]

    @property
    def bits(self) -> int:
        return len(self.words) * WORD_BITS

    def resized(self, capacity: int) -> SignBits:
        words = np.zeros((len(self.words), capacity), np.uint64)
        kept = min(capacity, self.words.shape[1])
        words[:, :kept] = self.words[:, :kept]
        return SignBits(self.centre, words, self.made_for)


def centre_of(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """The direction that all rows share, of length one; nothing where they share none."""
    step = max(1, len(vectors) // CENTRE_SAMPLE)
    total = np.zeros(vectors.shape[1], np.float64)
    for first in range(0, len(vectors), PACKING_BLOCK * step):
        block = vectors[first : first + PACKING_BLOCK * step : step].astype(np.float32)
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        total += (block / np.maximum(lengths, 1)).sum(axis=0)
    length = float(np.linalg.norm(total))
    return (total / length if length else total).astype(np.float32)


def packed_signs(vectors: NDArray[np.float32], *, centre: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One row of words per vector; bits beyond its dimensions are never set."""
    signs = np.packbits(vectors > np.outer(vectors @ centre, centre), axis=1)
    width = -(-vectors.shape[1] // WORD_BITS) * (WORD_BITS // 8)
    padded = np.zeros((len(vectors), width), np.uint8)
    padded[:, : signs.shape[1]] = signs
    return padded.view(np.uint64)


def hamming(words: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.uint16]:
    distances = np.empty(words.shape[1], np.uint16)
    for first in range(0, len(distances), DISTANCE_BLOCK):
        block = slice(first, first + DISTANCE_BLOCK)
        differing = np.bitwise_count(words[:, block] ^ wanted[:, np.newaxis])
        np.add.reduce(differing, axis=0, dtype=np.uint16, out=distances[block])
    return distances


def smallest(distances: NDArray[np.uint16], *, wanted: int, bits: int) -> NDArray[np.intp]:
    """Where about `wanted` of the smallest distances are, in order of place; at most twice as many.

    Distances beyond `bits` are never among them.
    """
    allowed = int(np.count_nonzero(distances <= bits))
    # Rows that come in turns can fool a sample that takes every so many of them: then all are counted.
    for step in (max(1, len(distances) // HISTOGRAM_SAMPLE), 1):
        counts = np.bincount(distances[::step], minlength=bits + 1)[: bits + 1]
        share = int(counts.sum()) * min(1.0, wanted / max(1, allowed))
        threshold = min(bits, int(np.searchsorted(np.cumsum(counts), share)))
        places = np.flatnonzero(distances <= threshold)
        if len(places) >= min(wanted, allowed) // 2:
            break
    if len(places) <= 2 * wanted:
        return places
    # Many rows alike, such as copies of one text: the later ones are the newer ones.
    order = np.argsort(distances[places][::-1], kind="stable")[: 2 * wanted]
    return np.sort(places[::-1][order])
