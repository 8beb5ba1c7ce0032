"""Everything that a search was brought, in columns: most of it is never looked at closely."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from mycel.contracts.search_store import Candidates
from mycel.retrieval.candidate import Candidate, Key
from mycel.retrieval.fusion import BM25_WEIGHT, STAND_IN, Evidence, Scale, Weights

Rows = NDArray[np.int64]


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
        self._is_closed = False

    def add(self, place: int, found: Candidates) -> list[Key]:
        """Those that are not here yet; returns the keys of all."""
        if self._is_closed:
            return []
        keys = [(place, number) for number in found.numbers.tolist()]
        if not self.at:
            # The usual case: one place, asked once.
            self.at, self.keys, self._numbers = dict(zip(keys, range(len(keys)), strict=True)), [*keys], found.numbers
            columns = (found.bm25, found.cosines, found.held, found.far)
            self._bm25, self._cosines, self._held, self._far = map(np.ndarray.copy, columns)
            return keys
        new = [row for row, key in enumerate(keys) if key not in self.at]
        added = [keys[row] for row in new]
        self.at.update(zip(added, range(len(self.keys), len(self.keys) + len(added)), strict=True))
        self.keys += added
        self._numbers = np.concatenate((self._numbers, found.numbers[new]))
        self._bm25 = np.concatenate((self._bm25, found.bm25[new]))
        self._cosines = np.concatenate((self._cosines, found.cosines[new]))
        self._held = np.concatenate((self._held, found.held[new]))
        self._far = np.concatenate((self._far, found.far[new]))
        return keys

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

    def keep(self, keys: Iterable[Key], *, for_good: bool = False) -> None:
        """Only these can be found from now on; `for_good` also where more is brought in later."""
        self.at = {key: self.at[key] for key in keys}
        self._is_closed = for_good

    def best(self, scores: NDArray[np.float64], *, most: int, among: Rows | None = None) -> list[Key]:
        """By these scores of all rows; of equals the newer."""
        rows = self._findable() if among is None else among
        order = np.lexsort((-self._numbers[rows], -scores[rows]))[:most]
        return [self.keys[row] for row in rows[order].tolist()]

    def rows_of(self, keys: Collection[Key]) -> Rows:
        """Of those that can be found."""
        return np.array([row for key in keys if (row := self.at.get(key)) is not None], np.int64)

    def by_words(self) -> NDArray[np.float64]:
        """How much speaks for each before its text is read."""
        return self._weights.emphasis * BM25_WEIGHT * self._bm25 / self._weights.best_bm25

    def by_meaning(self, scale: Scale) -> NDArray[np.float64]:
        """How far the cosines stand out; for a memory without vectors its words stand in."""
        by_words = STAND_IN * self._bm25 / self._weights.best_bm25
        return np.where(np.isnan(self._cosines), by_words, (self._cosines - scale.mean) / scale.spread)

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
        if len(self.at) == len(self.keys):
            return np.arange(len(self.keys))
        return np.fromiter(self.at.values(), np.int64, len(self.at))

    def candidates(self, keys: Sequence[Key]) -> list[Candidate]:
        """Of what has words of the question, which, and how much that says."""
        bm25, cosines, far = self._bm25.tolist(), self._cosines.tolist(), self._far.tolist()
        flags, width = self._held.tobytes(), self._held.shape[1]
        chosen: list[Candidate] = []
        for key in keys:
            row = self.at[key]
            held = flags[row * width : (row + 1) * width]
            words, coverage, share = self._weights.said_by(held) if bm25[row] > 0 else (0, 0.0, 0.0)
            cosine = None if isnan(cosines[row]) else cosines[row]
            chosen.append(Candidate(key, Evidence(bm25[row], cosine, words, coverage, share), held=held, far=far[row]))
        return chosen
