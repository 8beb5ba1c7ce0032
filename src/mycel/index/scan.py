"""Scanning the passages of a team for those nearest to a question."""

from __future__ import annotations

from typing import NamedTuple

import numkong
import numpy as np
from numpy.typing import NDArray

from mycel.index.best import bar_of
from mycel.index.findable import Findable
from mycel.index.passage_rows import (
    MAX_PASSAGES,
    SPAN_BITS,
    Numbers,
    PassageRows,
    Rows,
    rows_of_spans,
    run_lengths,
    run_starts,
)

Cosines = NDArray[np.float32]

# Measured on one core of an Ice Lake server at 2.8 GHz, 384 dimensions. The exact scan costs 50 ns a row in one
# piece and 40-150 ns where rows are gathered first; the first pass over sign bits 8-11 ns a row, or 40 ns where they
# are gathered. So below this many rows a first pass saves nothing.
EXACT_ROWS = 10_000

# Of 18,558 real vectors, the 3 % that the first pass prefers hold 99.4 % of the true best ten, and 2 % hold 98.8 %.
# The more rows, the rarer are the best ten among them and the smaller a share finds them: a store of 300,000 rows or
# less is given more than its share, and at a million 1 % lost none of the exact answer.
FINALIST_SHARE = 0.01
LEAST_FINALISTS = 2_000
FINALISTS_PER_HIT = 20

# Where fewer of the rows than this are wanted, gathering them first is cheaper than passing over the others.
SPARSE = 0.4

# A question rounded to signed bytes is off by at most 0.0045 on real vectors, so it only chooses whom to measure
# exactly: by the question as it is, against the stored bytes.
ROUNDING = 0.005
LEAST_CONTENDERS = 4_096
EXACT_BLOCK = 4_096


class Query(NamedTuple):
    """A question's vector at length one, as it is and rounded to signed bytes."""

    unit: NDArray[np.float32]
    rounded: NDArray[np.int8]
    inverse_norm: float


def prepared(vector: NDArray[np.float32] | Query) -> Query:
    """What is prepared already stays as it is: one search asks several times."""
    if isinstance(vector, Query):
        return vector
    unit = vector.astype(np.float32) / max(_length(vector), 1e-30)
    rounded = np.rint(unit * (127 / max(float(np.abs(unit).max()), 1e-30))).astype(np.int8)
    norm = _length(rounded.astype(np.float32))
    return Query(unit, rounded[np.newaxis], 1 / norm if norm else 0.0)


def _length(vector: NDArray[np.float32]) -> float:
    return float(np.sqrt(vector.dot(vector)))


def nearest_memories(
    findable: Findable, *, query: Query, limit: int, one_each: bool = False
) -> tuple[Numbers, Cosines]:
    """The memories whose best passages are nearest, best first; of equals the one with the higher number.

    `one_each` where no memory has more than one passage.
    """
    passages = findable.passages
    rows = _finalists(findable, query=query, limit=limit)
    if limit <= 0 or not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.float32)
    rough = _rough_cosines(passages, query=query, rows=rows)
    rows = rows[_contenders(rough, owners=None if one_each else passages.owners[rows], limit=limit)]
    cosines = exact_cosines(passages, query=query, rows=rows)
    owners = passages.owners[rows]
    order = np.lexsort((owners, cosines))[::-1]
    chosen = order[:limit] if one_each else _firsts(owners, order, limit=limit)
    return owners[chosen].astype(np.int64), cosines[chosen]


def similarity_of(passages: PassageRows, *, query: Query, numbers: Numbers) -> Cosines:
    """The cosine of each memory's best passage, not a number where it has none."""
    spans = passages.spans
    known = (numbers >= 0) & (numbers < len(spans))
    found = spans[numbers] if known.all() else np.where(known, spans[np.where(known, numbers, 0)], 0)
    if (found & MAX_PASSAGES == 1).all():
        return exact_cosines(passages, query=query, rows=found >> SPAN_BITS)
    rows, lengths = rows_of_spans(found)
    cosines = np.full(len(numbers), np.nan, np.float32)
    there = np.flatnonzero(lengths)
    if len(there):
        starts = (np.cumsum(lengths) - lengths)[there]
        cosines[there] = np.maximum.reduceat(exact_cosines(passages, query=query, rows=rows), starts)
    return cosines


