"""How likely a hit is useful, 0 to 1: that the store knows of the matter at all, times that this is it.

Unlike a score it means the same from question to question and from store to store. Fitted by
`training.fit` on the same questions as the fusion, each set checked while left out: docs/decisions/0009-relevance.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from mycel.domain.recall import Pool
from mycel.retrieval.fusion import Evidence, Scale, Weights, words_score

# The best of n unrelated texts stands sqrt(2 ln n) deviations above their mean by luck alone. Above 10,000 texts
# nothing was measured.
MOST_TEXTS = 10_000

# Logistic fit of questions that the store can answer against others, in stores of one text to thousands: a constant,
# the nearest cosine in deviations of the model's background, luck squared, how much of what the question tells the best
# hit holds, one divided by the words of the question (a vector of one word says little), and how far the nearest stands
# out of what the team's own notes say to this question; then how many times `LARGE` texts there are as a logarithm, and
# that times both ways to be near: of thousands one stands out by chance, and only the model's own measure counts.
TOPIC = (-4.36, 1.56, -0.1, 3.17, -0.68, 0.19, -1.12, 0.6, -0.29)
LARGE = 300
# A model's background is that of English. Texts of another language are nearer to its questions, whatever they say: of
# that much more than usual, this share says nothing.
FOREIGN_SHARE = 0.4

# Logistic fit of "a hit among the first ten answers the question": a constant, luck, luck squared, and how far the hit
# stands above what is usual. Nothing looks at the best: a second answer is worth as much as the first.
USEFUL = (0.2, -1.75, -0.05, 1.0)
# With words alone: a constant, luck, luck squared, coverage, and the hit's score.
USEFUL_WORDS = (-1.0, -0.3, -0.3, 3.9, 2.35)
# The same for the best hit alone, which knows more: nothing speaks more for another one. A constant, coverage, luck,
# and how far the nearest cosine stands out; with words alone the share of the best BM25 instead. It is as relevant as
# the higher of the two figures says.
FIRST = (3.0, 1.0, -1.7, 0.55)
FIRST_WORDS = (0.55, 2.05, -0.95, 3.4)
# A team of three notes is asked about more than three matters: an answer has at least so many rivals.
FEWEST_RIVALS, FEWEST_RIVALS_WORDS = 5, 20
# What is usual for a question is the mean of its cosines; as much as that many texts count those of texts of one team
# that do not answer, half a deviation above the background. In small stores, and beside crowds of copies, the store's
# own mean says little.
USUAL_TEXTS, USUAL_ABOVE = 100, 0.5
# To a question in another language than English a team's own notes tell more of it than the background does.
USUAL_TEXTS_FOREIGN = 2

# Unless asked otherwise: nothing when the store is unlikely to know of the matter, else whatever stands above luck even
# less half its distance to the best, and whatever is likelier than not an answer. Luck counts from where it begins.
# The fewer notes, the less a weak best hit pads: `LEAST_TOPIC` holds from 100 notes on, up to ten it is half of that.
LEAST_TOPIC = 0.12
LEAST_TOPIC_SMALL, SMALL, LEAST_GROWS = 0.06, 10, 0.3
CUT, CUT_FROM = 0.8, 2.35
CUT_WORDS = 0.6
LIKELY = 0.5
LEAST_COVERAGE_WORDS = 0.15
# Beside a stronger hit, what is less relevant than this, and than this share of it, is padding; less so the more notes
# there are beyond `LARGE`, where a second answer is a small share of a great many.
TAIL, TAIL_SHARE = 0.02, 1 / 15
# What would be told as "0 %" is left out beside whatever it stands.
LEAST_SHOWN = 0.005
NOTHING = 2.0
# One in a hundred off-topic questions finds three quarters of its words in the best hit.
COVERED = 0.75

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
    by_words = judge_words(evidence, weights, texts=pool.size, of=lambda row: told_by_words(row, weights))
    if not measured:
        return by_words
    luck, rivals = _luck(pool.size), _luck(max(pool.size, FEWEST_RIVALS))
    first = scores.index(max(scores))
    best = evidence[first]
    nearest = max(row.cosine or 0.0 for row in measured)
    topic = _on_topic(nearest, best, pool=pool, scale=scale, weights=weights)
    base, by_luck, by_size, by_standing = USEFUL
    chance = base + by_luck * rivals + by_size * rivals**2
    usual = _usual(pool, scale, foreign=weights.question.is_foreign)
    lift = (scale.mean - usual) / scale.spread
    standing = [score + lift for score in scores]

    least_topic = _least_topic(pool.size)
    if topic < least_topic and by_words.least < NOTHING:
        return by_words
    relevances = [
        told if row.cosine is None else topic * _sigmoid(chance + by_standing * stands)
        for row, stands, told in zip(evidence, standing, by_words.relevances, strict=True)
    ]
    if best.cosine is not None:
        as_first = _weighed(FIRST, best.coverage, rivals, scale.of(nearest))
        relevances[first] = max(relevances[first], topic * as_first)
    if topic < least_topic:
        return Judgement(relevances, NOTHING)
    needed = _needed(max(standing), CUT * (luck - CUT_FROM))
    least = topic * min(LIKELY, _sigmoid(chance + by_standing * needed))
    return _judgement(evidence, relevances, least, weights, texts=pool.size)


def told_by_words(row: Evidence, weights: Weights) -> bool:
    """Whether its words are looked at by themselves, whatever its vector says."""
    return row.cosine is None or holds_what_is_asked(row, weights)


def holds_what_is_asked(row: Evidence, weights: Weights) -> bool:
    """Most of the words, or a rare name among them."""
    return row.bm25 > 0 and (row.coverage >= COVERED or weights.names_held(row))


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
    base, by_luck, by_size, covered, by_score = USEFUL_WORDS
    rivals = _luck(max(texts, FEWEST_RIVALS_WORDS))
    chance = base + by_luck * rivals + by_size * rivals**2
    judged = {id(row): _sigmoid(chance + covered * row.coverage + by_score * score) for row, score in rows}
    as_first = _weighed(FIRST_WORDS, best.coverage, rivals, best.bm25 / weights.best_bm25)
    judged[id(best)] = max(judged[id(best)], as_first)
    relevances = [judged.get(id(row), 0.0) for row in evidence]
    if best.coverage < LEAST_COVERAGE_WORDS and not any(holds_what_is_asked(row, weights) for row, _ in rows):
        return Judgement(relevances, NOTHING)
    needed = _needed(covered * best.coverage + by_score * best_score, CUT_WORDS)
    return _judgement(evidence, relevances, min(LIKELY, _sigmoid(chance + needed)), weights, texts=texts)


def _judgement(
    evidence: Sequence[Evidence], relevances: Sequence[float], least: float, weights: Weights, *, texts: int
) -> Judgement:
    """Whatever holds what is asked is shown, however weak it is."""
    tail = min(1.0, LARGE / max(1, texts)) * min(TAIL, TAIL_SHARE * max(relevances))
    least = max(least, LEAST_SHOWN, tail)
    literal = (holds_what_is_asked(row, weights) for row in evidence)
    return Judgement([max(one, least) if is_so else one for one, is_so in zip(relevances, literal, strict=True)], least)


def _on_topic(nearest: float, best: Evidence, *, pool: Pool, scale: Scale, weights: Weights) -> float:
    """How likely the store knows anything of what was asked."""
    background, texts = scale.background, pool.size
    expected = background.mean
    if weights.question.is_foreign:
        expected += FOREIGN_SHARE * max(0.0, _usual(pool, scale, foreign=True) - expected)
    near = (nearest - expected) / background.deviation
    luck = _luck(max(texts, FEWEST_RIVALS))
    short = 1 / max(1, len(weights.question.words))
    out, large = scale.of(nearest), log(max(texts, LARGE) / LARGE)
    return _weighed(TOPIC, near, luck**2, best.share, short, out, large, near * large, out * large)


def _least_topic(texts: int) -> float:
    """How likely the store must know of the matter for anything to be shown."""
    return min(LEAST_TOPIC, LEAST_TOPIC_SMALL * (max(texts, SMALL) / SMALL) ** LEAST_GROWS)


def _usual(pool: Pool, scale: Scale, *, foreign: bool) -> float:
    """The cosine of texts that do not answer."""
    background = scale.background
    expected = background.mean + USUAL_ABOVE * background.deviation
    texts = USUAL_TEXTS_FOREIGN if foreign else USUAL_TEXTS
    return (pool.size * scale.mean + texts * expected) / (pool.size + texts)


def _needed(best: float, least: float) -> float:
    """What a hit must have so that, less half its distance to the best, it has the least."""
    return (2 * least + best) / 3


def _luck(texts: int) -> float:
    return sqrt(2 * log(min(max(texts, 1), MOST_TEXTS)))


def _weighed(fit: tuple[float, ...], *values: float) -> float:
    """By a constant and a weight for each value."""
    return _sigmoid(fit[0] + sum(weight * value for weight, value in zip(fit[1:], values, strict=True)))


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
