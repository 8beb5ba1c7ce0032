"""Which candidates stand beside each other: by their own rows, and by what lies between two where that decides."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice, takewhile
from typing import Any, NamedTuple

import numpy as np

from mycel.domain.neighbourhood import Neighbourhood
from mycel.stores.postgres.search_clauses import SearchClauses
from mycel.stores.postgres.word_matches import Numbers

_RULE = Neighbourhood()
_WITHIN = _RULE.within // timedelta(microseconds=1)

SAVED_WITH = """
    SELECT m.number, m.created_at, m.path, m.agent_id, m.session_id, m.source_id FROM passages m
    WHERE m.number = ANY (:numbers::bigint[]) AND m.passage = 0"""


class Pair(NamedTuple):
    """A memory and one that may be its neighbour."""

    number: int
    other: int

    @property
    def is_certain(self) -> bool:
        """So few lie between the two that they cannot all be nearer."""
        return abs(self.number - self.other) <= _RULE.beside


def close_together(numbers: Numbers) -> list[int]:
    """Those that have another one within the window."""
    is_close = np.diff(numbers) <= _RULE.window
    return numbers[np.append(is_close, False) | np.append(False, is_close)].tolist() if len(numbers) else []


def pairs_of(rows: Iterable[tuple[Any, ...]], in_reach: frozenset[int]) -> Iterator[Pair]:
    """Of memories as `SAVED_WITH` has them, each with the nearest of those in reach that were saved with it."""
    together: defaultdict[tuple[Any, ...], dict[int, int]] = defaultdict(dict)
    for number, created_at, *saved_with in rows:
        together[tuple(saved_with)][number] = created_at
    for moments in together.values():
        reached = sorted(in_reach & moments.keys())
        for number, moment in moments.items():
            place = bisect_left(reached, number)
            for side in (reversed(reached[:place]), reached[bisect_right(reached, number) :]):
                within = takewhile(lambda other, number=number: abs(other - number) <= _RULE.window, side)
                saved = (other for other in within if abs(moments[other] - moment) <= _WITHIN)
                yield from (Pair(number, other) for other in islice(saved, _RULE.beside))


def nearest_pairs(clauses: SearchClauses, *, has_only: bool) -> str:
    """Of the pairs of `numbers` and `others`, those between which less lies than a memory has neighbours on a side."""
    only = "AND m.number = ANY (:only::bigint[])" if has_only else ""
    return f"""
        SELECT p.number, p.other
        FROM unnest(:numbers::bigint[], :others::bigint[]) AS p (number, other)
        JOIN passages o ON o.number = p.number AND o.passage = 0
        WHERE (
          SELECT count(*) FROM (
            SELECT 1 FROM passages m
            WHERE m.number BETWEEN least(p.number, p.other) + 1 AND greatest(p.number, p.other) - 1 AND m.passage = 0
              AND m.path = o.path AND m.agent_id = o.agent_id AND m.session_id IS NOT DISTINCT FROM o.session_id
              AND m.source_id IS NOT DISTINCT FROM o.source_id AND abs(m.created_at - o.created_at) <= {_WITHIN}
              AND {clauses.seen} AND CASE WHEN {clauses.near} THEN true ELSE false END {only}
            LIMIT {_RULE.beside}) b
        ) < {_RULE.beside}"""


def by_number(pairs: Sequence[Pair]) -> dict[int, tuple[int, ...]]:
    """Those before it, from the nearest on, and then those after it."""
    found: defaultdict[int, tuple[int, ...]] = defaultdict(tuple)
    for number, other in sorted(pairs, key=lambda pair: (pair.other > pair.number, abs(pair.other - pair.number))):
        found[number] += (other,)
    return found
