"""One ranking over candidates of several stores, whose own word scores cannot be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mycel.domain.memory import Memory
from mycel.retrieval.bm25 import COLUMN_WEIGHTS, damping_of, rarity_of, term_score
from mycel.retrieval.columns import indexed_text
from mycel.retrieval.lexical import Question


def score_together(
    question: Question, memories: Sequence[Memory], *, frequencies: Mapping[str, int], documents: int
) -> list[float]:
    """One score each, by BM25 with the document frequencies of all stores added up."""
    counted = [_count(memory) for memory in memories]
    usual_length = sum(length for _, length in counted) / len(counted) if counted else 1.0
    # Also of terms that no present text has: a past one may.
    rarities = {term: rarity_of(frequencies.get(term, 0), documents) for term in question.terms}
    return [_score(rarities, counts, damping=damping_of(length, usual_length)) for counts, length in counted]


def _score(rarities: Mapping[str, float], counts: Mapping[str, float], *, damping: float) -> float:
    return sum(term_score(rarity, counts[term], damping=damping) for term, rarity in rarities.items() if term in counts)


def _count(memory: Memory) -> tuple[Mapping[str, float], int]:
    counts: dict[str, float] = defaultdict(float)
    length = 0
    for text, weight in zip(indexed_text(memory), COLUMN_WEIGHTS, strict=True):
        tokens = text.split()
        length += len(tokens)
        for token in tokens:
            counts[token] += weight
    return counts, length