def exact_cosines(passages: PassageRows, *, query: Query, rows: Rows) -> Cosines:
    cosines = np.empty(len(rows), np.float32)
    for first in range(0, len(rows), EXACT_BLOCK):
        block = rows[first : first + EXACT_BLOCK]
        # Not a matrix product: its last bits depend on a row's place, and equal rows must stay equal.
        dots = np.einsum("ij,j->i", passages.vectors[block].astype(np.float32), query.unit)
        cosines[first : first + EXACT_BLOCK] = dots * passages.inverse_norms[block]
    return cosines


def _finalists(findable: Findable, *, query: Query, limit: int) -> Rows:
    """The rows to be found, or where they are many those that a first look prefers."""
    # Read after `alive`: whatever is alive there has its signs in what is found here.
    signs, count = findable.passages.signs, findable.row_count
    wanted = max(int(FINALIST_SHARE * count), LEAST_FINALISTS, FINALISTS_PER_HIT * limit)
    if signs is None or count <= max(EXACT_ROWS, wanted):
        return np.flatnonzero(findable.rows)
    return signs.closest(query.unit, allowed=findable.rows, wanted=wanted)


def _rough_cosines(passages: PassageRows, *, query: Query, rows: Rows) -> Cosines:
    end = int(rows[-1]) + 1
    if len(rows) < SPARSE * end:
        dots = _dots(query.rounded, passages.vectors.take(rows, axis=0))
    else:
        dots = _dots(query.rounded, passages.vectors[:end])
    if len(rows) == end:
        # All of them: nothing has to be picked out.
        return dots * passages.inverse_norms[:end] * np.float32(query.inverse_norm)
    if len(dots) > len(rows):
        dots = dots[rows]
    return dots * passages.inverse_norms[rows] * np.float32(query.inverse_norm)


def _dots(query: NDArray[np.int8], vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    return np.asarray(numkong.cdist(query, vectors, "dot", out_dtype="float32"), np.float32)[0]


def _contenders(rough: Cosines, *, owners: NDArray[np.int32] | None, limit: int) -> Rows:
    """Places of the passages that may turn out to be the best of one of the `limit` best memories."""
    floor = bar_of(rough, limit=limit) if owners is None else _floor(rough, owners=owners, limit=limit)
    places = np.flatnonzero(rough >= floor - np.float32(ROUNDING))
    if owners is not None:
        # Of one memory, only the passages as near as its best.
        starts = run_starts(owners[places])
        bars = np.maximum.reduceat(rough[places], starts) - np.float32(ROUNDING)
        places = places[rough[places] >= np.repeat(bars, run_lengths(starts, total=len(places)))]
    most = max(LEAST_CONTENDERS, 4 * limit)
    if len(places) <= most:
        return places
    # Only copies of one text are this many so close together; the later ones are the newer ones.
    return np.sort(places[np.argsort(rough[places], kind="stable")[-most:]])


def _floor(rough: Cosines, *, owners: NDArray[np.int32], limit: int) -> np.float32:
    """A cosine that the best passages of the `limit` best memories reach."""
    bar = bar_of(rough, limit=limit)
    places = np.flatnonzero(rough >= bar)
    # Memories of many passages fill the first places.
    crowded = len(places) < len(rough) and len(run_starts(owners[places])) < limit
    return bar_of(np.maximum.reduceat(rough, run_starts(owners)), limit=limit) if crowded else bar


def _firsts(owners: NDArray[np.int32], order: Rows, *, limit: int) -> Rows:
    """The best passage of each memory."""
    _, firsts = np.unique(owners[order], return_index=True)
    return order[np.sort(firsts)[:limit]]
