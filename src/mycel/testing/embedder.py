"""An embedder without a model: texts are near each other when they share words, or synonyms it was told of."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from mycel.contracts.embedder import Background

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vectors

_WORD = re.compile(r"\w+")
# They stand in texts that have nothing else in common.
_IGNORED = frozenset(_WORD.findall("a an and are as at be by for from how in is it of on or that the this to was with"))


class WordEmbedder:
    """Each word has a direction of its own, the same in every process; a text is the sum of its words.

    Set `failing` to have every embedding raise it; the counters say how often either method was called.
    """

    def __init__(self, *, name: str = "words", dimensions: int = 64, synonyms: Iterable[Sequence[str]] = ()) -> None:
        self._name = name
        self._dimensions = dimensions
        self._meanings = {word.casefold(): group[0].casefold() for group in synonyms for word in group}
        self._lock = threading.Lock()
        self.failing: Exception | None = None
        self.query_calls = 0
        self.document_calls = 0
        self.is_closed = False

    @property
    def model(self) -> str:
        return f"{self._name}/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return 256

    @property
    def batch_size(self) -> int:
        return 32

    @property
    def background(self) -> Background:
        # Directions drawn by chance are at right angles but for a deviation of one over the root of their number.
        deviation = self._dimensions**-0.5
        return Background(mean=0.0, deviation=deviation, spread=deviation)

    @property
    def calls(self) -> int:
        return self.query_calls + self.document_calls

    def token_ends(self, text: str) -> Sequence[int]:
        return [match.end() for match in _WORD.finditer(text)]

    def embed_query(self, text: str) -> Vectors:
        with self._lock:
            self.query_calls += 1
        return self._embed([text])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            self.document_calls += 1
        return self._embed(texts)

    def close(self) -> None:
        self.is_closed = True

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if self.failing is not None:
            raise self.failing
        rows = np.array([self._sum(text) for text in texts], dtype=np.float32).reshape(-1, self._dimensions)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _sum(self, text: str) -> Vectors:
        import numpy as np

        words = [word.casefold() for word in self._words(text)]
        # A text without words has a direction too.
        counted = [self._meanings.get(word, word) for word in words if word not in _IGNORED] or [""]
        total = np.array([self._direction(word) for word in counted], dtype=np.float32).sum(axis=0)
        # Opposite words must not add up to nothing.
        return np.asarray(total + 1e-3, dtype=np.float32)

    def _words(self, text: str) -> list[str]:
        return [match.group() for match in islice(_WORD.finditer(text), self.max_tokens)]

    def _direction(self, word: str) -> Vectors:
        import numpy as np

        bits = hashlib.shake_128(word.encode()).digest(-(-self._dimensions // 8))
        signs = np.unpackbits(np.frombuffer(bits, dtype=np.uint8))[: self._dimensions]
        return signs.astype(np.float32) * 2 - 1
