"""An embedder that costs next to nothing and whose vectors lie as those of real models do."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.texts import Notes
from mycel.contracts.embedder import Background

Vectors = NDArray[np.float32]

DIMENSIONS = 384
TOPICS = 3_000
# Sums of two of these are as good as noise of its own for each text, and far cheaper.
NOISES = 8_192
# Real models use some directions much more than others: the variance of the n-th falls with this power of n.
DECAY = 0.7
# What any two texts share, what those of one topic share besides, and what is a text's own. Texts that have nothing to
# do with each other then have a cosine of about 0.6, those of one topic of about 0.8.
COMMON, TOPIC, OWN = 0.6, 0.2, 0.2

_WORD = re.compile(r"\w+")


class GivenVectors:
    """A text is about its rarest word: notes and questions with the same one are near each other."""

    model = f"given/{DIMENSIONS}"
    dimensions = DIMENSIONS
    max_tokens = 256
    batch_size = 1_024

    def __init__(self, notes: Notes, *, seed: int = 11) -> None:
        self._ranks = {word: rank for rank, word in enumerate(notes.words)}
        random = np.random.default_rng(seed)
        spectrum = (1 + np.arange(DIMENSIONS)) ** (-DECAY / 2)
        rotation, _ = np.linalg.qr(random.standard_normal((DIMENSIONS, DIMENSIONS)))
        spread = (spectrum / np.linalg.norm(spectrum))[:, np.newaxis] * rotation

        def draw(count: int, share: float) -> Vectors:
            return (np.sqrt(share) * random.standard_normal((count, DIMENSIONS)) @ spread).astype(np.float32)

        common = random.standard_normal(DIMENSIONS)
        self._topics = draw(TOPICS, TOPIC) + (np.sqrt(COMMON) * common / np.linalg.norm(common)).astype(np.float32)
        self._noises = draw(NOISES, OWN / 2)
        self.background = self._measure()

    def token_ends(self, text: str) -> Sequence[int]:
        return [match.end() for match in _WORD.finditer(text)]

    def embed_query(self, text: str) -> Vectors:
        return self.embed_documents([text])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        topics = [self._topic(text) for text in texts]
        noises = np.array([zlib.crc32(text.encode()) for text in texts])
        return self._vectors(np.array(topics), noises)

    def close(self) -> None:
        pass

    def _topic(self, text: str) -> int:
        return max(self._ranks.get(word, 0) for word in _WORD.findall(text.lower()) or [""]) % TOPICS

    def _vectors(self, topics: NDArray[np.int64], noises: NDArray[np.int64]) -> Vectors:
        rows = self._topics[topics] + self._noises[noises % NOISES] + self._noises[noises // NOISES % NOISES]
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _measure(self) -> Background:
        """Two thousand texts of as many topics."""
        rows = self._vectors(np.arange(2_000), np.arange(2_000) * 104_729)
        cosines = rows[:1_000] @ rows[1_000:].T
        return Background(float(cosines.mean()), float(cosines.std()), float(cosines.std(axis=1).mean()))
