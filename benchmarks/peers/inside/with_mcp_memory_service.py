"""mcp-memory-service on its sqlite-vec storage, as its tools use it, without the protocol around it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from driver import Item, Vectors, serve


class GivenModel:
    """Looks like a sentence-transformers model, which is what the storage expects."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.embedding_dimension = vectors.dimensions

    def encode(self, sentences: str | Sequence[str], **_: object) -> np.ndarray:
        texts = [sentences] if isinstance(sentences, str) else sentences
        packed = b"".join(map(self._vectors.packed, texts))
        return np.frombuffer(packed, np.float32).reshape(len(texts), self._vectors.dimensions)


class McpMemoryServiceStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_BASE_DIR": str(folder),
            # Its own way without a local model; afterwards the same vectors are taken without the round trip.
            "MCP_EXTERNAL_EMBEDDING_URL": vectors.endpoint,
            "MCP_EXTERNAL_EMBEDDING_MODEL": "given",
        }
        from mcp_memory_service.models.memory import Memory
        from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
        from mcp_memory_service.utils.hashing import generate_content_hash

        self._memory, self._hash = Memory, generate_content_hash
        self._loop = asyncio.new_event_loop()
        self._storage = SqliteVecMemoryStorage(str(folder / "memory.db"))
        self._loop.run_until_complete(self._storage.initialize())
        self._storage.embedding_model = GivenModel(vectors)
        self._ids: dict[str, str] = {}

    def add(self, item: Item) -> None:
        # A refusal is an answer too: what it takes for a duplicate it does not keep.
        self._loop.run_until_complete(self._storage.store(self._made(item), store=item.scope))

    def add_many(self, items: Sequence[Item]) -> None:
        scope = items[0].scope
        self._loop.run_until_complete(self._storage.store_batch([self._made(item) for item in items], store=scope))

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        found = self._loop.run_until_complete(self._storage.retrieve(question, n_results=limit, store=scope))
        return [self._ids[hit.memory.content_hash] for hit in found]

    def settle(self) -> None:
        pass

    def close(self) -> None:
        self._loop.run_until_complete(self._storage.close())

    def _made(self, item: Item) -> object:
        name = self._hash(item.text)
        self._ids[name] = item.id
        return self._memory(content=item.text, content_hash=name, memory_type="note")


if __name__ == "__main__":
    serve(McpMemoryServiceStore)
