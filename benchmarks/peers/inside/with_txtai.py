"""txtai as an embeddings database: external vectors, content kept, one `Embeddings` per scope."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from driver import Item, Vectors, serve
from txtai import Embeddings


class TxtaiStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._vectors = vectors
        self._scopes: dict[str, Embeddings] = {}

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        self._embeddings(items[0].scope).upsert([(item.id, item.text, None) for item in items])

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        return [hit["id"] for hit in self._embeddings(scope).search(question, limit)]

    def settle(self) -> None:
        pass

    def close(self) -> None:
        for embeddings in self._scopes.values():
            embeddings.close()

    def _embeddings(self, scope: str) -> Embeddings:
        # A plain function: a bound method would be called for one.
        def transform(texts: Sequence[str]) -> np.ndarray:
            packed = b"".join(map(self._vectors.packed, texts))
            return np.frombuffer(packed, np.float32).reshape(len(texts), self._vectors.dimensions)

        if scope not in self._scopes:
            self._scopes[scope] = Embeddings(method="external", transform=transform, content=True)
        return self._scopes[scope]


if __name__ == "__main__":
    serve(TxtaiStore)
