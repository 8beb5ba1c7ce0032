"""How near the passages of a team are to a question: all that the filters leave is measured, or an index is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.domain.recall import Pool
from mycel.index.best import bar_of
from mycel.index.findable import SAMPLE
from mycel.stores.postgres.search_clauses import SearchClauses, flags_in
from mycel.stores.postgres.term_sample import DRAWN

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]

# Where the filters leave more memories than this, an index is asked, if the owner has made one.
EXACT_ROWS = 50_000
# About so many tell how much the filters leave, and how the cosines of that are spread.
SAMPLED = 512
# Memories have several passages.
PASSAGES_PER_WANTED = 2
# How many the index keeps in sight while it looks: of 100,000 it finds 99.7 % of the best ten, 97 % of the best sixty.
LOOKED_AROUND = 200

# Vectors are kept as they were rounded to bytes, beside what makes them as long as one. Those of another model may have
# other dimensions, and are not measured.
COSINE = "CASE WHEN m.model = :model THEN -(m.direction <#> :vector::halfvec) * m.inverse_norm END"
# Once it has begun, the index goes on until as many pass the filters as are wanted, or it has seen too many.
LOOK_AROUND = f"""
    SELECT set_config('hnsw.ef_search', '{LOOKED_AROUND}', true),
      set_config('hnsw.iterative_scan', 'strict_order', true)"""


class Scan(NamedTuple):
    """Memories in columns, in the order of their numbers, with the cosine of the best passage: none is not a number.

    `is_whole` says that all are here which the filters leave, and not only some of them, `has_nearest` that the nearest
    are among them.
    """

    numbers: Numbers
    cosines: NDArray[np.float32]
    near: Flags
    pool: Pool
    is_whole: bool = True
    has_nearest: bool = True

    def nearest(self, *, reach: bool, only: Numbers | None, limit: int) -> dict[int, float]:
        """The best of all, or of those in reach; of equals those with the higher number."""
        wanted = ~np.isnan(self.cosines)
        if reach:
            wanted &= self.near
        if only is not None:
            wanted &= np.isin(self.numbers, only)
        rows = np.flatnonzero(wanted)
        if len(rows) > limit:
            rows = rows[self.cosines[rows] >= bar_of(self.cosines[rows], limit=limit)]
        best = rows[np.lexsort((self.numbers[rows], self.cosines[rows]))[::-1][:limit]]
        return dict(zip(self.numbers[best].tolist(), self.cosines[best].tolist(), strict=True))

    def of(self, numbers: Numbers) -> NDArray[np.float64]:
        """The cosines of some of them."""
        places = np.searchsorted(self.numbers, numbers)
        there = places < len(self.numbers)
        there[there] = self.numbers[places[there]] == numbers[there]
        found = np.full(len(numbers), np.nan)
        found[there] = self.cosines[places[there]]
        return found


def of_all(clauses: SearchClauses) -> str:
    return f"{_columns(clauses)} FROM passages m WHERE {clauses.seen} AND {clauses.allowed}"


def of_sample(clauses: SearchClauses) -> str:
    return f"{of_all(clauses)} AND {DRAWN}"


def of_nearest(clauses: SearchClauses, condition: str, dimensions: int) -> str:
    """By the index of the team and model where there is one: its condition has to be said in its own words."""
    return f"""
        {_columns(clauses)} FROM (
          SELECT m.* FROM passages m
          WHERE m.team_id = :team AND m.model = :model AND {clauses.seen}
            AND CASE WHEN {condition} THEN true ELSE false END
          ORDER BY m.direction::halfvec({dimensions}) <=> :vector::halfvec({dimensions}) LIMIT :most) m"""


def read(row: Sequence[Any]) -> Scan:
    """What a statement of this module brought; its memories are taken for all there are."""
    listed, measured, flags = (column or b"" for column in row)
    numbers, cosines = np.frombuffer(listed, ">i8").astype(np.int64), np.frombuffer(measured, ">f4").astype(np.float32)
    near = flags_in(flags)[1] if flags else np.ones(len(numbers), np.bool_)
    if len(numbers):
        order = np.argsort(numbers, kind="stable")
        firsts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        numbers, near = numbers[order][firsts], near[order][firsts]
        cosines = np.fmax.reduceat(cosines[order], firsts)
    return Scan(numbers, cosines, near, _pool(cosines))


def joined(every: Sequence[Scan], *, size: int) -> Scan:
    """A sample of so many, and what an index found of them."""
    numbers, firsts = np.unique(np.concatenate([one.numbers for one in every]), return_index=True)
    cosines = np.concatenate([one.cosines for one in every])[firsts]
    near = np.concatenate([one.near for one in every])[firsts]
    pool = replace(every[0].pool, size=size)
    return Scan(numbers, cosines, near, pool, is_whole=False, has_nearest=len(every) > 1)


def _columns(clauses: SearchClauses) -> str:
    near = f"string_agg({clauses.flags}, '')" if clauses.has_reach else "NULL"
    cosines = f"string_agg(float4send(coalesce({COSINE}, 'NaN')::real), '')"
    return f"SELECT string_agg(int8send(m.number), ''), {cosines}, {near}"


def _pool(cosines: NDArray[np.float32]) -> Pool:
    """How they are spread, by every so many of them."""
    size = len(cosines)
    sample = cosines[:: -(-size // SAMPLE) or 1].astype(np.float64)
    sample = sample[~np.isnan(sample)]
    return Pool(size, len(sample), float(sample.mean()), float(sample.std())) if len(sample) else Pool(size)


def text_of(vector: Vector) -> str:
    """At the length of one, as the database reads it."""
    unit = vector / max(float(np.linalg.norm(vector)), 1e-30)
    return f"[{','.join(map(str, unit.tolist()))}]"
