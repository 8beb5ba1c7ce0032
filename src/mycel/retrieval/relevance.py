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

# Logistic fit of "a hit among the first ten answers the question": a constant, luck, the question's length, and of the
# hit how much of what the question tells it holds, its score, and how far that stands above what is typical for the
# question. Nothing looks at the best: a second answer is worth as much as the first.
USEFUL = (-0.7, -1.6, 0.65, 0.45, 0.4, 1.0)
# With words alone, for 20 texts and more: a constant, luck, length, coverage, score, and how far above the typical.
USEFUL_WORDS = (-1.95, -1.35, 1.25, 1.2, 0.95, 3.4)
LEAST_TEXTS_WORDS = 20
# More words than these say no more about what is wanted.
MOST_WORDS = 8

# Typical for a question are the scores of these places, copies left out: answers are seldom so many, and these are the
# nearest of what does not answer. Where there are fewer texts, nothing stands there. A crowd of answers makes nothing
# typical beyond what one question in twenty has there: so much for each unit of luck from where it begins.
TYPICAL = slice(8, 20)
MOST_TYPICAL, MOST_TYPICAL_WORDS, TYPICAL_FROM = 3.2, 0.7, 2.45
# The cosines of one question spread no wider, in the model's usual spreads, and lie no higher, in deviations of its
# background, in any store measured: beyond that a crowd of copies has moved them.
WIDEST, HIGHEST = 1.3, 3.5

# Unless asked otherwise: nothing when the store is unlikely to know of the matter, else whatever speaks for itself so
# far, its part of the sum above without constant and luck; by words alone without the length as well, which would
# silence short questions. More costs recall on LoCoMo: docs/decisions/0009-relevance.md.
LEAST_TOPIC, CUT = 0.15, 2.1
LEAST_BEST_WORDS, LEAST_COVERAGE_WORDS, CUT_WORDS = 0.02, 0.15, 0.45
# Whatever would read as 0.00 is never worth showing, and in the smallest stores little is enough.
LEAST_HIT, MOST_NEEDED = 0.005, 0.05
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
    evidence: Sequence[Evidence],
    scores: Sequence[float],
    pool: Pool,
    scale: Scale,
    weights: Weights,
    *,
    heads: Sequence[int],
    crowded: bool,
) -> Judgement:
    """What has no vector yet, or most of the question's words, is judged by its words and shown by them alone.

    `heads` are the places of those that say nothing over again, and `crowded` is whether many others do.
    """
    measured = [row for row in evidence if row.cosine is not None]
    by_words = judge_words(evidence, weights, texts=pool.size, heads=heads, of=told_by_words)
    if not measured:
        return by_words
    nearest = max(measured, key=lambda row: row.cosine or 0.0)
    margin = scale.of(nearest.cosine or 0.0)
    luck = _luck(pool.size, at_least=LEAST_TEXTS)
    best = evidence[scores.index(max(scores))]
    topic = _on_topic(nearest, best, pool, margin=margin, luck=luck, background=scale.background)
    base, by_luck, by_length, told, found, above = USEFUL
    chance = base + by_luck * luck
    length = by_length * _length(weights)
    moved = _uncrowded(evidence, scores, scale) if crowded else scores
    typical = _typical([moved[place] for place in heads], luck, most=MOST_TYPICAL)

    def by_meaning(row: Evidence, score: float, own: float) -> float:
        speaks = row.bm25 > 0 or score > 0 or _near(row, scale.background)
        if row.cosine is None or not speaks or (topic < LEAST_TOPIC and by_words.least < NOTHING):
            return 0.0
        return topic * _sigmoid(chance + length + told * row.share + found * own + above * (own - typical))

    meant = map(by_meaning, evidence, scores, moved)
    relevances = list(map(max, meant, by_words.relevances))
    # Among a crowd what is usual is a guess: only the hopeless are left out.
    least = LEAST_HIT if crowded else max(LEAST_HIT, topic * _needed(chance + CUT))
    return Judgement(relevances, least if topic >= LEAST_TOPIC else by_words.least)


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
    heads: Sequence[int],
    scores: Sequence[float] | None = None,
    of: Callable[[Evidence], bool] = lambda row: True,
) -> Judgement:
    """With words alone. Whatever has none of them says nothing, and so does what is not asked for by `of`."""
    found = scores or [words_score(row, weights, alone=True) for row in evidence]
    rows = [(row, score) for row, score in zip(evidence, found, strict=True) if row.bm25 > 0 and of(row)]
    if not rows:
        return Judgement([0.0] * len(evidence), NOTHING)
    best, _ = max(rows, key=lambda pair: pair[1])
    base, by_luck, by_length, covered, told, above = USEFUL_WORDS
    luck = _luck(texts, at_least=LEAST_TEXTS_WORDS)
    chance = base + by_luck * luck
    length = by_length * _length(weights)
    typical = _typical([found[place] for place in heads], luck, most=MOST_TYPICAL_WORDS)
    judged = {
        id(row): _sigmoid(chance + length + covered * row.coverage + told * score + above * (score - typical))
        for row, score in rows
    }
    worth_it = max(judged.values()) >= LEAST_BEST_WORDS and best.coverage >= LEAST_COVERAGE_WORDS
    relevances = [judged.get(id(row), 0.0) for row in evidence]
    return Judgement(relevances, _needed(chance + length + CUT_WORDS) if worth_it else NOTHING)


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


def _uncrowded(evidence: Sequence[Evidence], scores: Sequence[float], scale: Scale) -> list[float]:
    """Scores as they would be where no crowd of copies says what is usual."""
    background = scale.background
    widest = WIDEST * background.spread
    # A crowd at the upper end widens the spread about as far as it lifts the mean.
    mean = min(
        scale.mean - sqrt(max(0.0, scale.spread**2 - widest**2)), background.mean + HIGHEST * background.deviation
    )
    usual = Scale(mean, min(scale.spread, widest), background)
    return [
        score if row.cosine is None else score - scale.of(row.cosine) + usual.of(row.cosine)
        for row, score in zip(evidence, scores, strict=True)
    ]


def _needed(x: float) -> float:
    return min(max(LEAST_HIT, _sigmoid(x)), MOST_NEEDED)


def _typical(scores: Sequence[float], luck: float, *, most: float) -> float:
    found = sum(sorted(scores, reverse=True)[TYPICAL]) / (TYPICAL.stop - TYPICAL.start)
    return min(found, most * max(0.0, luck - TYPICAL_FROM))


def _length(weights: Weights) -> float:
    """A long question says more of what it wants."""
    return log(min(max(1, len(weights.question.words)), MOST_WORDS))


def _luck(texts: int, *, at_least: int) -> float:
    return sqrt(2 * log(min(max(texts, at_least), MOST_TEXTS)))


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
