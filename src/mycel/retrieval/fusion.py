"""One order out of words, vectors and neighbours.

The figures were tuned on LoCoMo (development conversations), SciFact and CoSQA, and checked against the vectors of the
built-in model by `training.fit`, which leaves out one set after another: docs/decisions/0008-fusion.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from math import log, sqrt

from mycel.contracts.embedder import Background
from mycel.domain.recall import Pool
from mycel.retrieval.bm25 import SATURATION, rarity_of
from mycel.retrieval.lexical import MAX_QUESTION_WORDS, Question

# Words beside one standard deviation of cosine: flat from 0.8 to 1.6 and from 2 to 3. The weight of an arm adapts by
# itself: cosines count by how far they stand out for this question, words by how much of it they explain. Explicit
# rules (peakedness, margins, length of the question) added nothing on the half held back.
SHARE_WEIGHT = 1.0
BM25_WEIGHT = 2.4
# A memory that is not embedded yet cannot stand out by its meaning: what its words tell counts so much more. With half
# of a set embedded, recall at 10 is 70, 79 and 61; without it 47, 52 and 46, and more would hide what is embedded.
STAND_IN = 5.0

# Who types one or two words looks for these; a vector of so little says not much. The sets have no such questions.
SHORT_QUESTION = 2
EMPHASIS = 2.0
# Models know other languages less well than their words tell: with as much weight on these, of German questions about
# German texts 62 % find the answer first instead of 58, of Spanish ones 67 instead of 65.
FOREIGN_EMPHASIS = 2.0

# An identifier counts as this much found when all of its parts are there but not the whole.
PART_SHARE = 0.5
# A name tells what is meant where no more than this share of all texts has it.
RARE = 0.01

# The pool's own spread counts in full in large stores; at this size it and the model's weigh the same.
SPREAD_TEXTS = 30

# A row moves half the way up to the best of its neighbours: recall at 10 on LoCoMo 72 to 78.
NEIGHBOUR_PULL = 0.5
# Words of the question that neighbours add to a row's own: 78 to 80; with words alone less is better.
WINDOW_WEIGHT = 1.75
WINDOW_WEIGHT_WORDS = 0.5
# Notes saved one after another need not belong together: without a word of the question, a row must stand out by
# itself at least so far to be lifted (recall at 10 falls from 80.7 to 79.8).
LEAST_OWN = 1.0


@dataclass(slots=True)
class Evidence:
    """What speaks for one candidate. `words` has a bit for each word of the question that it holds."""

    bm25: float = 0.0
    cosine: float | None = None
    words: int = 0
    coverage: float = 0.0
    share: float = 0.0
    neighbours: dict[tuple[int, int], Evidence] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True)
class Weights:
    """The words of a question by how much each tells, and the highest BM25 that a text could have."""

    question: Question
    idfs: tuple[float, ...]
    best_bm25: float
    # Of each word, the place of its term among the question's; and of those with parts the places of these.
    places: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]
    # A bit for each word that is a name made of parts (`has_realtime`, WP-TOO-FAR) and stands in few texts.
    names: int = 0
    # The same few sets of words come again and again: what was said of each.
    _shares: dict[int, float] = field(default_factory=dict[int, float])
    _said: dict[bytes, tuple[int, float, float]] = field(default_factory=dict[bytes, tuple[int, float, float]])

    @property
    def emphasis(self) -> float:
        if len(self.question.words) <= SHORT_QUESTION:
            return EMPHASIS
        return FOREIGN_EMPHASIS if self.question.is_foreign else 1.0

    def names_held(self, evidence: Evidence) -> bool:
        return bool(evidence.words & self.names)

    def share(self, words: int) -> float:
        """How much of what the question tells these words are, 0 to 1."""
        if words not in self._shares:
            held = [words >> place & 1 for place in range(len(self.idfs))]
            self._shares[words] = sum(compress(self.idfs, held)) / (sum(self.idfs) or 1.0)
        return self._shares[words]

    def said_by(self, held: bytes) -> tuple[int, float, float]:
        """Of the terms that a text holds, a flag for each: which words they are, which share of all words each counting
        the same, and how much these words tell."""
        said = self._said.get(held)
        if said is None:
            wholes = [held[place] for place in self.places]
            words = sum(compress(_BITS, wholes))
            covered = float(sum(wholes))
            for whole, word, parts in zip(wholes, self.question.words, self.parts, strict=True):
                if parts and not whole:
                    covered += PART_SHARE * sum([held[place] for place in parts]) / len(word.parts)
            said = self._said[held] = words, covered / max(len(wholes), 1), self.share(words)
        return said


# By the place of a word in its question.
_BITS = tuple(1 << place for place in range(MAX_QUESTION_WORDS))


def weights_of(question: Question, *, frequencies: Mapping[str, int], documents: int) -> Weights:
    rarities = (rarity_of(frequencies.get(term, 0), documents) for term in question.terms)
    place_of = {term: place for place, term in enumerate(question.terms)}
    few = max(1, int(RARE * documents))
    named = (bool(word.parts) and frequencies.get(word.tokens[0], 0) <= few for word in question.words)
    return Weights(
        question=question,
        idfs=tuple(_idf(frequencies.get(word.tokens[0], 0), documents) for word in question.words),
        best_bm25=max(1e-9, (SATURATION + 1) * sum(rarities)),
        places=tuple(place_of[word.tokens[0]] for word in question.words),
        parts=tuple(tuple(place_of[part] for part in word.parts if part in place_of) for word in question.words),
        names=sum(is_named << place for place, is_named in enumerate(named)),
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """What is usual for the cosines of one question, and for the model behind them."""

    mean: float
    spread: float
    background: Background

    def of(self, cosine: float) -> float:
        """How far it stands out, in standard deviations."""
        return (cosine - self.mean) / self.spread


def scale_of(pool: Pool, background: Background) -> Scale:
    """Few texts have no spread worth the name; the model's usual one stands in for it."""
    texts = pool.size if pool.measured else 0
    variance = texts * pool.deviation**2 + SPREAD_TEXTS * background.spread**2
    mean = pool.mean if pool.measured else background.mean
    return Scale(mean, sqrt(variance / (texts + SPREAD_TEXTS)), background)


