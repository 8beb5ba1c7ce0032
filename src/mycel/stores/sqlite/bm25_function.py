"""BM25 as a function of FTS5 that is told how rare each term is, for the index in which FTS5 must not count."""

from __future__ import annotations

import json

import apsw

from mycel.retrieval.bm25 import COLUMN_WEIGHTS, damping_of, term_score


def register(connection: apsw.Connection) -> None:
    """`bm25_by(index, rarities as JSON, usual length)`."""
    connection.register_fts5_function("bm25_by", _bm25_by)


def _bm25_by(api: apsw.FTS5ExtensionApi, rarities: str, usual_length: float) -> float:
    """As FTS5's own: every term counts as often as the question names it."""
    phrases: list[tuple[int, float]] | None = api.aux_data
    if phrases is None:
        phrases = api.aux_data = _rarities_of(api.phrases, json.loads(rarities))
    length = sum(api.column_size(column) for column in range(len(COLUMN_WEIGHTS)))
    damping = damping_of(length, usual_length)
    score = 0.0
    for phrase, rarity in phrases:
        # The columns beyond these say who may read the row.
        places = zip(COLUMN_WEIGHTS, api.phrase_locations(phrase), strict=False)
        count = sum(weight * len(offsets) for weight, offsets in places)
        if count:
            score += term_score(rarity, count, damping=damping)
    return score


def _rarities_of(phrases: tuple[tuple[str | None, ...], ...], known: dict[str, float]) -> list[tuple[int, float]]:
    """Of the phrases with a known term. A phrase is at least as rare as the rarest of its terms."""
    rarities = [[known[term] for term in phrase if term in known] for phrase in phrases]
    return [(place, max(found)) for place, found in enumerate(rarities) if found]
