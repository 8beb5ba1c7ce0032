"""What stands right before and after a memory: found a few steps from it, in the order of their numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from mycel.domain.neighbourhood import Neighbourhood
from mycel.stores.postgres.connection import as_array
from mycel.stores.postgres.search_clauses import SearchClauses
from mycel.stores.postgres.word_matches import Numbers
from mycel.stores.sql.clauses import Clause

_RULE = Neighbourhood()
_WITHIN = _RULE.within // timedelta(microseconds=1)
_BEFORE = f"BETWEEN o.number - {_RULE.window} AND o.number - 1", "DESC"
_AFTER = f"BETWEEN o.number + 1 AND o.number + {_RULE.window}", "ASC"


def of(clauses: SearchClauses, numbers: Iterable[int], *, only: Numbers | None) -> Clause:
    """Each of the numbers with those that `Neighbourhood.pick` picks from all that is in sight and in reach."""
    limited = "" if only is None else "AND m.number = ANY (:only::bigint[])"
    sql = f"""
        SELECT o.number, b.number FROM passages o CROSS JOIN LATERAL (
          {_side(clauses, _BEFORE, limited)} UNION ALL {_side(clauses, _AFTER, limited)}) b
        WHERE o.number = ANY (:numbers::bigint[]) AND o.passage = 0"""
    values: dict[str, Any] = {**clauses.values, "numbers": as_array(numbers)}
    return sql, values if only is None else {**values, "only": as_array(only)}


def _side(clauses: SearchClauses, side: tuple[str, str], limited: str) -> str:
    where, order = side
    return f"""(
        SELECT m.number FROM passages m
        WHERE m.number {where} AND m.passage = 0
          AND m.path = o.path AND m.agent_id = o.agent_id AND m.session_id IS NOT DISTINCT FROM o.session_id
          AND m.source_id IS NOT DISTINCT FROM o.source_id AND abs(m.created_at - o.created_at) <= {_WITHIN}
          AND {clauses.seen} AND CASE WHEN {clauses.near} THEN true ELSE false END {limited}
        ORDER BY m.number {order} LIMIT {_RULE.beside})"""


def by_number(pairs: Iterable[Sequence[int]]) -> Mapping[int, Sequence[int]]:
    """Those before it, from the nearest on, and then those after it."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number, other in sorted(pairs, key=lambda pair: (pair[1] > pair[0], abs(pair[1] - pair[0]))):
        found[number].append(other)
    return found
