"""How common the terms of a large team are, as some two thousand of the memories that a reader sees tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.access.scope import ReadScope
from mycel.stores.sql.clauses import Clause, visible

SAMPLED = 2_048
# Every memory draws one of so many lots, by its id alone: no other memory has a part in which are sampled.
LOTS = 1_024
# Said twice, because the index of lots is asked by nothing less.
DRAWN = f"m.lot < :lots AND m.lot < {LOTS}"
# A term seen less often is as good as unknown, and taken for rare.
LEAST_SEEN = 3
# A sample serves until the team has changed by this share.
TOLERANCE = 0.01
# Rarest first, terms find memories for as long as so many hold them together; the others only score what was found.
FINDING_ROWS = 1_000


class TermSample(NamedTuple):
    """The numbers of the terms that some hold, in order, and how many hold each.

    `documents` is how many memories the reader saw when it was taken, at that place of the log.
    """

    numbers: NDArray[np.int64]
    seen: NDArray[np.int64]
    sampled: int
    documents: int
    sequence: int

    def serves(self, sequence: int) -> bool:
        return abs(sequence - self.sequence) <= TOLERANCE * self.documents

    def estimates(self, numbers: Sequence[int]) -> list[int]:
        """In how many memories each of them may stand; 0 where only looking it up can tell."""
        wanted = np.array(numbers, np.int64)
        places = np.searchsorted(self.numbers, wanted)
        seen = np.where(np.append(self.numbers, 0)[places] == wanted, np.append(self.seen, 0)[places], 0)
        return np.rint(seen * (self.documents / max(self.sampled, 1))).astype(np.int64).tolist()


def lots_for(documents: int, *, wanted: int) -> int:
    """How many lots hold as many memories as are wanted, or a few more."""
    return min(LOTS, -(-LOTS * wanted // max(documents, 1)))


def of_sample(scope: ReadScope, documents: int) -> Clause:
    seen, values = visible(scope)
    sql = f"""
        SELECT count(*), string_agg(t.numbers, '') FROM passages m JOIN searched_terms t ON t.number = m.number
        WHERE {DRAWN} AND m.passage = 0 AND m.deleted_at IS NULL AND {seen}"""
    return sql, {**values, "lots": lots_for(documents, wanted=SAMPLED)}


def read(row: Sequence[Any], *, documents: int, sequence: int) -> TermSample:
    sampled, held = row
    numbers, seen = np.unique(np.frombuffer(held or b"", ">i8").astype(np.int64), return_counts=True)
    known = seen >= LEAST_SEEN
    return TermSample(numbers[known], seen[known], sampled, documents, sequence)


def finders_among(
    terms: Sequence[str], phrases: Iterable[Sequence[str]], counts: Mapping[str, int], *, rows: int
) -> list[str]:
    """The rarest terms, up to so many rows together; those of which nothing is known are taken for rare.

    At least one is among them, and one of each phrase: what is quoted must be found whatever it is made of.
    """
    ordered = sorted(terms, key=lambda term: counts.get(term, 0))
    found: list[str] = []
    total = 0
    for term in ordered:
        total += counts.get(term, 0)
        if found and total > rows:
            break
        found.append(term)
    rarest = (min(phrase, key=lambda term: counts.get(term, 0)) for phrase in phrases)
    return list(dict.fromkeys((*found, *rarest)))
