"""Chroma as a plain vector store: its persistent client, one collection per scope, and vectors handed over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chromadb
from chromadb.config import Settings
from driver import Item, Vectors, serve


class ChromaStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._vectors = vectors
        self._client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._collections: dict[str, chromadb.Collection] = {}

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        self._collection(items[0].scope).add(
            ids=[item.id for item in items],
            documents=[item.text for item in items],
            embeddings=[self._vectors.numbers(item.text) for item in items],
        )

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        found = self._collection(scope).query(query_embeddings=[self._vectors.numbers(question)], n_results=limit)
        return found["ids"][0]

    def settle(self) -> None:
        pass

    def close(self) -> None:
        self._client.close()

    def _collection(self, scope: str) -> chromadb.Collection:
        if scope not in self._collections:
            # Cosine as the vectors want it; the default distance is L2, and there is no embedder to load.
            self._collections[scope] = self._client.create_collection(
                f"scope-{len(self._collections)}",
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
            )
        return self._collections[scope]


if __name__ == "__main__":
    serve(ChromaStore)