def words_score(evidence: Evidence, weights: Weights, *, alone: bool) -> float:
    by_bm25 = BM25_WEIGHT * evidence.bm25 / weights.best_bm25
    if alone:
        return by_bm25
    return by_bm25 + (SHARE_WEIGHT + STAND_IN * (evidence.cosine is None)) * evidence.share


def support(own: Sequence[float], evidence: Sequence[Evidence], weights: Weights, *, alone: bool) -> list[float]:
    """What neighbours add to each: the words they hold, and part of the way to the best of them. Nothing falls."""
    window = WINDOW_WEIGHT_WORDS if alone else WINDOW_WEIGHT
    lent = {
        id(row): score + window * max(0.0, weights.share(_together(row)) - row.share) if row.neighbours else score
        for score, row in zip(own, evidence, strict=True)
    }
    return [
        _pulled(lent, row) - score if row.neighbours and (row.bm25 > 0 or score >= LEAST_OWN) else 0.0
        for score, row in zip(own, evidence, strict=True)
    ]


def _pulled(lent: dict[int, float], row: Evidence) -> float:
    mine = lent[id(row)]
    best = max([lent.get(id(other), mine) for other in row.neighbours.values()])
    return mine + NEIGHBOUR_PULL * max(0.0, best - mine)


def _together(row: Evidence) -> int:
    words = row.words
    for other in row.neighbours.values():
        words |= other.words
    return words


def _idf(containing: int, documents: int) -> float:
    """Never negative, and sensible in a store of one."""
    return log(1 + (max(documents, containing) - containing + 0.5) / (containing + 0.5))
