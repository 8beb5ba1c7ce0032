"""The document's EmbeddingProvider, as a program of somebody else has it: it turns texts into vectors."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

MEANINGS = {"car": "automobile", "vehicle": "automobile", "ship": "boat", "loaf": "bread"}


class MyEmbedder:
    model = "my-model"
    dimensions = 256

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.vector(re.findall(r"\w+", text.lower())) for text in texts]

    def vector(self, words: Sequence[str]) -> list[float]:
        """Each word has a place of its own, and words that mean the same have the same one."""
        row = [0.001] * self.dimensions
        for word in words:
            row[zlib.crc32(MEANINGS.get(word, word).encode()) % self.dimensions] += 1.0
        return row
