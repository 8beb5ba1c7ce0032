"""Which memories of a team hold which terms, as the database finds them, and how well they match by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mycel.contracts.search_store import WordStatistics
from mycel.index.word_scores import term_scores
from mycel.retrieval.lexical import rarities_of
from mycel.stores.postgres.search_clauses import SearchClauses, flags_in

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]


def _columns(*values: str) -> str:
    """Each as one run of bytes. Nothing of a row that the reader does not see, but that it was looked at."""
    return ", ".join(("count(*)", *(f"string_agg({value}, '') FILTER (WHERE m.flags IS NOT NULL)" for value in values)))


_COLUMNS = _columns(
    "int8send(t.number)", "int4send(t.tokens)", "int4send(length(t.counts))", "t.numbers", "t.counts", "m.flags"
)


class WordMatches(NamedTuple):
    """Memories in columns. `counts` has a row for each of them, with a number for each of the terms asked about.

    `looked_at` is how many hold any of the terms, seen or not.
    """

    looked_at: int
    numbers: Numbers
    lengths: NDArray[np.float32]
    counts: NDArray[np.uint8]
    alive: Flags
    near: Flags
    allowed: Flags

    def frequencies(self, places: Sequence[int]) -> list[int]:
        """In how many of those that are not deleted each of these terms stands."""
        return np.count_nonzero(self.counts[self.alive][:, list(places)], axis=0).tolist()

    def holding_all(self, places: Sequence[int]) -> list[int]:
        """Those allowed that hold every one of these terms, the newest first."""
        return sorted(self.numbers[self.allowed & self.counts[:, list(places)].all(axis=1)].tolist(), reverse=True)

    def scored(
        self, terms: Sequence[str], statistics: WordStatistics, *, among: Sequence[Flags], limit: int
    ) -> dict[int, float]:
        """The best of each set, by the formula that scores on SQLite; of equals those with the higher number."""
        rarities = rarities_of(terms, frequencies=statistics.frequencies, documents=statistics.documents)
        sums = np.zeros(len(self.numbers), np.float32)
        for term, rarity in rarities.items():
            counts = self.counts[:, terms.index(term)]
            sums += term_scores(rarity, counts, self.lengths, statistics.usual_length)
        found: dict[int, float] = {}
        for flags in among:
            rows = np.flatnonzero(flags & (sums > 0))
            best = rows[np.lexsort((self.numbers[rows], sums[rows]))[::-1][:limit]]
            found |= dict(zip(self.numbers[best].tolist(), sums[best].tolist(), strict=True))
        return found


def of_some(clauses: SearchClauses, *, together: bool, most: int) -> str:
    """Those in sight that hold any of the `finders`, or all of them together, of the first so many there are.

    In so many words: a plan for whatever limit is given would rather read the whole table than ask the index.
    """
    return f"""
        SELECT {_COLUMNS}
        FROM (
          SELECT number, tokens, numbers, counts FROM searched_terms
          WHERE terms {"@>" if together else "&&"} :finders::bigint[] LIMIT {most}) t
        LEFT JOIN LATERAL (
          SELECT {clauses.flags} AS flags FROM passages m
          WHERE m.number = t.number AND m.passage = 0 AND {clauses.seen} OFFSET 0) m ON true"""


def of_listed(clauses: SearchClauses) -> str:
    """Those of the `numbers` that are in sight."""
    return f"""
        SELECT {_COLUMNS}
        FROM searched_terms t LEFT JOIN LATERAL (
          SELECT {clauses.flags} AS flags FROM passages m
          WHERE m.number = t.number AND m.passage = 0 AND {clauses.seen} OFFSET 0) m ON true
        WHERE t.number = ANY (:numbers::bigint[])"""


def of_allowed(clauses: SearchClauses) -> str:
    """All that hold any of the `finders` and pass the filters, whichever is looked at first."""
    return f"""
        SELECT {_COLUMNS}
        FROM searched_terms t JOIN (
          SELECT number, {clauses.flags} AS flags FROM passages m
          WHERE m.passage = 0 AND {clauses.seen} AND {clauses.allowed}) m ON m.number = t.number
        WHERE t.terms && :finders::bigint[]"""


HELD = f"""
    SELECT {_COLUMNS} FROM searched_terms t CROSS JOIN (SELECT int2send(0::int2) AS flags) m
    WHERE t.number = ANY (:numbers::bigint[])"""


# As `read` has them where nothing was found.
NOTHING = (0, *(None for _ in range(6)))


def read(row: Sequence[Any], terms: Sequence[int]) -> WordMatches:
    """What a statement of this module brought, as far as these terms are concerned."""
    looked_at, *columns = row
    numbers, tokens, sizes, held, times, flags = (column or b"" for column in columns)
    owners = np.repeat(np.arange(len(sizes) // 4), np.frombuffer(sizes, ">i4"))
    listed, often = np.frombuffer(held, ">i8").astype(np.int64), np.frombuffer(times, np.uint8)
    counts = np.zeros((len(sizes) // 4, len(terms)), np.uint8)
    for place, term in enumerate(terms):
        there = np.flatnonzero(listed == term)
        counts[owners[there], place] = often[there]
    return WordMatches(
        looked_at,
        np.frombuffer(numbers, ">i8").astype(np.int64),
        np.maximum(np.frombuffer(tokens, ">i4"), 1).astype(np.float32),
        counts,
        *flags_in(flags),
    )
