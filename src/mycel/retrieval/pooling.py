"""One ranking over candidates of several stores, whose own word scores cannot be compared."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from mycel.domain.memory import Memory
from mycel.retrieval.columns import indexed_text
from mycel.retrieval.lexical import Question

# The usual BM25 constants, as FTS5 has them.
SATURATION = 1.2
LENGTH_WEIGHT = 0.75
COLUMN_WEIGHTS = (1.5, 1.0, 1.0, 1.5)


def score_together(
    question: Question,
    candidates: Sequence[tuple[Memory, float]],
    *,
    frequencies: Mapping[str, int],
    documents: int,
) -> list[tuple[Memory, float]]:
    """Best first, by BM25 with the document frequencies of all stores added up."""
    counted = [(memory, *_count(memory)) for memory, _ in candidates]
    if not counted:
        return []
    usual_length = sum(length for _, _, length in counted) / len(counted) or 1.0
    weights = {
        term: math.log(1 + (documents - count + 0.5) / (count + 0.5))
        for term, count in ((term, frequencies.get(term, 0)) for term in question.terms)
        if count
    }
    scored: list[tuple[Memory, float]] = []
    for memory, counts, length in counted:
        damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / usual_length)
        score = sum(
            weight * counts[term] * (SATURATION + 1) / (counts[term] + damping)
            for term, weight in weights.items()
            if term in counts
        )
        scored.append((memory, score))
    return sorted(scored, key=lambda pair: -pair[1])


def _count(memory: Memory) -> tuple[Mapping[str, float], int]:
    counts: dict[str, float] = defaultdict(float)
    length = 0
    for text, weight in zip(indexed_text(memory), COLUMN_WEIGHTS, strict=True):
        tokens = text.split()
        length += len(tokens)
        for token in tokens:
            counts[token] += weight
    return counts, length
