"""Searching by words with FTS5."""

from __future__ import annotations

import json

import apsw

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import Match
from mycel.domain.indexed_words import Plan
from mycel.domain.query import Filters
from mycel.retrieval.bm25 import COLUMN_WEIGHTS, rarity_of
from mycel.stores.sqlite.clauses import matching, visible
from mycel.stores.sqlite.frequencies import Counted
from mycel.stores.sqlite.word_index import audience_query, quoted

# Ranking a row for one reader costs 5 µs, not 0.7: of more than this many the newest are ranked.
RANKED_FOR_READER = 2_500

_RANK = f"bm25(memory_words, {', '.join(map(str, COLUMN_WEIGHTS))})"


def search_shared(
    connection: apsw.Connection, scope: ReadScope, plan: Plan, *, filters: Filters, limit: int, counted: Counted
) -> list[Match]:
    """The best matches of what everybody may read.

    FTS5 ranks them by what everybody may read. That is quick, and right unless this reader has so much more to read
    that a word is more or less rare in it: then they are ranked as the restricted ones are.
    """
    if not counted.like_shared:
        return _ranked_for_reader(connection, scope, plan, filters, limit, counted, table="memory_words")
    seen, values = visible(scope)
    wanted, filter_values = matching(filters)
    # CROSS JOIN: drive from the words. Left to itself the planner may scan an index of memories instead.
    # By rowid, FTS5 walks backwards and stops at the limit; by the equal m.number it would rank every row first.
    best_first = "memory_words.rowid DESC" if plan.newest_first else "rank, m.number DESC"
    sql = f"""
        SELECT m.number, {_RANK} AS rank
        FROM memory_words CROSS JOIN memories m ON m.number = memory_words.rowid
        WHERE memory_words MATCH :question AND {seen} AND {wanted}
        ORDER BY {best_first} LIMIT :limit"""
    bound = {**values, **filter_values, "question": match_expression(plan), "limit": limit}
    # Named once: SQLite would work it out for every row as often as it is named.
    return [Match(number, -rank) for number, rank in connection.execute(sql, bound)]


def search_restricted(
    connection: apsw.Connection, scope: ReadScope, plan: Plan, *, filters: Filters, limit: int, counted: Counted
) -> list[Match]:
    """The best matches of what not everybody may read, ranked by what this reader may read."""
    return _ranked_for_reader(
        connection, scope, plan, filters, limit, counted, table="restricted_words", audience=audience_query(scope)
    )


def _ranked_for_reader(
    connection: apsw.Connection,
    scope: ReadScope,
    plan: Plan,
    filters: Filters,
    limit: int,
    counted: Counted,
    *,
    table: str,
    audience: str | None = None,
) -> list[Match]:
    seen, values = visible(scope)
    wanted, filter_values = matching(filters)
    sql = f"""
        SELECT m.number, bm25_by({table}, :rarities, :usual_length)
        FROM {table} CROSS JOIN memories m ON m.number = {table}.rowid
        WHERE {table} MATCH :question AND {seen} AND {wanted}
        ORDER BY {table}.rowid DESC LIMIT :most"""
    rarities = {term: rarity_of(count, counted.documents) for term, count in counted.frequencies.items()}
    question = match_expression(plan)
    bound = {
        **values,
        **filter_values,
        "question": question if audience is None else f"{audience} AND - audience : ({question})",
        "rarities": json.dumps(rarities),
        "usual_length": counted.usual_length,
        "most": limit if plan.newest_first else RANKED_FOR_READER,
    }
    return [Match(number, score) for number, score in connection.execute(sql, bound)]


def best_of(found: list[Match], plan: Plan, *, limit: int) -> list[Match]:
    if plan.newest_first:
        found = sorted(found, key=lambda match: -match.number)[:limit]
    return sorted(found, key=lambda match: (-match.score, -match.number))[:limit]


def match_expression(plan: Plan) -> str:
    """Every token is quoted, so nothing a person types is query syntax.

    FTS5 ranks by every term the expression names: (anchors) AND (anchors or ranking) adds the ranking terms without
    letting them find rows; they stand twice in it because the anchors do.
    """
    groups = [" AND ".join(quoted(term) for term in group) for group in plan.anchors]
    phrases = [" + ".join(quoted(term) for term in phrase) for phrase in plan.phrases]
    found = " OR ".join(f"({part})" for part in groups + phrases)
    if not plan.ranking:
        return found
    weighed = [quoted(term) for group in plan.anchors for term in group]
    weighed += [quoted(term) for term in plan.ranking for _ in range(2)]
    return f"({found}) AND ({' OR '.join(weighed + phrases)})"


def named_terms(plan: Plan) -> list[str]:
    groups = (*plan.anchors, plan.ranking, *plan.phrases)
    return [term for group in groups for term in group]
