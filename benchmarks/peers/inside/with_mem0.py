"""mem0 without a language model (`infer=False`), on its default store: Qdrant's local mode in a folder."""

from __future__ import annotations

import os
from pathlib import Path

from driver import Item, Vectors, serve

os.environ["MEM0_TELEMETRY"] = "False"


class GivenEmbedding:
    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._vectors.numbers(text)

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self._vectors.numbers(text) for text in texts]


class Mem0Store:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["MEM0_DIR"] = str(folder)
        from mem0 import Memory

        # No key is used: the endpoint is the loopback one, and `infer=False` asks no language model.
        base = vectors.endpoint.removesuffix("/embeddings")
        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": str(folder / "qdrant"),
                        "on_disk": True,
                        "embedding_model_dims": vectors.dimensions,
                    },
                },
                "embedder": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": base}},
                "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": base}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = GivenEmbedding(vectors)
        self._ids: dict[str, str] = {}

    def add(self, item: Item) -> None:
        added = self._memory.add(item.text, user_id=item.scope, infer=False)
        self._ids[added["results"][0]["id"]] = item.id

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": scope}, top_k=limit)
        return [self._ids[hit["id"]] for hit in found["results"]]

    def settle(self) -> None:
        pass

    def close(self) -> None:
        self._memory.close()


if __name__ == "__main__":
    serve(Mem0Store)
