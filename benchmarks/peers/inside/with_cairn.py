"""cairn-memory through its `SQLiteStore`; one store per scope, since its sessions only weigh and do not limit."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from driver import Item, Vectors, serve


class GivenClient:
    """The place cairn asks before it loads a model of its own."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def embed_single(self, text: str) -> list[float]:
        return self._vectors.numbers(text)

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vectors.numbers(text) for text in texts]


class CairnStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {
            "CAIRN_HOME": str(folder),
            "CAIRN_EMBEDDING_DIM": str(vectors.dimensions),
            "CAIRN_NO_MODEL_DOWNLOAD": "1",
            # It refuses more than 50,000 by default.
            "CAIRN_MAX_NODES": "10000000",
        }
        client = ModuleType("cairn.embedding_client")
        client.get_client = lambda: GivenClient(vectors)  # type: ignore[attr-defined]
        sys.modules["cairn.embedding_client"] = client
        from cairn import SQLiteStore

        self._open = SQLiteStore
        self._folder = folder
        self._stores: dict[str, SQLiteStore] = {}
        self._ids: dict[str, str] = {}

    def add(self, item: Item) -> None:
        # Its check for duplicates is made for the cosines of its own model, a download; with others it keeps an eighth.
        self._ids[self._store(item.scope).store(item.text, skip_inference=True)] = item.id

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        return [self._ids[hit.id] for hit in self._store(scope).query(question, limit=limit)]

    def settle(self) -> None:
        pass

    def close(self) -> None:
        for store in self._stores.values():
            store.close()

    def _store(self, scope: str):
        if scope not in self._stores:
            self._stores[scope] = self._open(self._folder / f"{len(self._stores)}.db")
        return self._stores[scope]


if __name__ == "__main__":
    serve(CairnStore)
