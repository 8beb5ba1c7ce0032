"""Searching by words with FTS5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import apsw

from mycel.access.scope import ReadScope
from mycel.contracts.store import Match
from mycel.domain.query import Filters
from mycel.domain.words import Plan
from mycel.stores.sqlite.clauses import matching, visible

# Weights of title, summary, content and tags. A heavier title lost recall: 82.0 % at 1.5, 80.7 at 3 on SciFact.
_RANK = "bm25(memory_words, 1.5, 1.0, 1.0, 1.5)"


def search_words(
    connection: apsw.Connection, scope: ReadScope, plan: Plan, *, filters: Filters, limit: int
) -> list[Match]:
    """The best matches in sight, best first; filters and scope apply before the limit."""
    if not plan.anchors and not plan.phrases:
        return []
    seen, values = visible(scope)
    wanted, filter_values = matching(filters)
    # CROSS JOIN: drive from the words. Left to itself the planner may scan an index of memories instead.
    # By rowid, FTS5 walks backwards and stops at the limit; by the equal m.number it would rank every row first.
    best_first = "memory_words.rowid DESC" if plan.newest_first else "rank, m.number DESC"
    sql = f"""
        SELECT m.number, -{_RANK} AS score, {_RANK} AS rank
        FROM memory_words CROSS JOIN memories m ON m.number = memory_words.rowid
        WHERE memory_words MATCH :question AND {seen} AND {wanted}
        ORDER BY {best_first} LIMIT :limit"""
    bound = {**values, **filter_values, "question": match_expression(plan), "limit": limit}
    found = [Match(number, score) for number, score, _ in connection.execute(sql, bound)]
    return sorted(found, key=lambda match: -match.score) if plan.newest_first else found


def match_expression(plan: Plan) -> str:
    """Every token is quoted, so nothing a person types is query syntax.

    FTS5 ranks by every term the expression names: (anchors) AND (anchors or ranking) adds the ranking terms without
    letting them find rows; they stand twice in it because the anchors do.
    """
    groups = [" AND ".join(_quoted(term) for term in group) for group in plan.anchors]
    phrases = [" + ".join(_quoted(term) for term in phrase) for phrase in plan.phrases]
    found = " OR ".join(f"({part})" for part in groups + phrases)
    if not plan.ranking:
        return found
    weighed = [_quoted(term) for group in plan.anchors for term in group]
    weighed += [_quoted(term) for term in plan.ranking for _ in range(2)]
    return f"({found}) AND ({' OR '.join(weighed + phrases)})"


def word_frequencies(connection: apsw.Connection, terms: Iterable[str]) -> Mapping[str, int]:
    """In how many memories each term stands. The cost grows with the answer, so callers keep it."""
    found: dict[str, int] = {}
    for term in terms:
        row = connection.execute("SELECT doc FROM memory_vocabulary WHERE term = ?", (term,)).fetchone()
        found[term] = row[0] if row else 0
    return found


def count_documents(connection: apsw.Connection) -> int:
    """Close enough for weighing words: numbers are given out in order and few are purged."""
    return connection.execute("SELECT ifnull(max(number), 0) FROM memories").fetchone()[0]


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
