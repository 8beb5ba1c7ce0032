"""Everything that a search was brought, in columns: most of it is never looked at closely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from mycel.contracts.search_store import Candidates
from mycel.retrieval.candidate import Candidate, Key
from mycel.retrieval.fusion import BM25_WEIGHT, Evidence, Scale, Weights
from mycel.retrieval.lexical import Question

Rows = NDArray[np.int64]

# An identifier counts as this much found when all of its parts are there but not the whole.
PART_SHARE = 0.5


class CandidateRows:
    """The places, numbers and figures of what all stores brought in; `at` says which row a memory has."""

    def __init__(self, weights: Weights) -> None:
        self.at: dict[Key, int] = {}
        self.keys: list[Key] = []
        self._weights = weights
        self._numbers = np.empty(0, np.int64)
        self._bm25 = np.empty(0)
        self._cosines = np.empty(0)
        self._held = np.empty((0, len(weights.question.terms)), np.bool_)
        self._far = np.empty(0, np.bool_)

    def add(self, place: int, found: Candidates) -> None:
        """Those that are not here yet."""
        keys = [(place, number) for number in found.numbers.tolist()]
        new = [row for row, key in enumerate(keys) if key not in self.at]
        self.at |= {keys[row]: len(self.keys) + count for count, row in enumerate(new)}
        self.keys += [keys[row] for row in new]
        self._numbers = np.append(self._numbers, found.numbers[new])
        self._bm25 = np.append(self._bm25, found.bm25[new])
        self._cosines = np.append(self._cosines, found.cosines[new])
        self._held = np.concatenate((self._held, found.held[new]))
        self._far = np.append(self._far, found.far[new])

    def put(self, key: Key, *, bm25: float, cosine: float | None, held: Sequence[bool], far: bool) -> None:
        """In the place of what is here of the memory, if it is here."""
        if key not in self.at:
            self.at[key] = len(self.keys)
            self.keys.append(key)
            self._numbers = np.append(self._numbers, key[1])
            self._bm25, self._cosines = np.append(self._bm25, 0.0), np.append(self._cosines, 0.0)
            self._held = np.concatenate((self._held, np.zeros((1, self._held.shape[1]), np.bool_)))
            self._far = np.append(self._far, np.False_)
        row = self.at[key]
        self._bm25[row], self._cosines[row] = bm25, np.nan if cosine is None else cosine
        self._held[row], self._far[row] = held, far

    def keep(self, keys: Iterable[Key]) -> None:
        """Only these can be found from now on."""
        self.at = {key: self.at[key] for key in keys}

    def best(self, scores: NDArray[np.float64], *, most: int, among: Rows | None = None) -> list[Key]:
        """By these scores of all rows; of equals the newer."""
        rows = self._findable() if among is None else among
        order = np.lexsort((-self._numbers[rows], -scores[rows]))[:most]
        return [self.keys[row] for row in rows[order].tolist()]

    def after(self, count: int) -> Rows:
        """Those that came after so many."""
        rows = self._findable()
        return rows[rows >= count]

    def by_words(self) -> NDArray[np.float64]:
        """How much speaks for each before its text is read."""
        return self._weights.emphasis * BM25_WEIGHT * self._bm25 / self._weights.best_bm25

    def by_meaning(self, scale: Scale) -> NDArray[np.float64]:
        """How far the cosines stand out; a memory without vectors is as near as most."""
        return np.nan_to_num((self._cosines - scale.mean) / scale.spread)

    @property
    def bm25(self) -> NDArray[np.float64]:
        return self._bm25

    def cosines(self) -> NDArray[np.float64]:
        return np.nan_to_num(self._cosines)

    def worded(self) -> Rows:
        """Those that words brought in."""
        rows = self._findable()
        return rows[self._bm25[rows] > 0]

    def _findable(self) -> Rows:
        return np.fromiter(self.at.values(), np.int64, len(self.at))

    def candidates(self, keys: Sequence[Key]) -> list[Candidate]:
        """Of what has words of the question, which, and how much that says."""
        rows = np.array([self.at[key] for key in keys], np.int64)
        bm25, cosines, held, far = self._bm25[rows], self._cosines[rows], self._held[rows], self._far[rows]
        question = self._weights.question
        places = {term: place for place, term in enumerate(question.terms)}
        whole = held[:, [places[word.tokens[0]] for word in question.words]] & (bm25 > 0)[:, np.newaxis]
        words = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(whole, axis=1, bitorder="little")]
        covered = np.where(bm25 > 0, coverage(question, held), 0.0)
        shares = [self._weights.share(bits, flags) for bits, flags in zip(words, whole.tolist(), strict=True)]
        figures = zip(bm25.tolist(), cosines.tolist(), words, covered.tolist(), shares, strict=True)
        evidence = (
            Evidence(found, None if isnan(cosine) else cosine, bits, share_of_words, share)
            for found, cosine, bits, share_of_words, share in figures
        )
        return [
            Candidate(key, one, held=flags, far=is_far)
            for key, one, flags, is_far in zip(keys, evidence, held.tolist(), far.tolist(), strict=True)
        ]


def coverage(question: Question, held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The share of a question's words that each text has, 0 to 1, by the terms it holds. Each word counts the same."""
    places = {term: place for place, term in enumerate(question.terms)}
    wholes = held[:, [places[word.tokens[0]] for word in question.words]]
    covered = wholes.sum(axis=1, dtype=np.float64)
    for whole, word in zip(wholes.T, question.words, strict=True):
        parts = [places[part] for part in word.parts if part in places]
        if parts:
            covered += ~whole * (PART_SHARE * held[:, parts].sum(axis=1) / len(word.parts))
    return covered / max(len(question.words), 1)
