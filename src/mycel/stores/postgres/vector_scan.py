"""How near the passages of a team are to a question: measured one by one over all that the filters leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.domain.recall import Pool
from mycel.index.team_index import SAMPLE
from mycel.stores.postgres.search_clauses import SearchClauses, flags_in

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]

# Vectors are kept as they were rounded to bytes, beside what makes them as long as one. Those of another model may have
# other dimensions, and are not measured.
COSINE = "CASE WHEN m.model = :model THEN -(m.direction <#> :vector::halfvec) * m.inverse_norm END"


class Scan(NamedTuple):
    """Memories in columns, in the order of their numbers, with the cosine of the best passage: none is not a number."""

    numbers: Numbers
    cosines: NDArray[np.float32]
    near: Flags

    def nearest(self, *, reach: bool, only: Numbers | None, limit: int) -> dict[int, float]:
        """The best of all, or of those in reach; of equals those with the higher number."""
        wanted = ~np.isnan(self.cosines)
        if reach:
            wanted &= self.near
        if only is not None:
            wanted &= np.isin(self.numbers, only)
        rows = np.flatnonzero(wanted)
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

    def pool(self) -> Pool:
        """How the cosines are spread, by every so many of the memories."""
        size = len(self.numbers)
        cosines = self.cosines[:: -(-size // SAMPLE) or 1].astype(np.float64)
        cosines = cosines[~np.isnan(cosines)]
        if not len(cosines):
            return Pool(size)
        return Pool(size, len(cosines), float(cosines.mean()), float(cosines.std()))


def of_all(clauses: SearchClauses) -> str:
    return f"""
        SELECT string_agg(int8send(m.number), ''), string_agg(float4send(coalesce({COSINE}, 'NaN')::real), ''),
          {f"string_agg({clauses.flags}, '')" if clauses.has_reach else "NULL"}
        FROM passages m WHERE {clauses.seen} AND {clauses.allowed}"""


def read(row: Sequence[Any]) -> Scan:
    listed, measured, flags = (column or b"" for column in row)
    numbers, cosines = np.frombuffer(listed, ">i8").astype(np.int64), np.frombuffer(measured, ">f4").astype(np.float32)
    near = flags_in(flags)[1] if flags else np.ones(len(numbers), np.bool_)
    order = np.argsort(numbers, kind="stable")
    firsts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    if not len(firsts):
        return Scan(numbers, cosines, near)
    return Scan(numbers[order][firsts], np.fmax.reduceat(cosines[order], firsts), near[order][firsts])


def text_of(vector: Vector) -> str:
    """At the length of one, as the database reads it."""
    unit = vector / max(float(np.linalg.norm(vector)), 1e-30)
    return f"[{','.join(map(str, unit.tolist()))}]"
