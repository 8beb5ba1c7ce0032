"""How likely a hit is useful, 0 to 1: that the store knows of the matter at all, times that this is it.

Unlike a score it means the same from question to question and from store to store. Fitted by
`training.fit` on the same questions as the fusion, each set checked while left out: docs/decisions/0009-relevance.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from mycel.contracts.embedder import Background
from mycel.domain.recall import Pool
from mycel.retrieval.fusion import SPREAD_TEXTS, Evidence, Scale, Weights, words_score

# The best of n unrelated texts stands sqrt(2 ln n) deviations above their mean by luck alone. Below 8 texts tiny
# stores would believe anything; above 10,000 nothing was measured.
LEAST_TEXTS, MOST_TEXTS = 8, 10_000

# Logistic fit of on-topic against off-topic questions: a constant, the nearest text's cosine in deviations of the
# background, luck, how far it stands out from the pool beyond luck, and how much of the question it covers.
TOPIC = (-1.3, 3.0, -2.0, 1.0, 1.5)
# One in a hundred off-topic questions finds three quarters of its words in the best hit.
COVERED, COVERED_BONUS = 0.75, 2.0

# Logistic fit of "a hit among the first ten answers the question": a constant, coverage, square root of the gap to
# the best score, luck, and how far the best cosine stands out.
USEFUL = (3.6, 1.0, -3.0, -1.7, 0.55)
# With words alone, for 20 texts and more: a constant, coverage, share of the best BM25, root of the gap, luck.
USEFUL_WORDS = (0.55, 2.05, 3.4, -3.5, -0.95)
LEAST_TEXTS_WORDS = 20

# Unless asked otherwise: nothing when the store is unlikely to know of the matter, else all but the hopeless. Ten
# times as much shows a fifth fewer hits and costs a point of recall at 10 on LoCoMo, but five on SciFact.
LEAST_TOPIC, LEAST_HIT = 0.25, 0.001
LEAST_BEST_WORDS, LEAST_COVERAGE_WORDS, LEAST_HIT_WORDS = 0.1, 0.15, 0.002
NOTHING = 2.0
# Deviations above what is usual for unrelated texts.
NEAR = 2.0

# What a memory of another project must reach to be shown here, and how many telling words a question needs for that:
# one or two say where to look, not what is asked.
STRONG = 0.6
STRONG_WORDS = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """A relevance for each candidate, and the one from which they are worth showing."""

    relevances: list[float]
    least: float


def judge(
    evidence: Sequence[Evidence], scores: Sequence[float], pool: Pool, scale: Scale, weights: Weights
) -> Judgement:
    """What has no vector yet, or most of the question's words, is judged by its words and shown by them alone."""
    measured = [row for row in evidence if row.cosine is not None]
    by_words = judge_words(evidence, weights, texts=pool.size, of=told_by_words)
    if not measured:
        return by_words
    best_score = max(scores)
    nearest = max(measured, key=lambda row: row.cosine or 0.0)
    margin = scale.of(nearest.cosine or 0.0)
    luck = _luck(pool.size, at_least=LEAST_TEXTS)
    best = evidence[scores.index(best_score)]
    topic = _on_topic(nearest, best, pool, margin=margin, luck=luck, background=scale.background)
    base, covered, gap, by_luck, by_margin = USEFUL
    common = base + by_luck * luck + by_margin * margin

    def by_meaning(row: Evidence, score: float) -> float:
        speaks = row.bm25 > 0 or score > 0 or _near(row, scale.background)
        if row.cosine is None or not speaks or (topic < LEAST_TOPIC and by_words.least < NOTHING):
            return 0.0
        return topic * _sigmoid(common + covered * row.coverage + gap * sqrt(best_score - score))

    found = (by_meaning(row, score) for row, score in zip(evidence, scores, strict=True))
    relevances = list(map(max, found, by_words.relevances))
    return Judgement(relevances, LEAST_HIT if topic >= LEAST_TOPIC else by_words.least)


def told_by_words(row: Evidence) -> bool:
    """Whether its words say enough, whatever its vector says."""
    return row.cosine is None or row.coverage >= COVERED


def _near(row: Evidence, background: Background) -> bool:
    """By itself, where it is no nearer than the others because they are all about the matter."""
    return row.cosine is not None and row.cosine >= background.mean + NEAR * background.deviation


def judge_words(
    evidence: Sequence[Evidence],
    weights: Weights,
    *,
    texts: int,
    scores: Sequence[float] | None = None,
    of: Callable[[Evidence], bool] = lambda row: True,
) -> Judgement:
    """With words alone. Whatever has none of them says nothing, and so does what is not asked for by `of`."""
    found = scores or [words_score(row, weights, alone=True) for row in evidence]
    rows = [(row, score) for row, score in zip(evidence, found, strict=True) if row.bm25 > 0 and of(row)]
    if not rows:
        return Judgement([0.0] * len(evidence), NOTHING)
    best, best_score = max(rows, key=lambda pair: pair[1])
    base, covered, by_bm25, gap, by_luck = USEFUL_WORDS
    common = base + by_luck * _luck(texts, at_least=LEAST_TEXTS_WORDS)
    judged = {
        id(row): _sigmoid(
            common + covered * row.coverage + by_bm25 * row.bm25 / weights.best_bm25 + gap * sqrt(best_score - score)
        )
        for row, score in rows
    }
    worth_it = max(judged.values()) >= LEAST_BEST_WORDS and best.coverage >= LEAST_COVERAGE_WORDS
    relevances = [judged.get(id(row), 0.0) for row in evidence]
    return Judgement(relevances, LEAST_HIT_WORDS if worth_it else NOTHING)


def _on_topic(
    nearest: Evidence, best: Evidence, pool: Pool, *, margin: float, luck: float, background: Background
) -> float:
    """How likely the store knows anything of what was asked."""
    # A small pool says little about itself.
    known = pool.size / (pool.size + SPREAD_TEXTS)
    cosine = background.mean if nearest.cosine is None else nearest.cosine
    base, by_cosine, by_luck, by_margin, by_coverage = TOPIC
    return _sigmoid(
        base
        + by_cosine * (cosine - background.mean) / background.deviation
        + by_luck * luck
        + by_margin * known * (margin - luck)
        + by_coverage * nearest.coverage
        + (COVERED_BONUS if best.coverage >= COVERED else 0.0)
    )


def _luck(texts: int, *, at_least: int) -> float:
    return sqrt(2 * log(min(max(texts, at_least), MOST_TEXTS)))


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
