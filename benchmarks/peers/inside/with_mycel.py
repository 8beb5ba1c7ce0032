"""Mycel through its public API: one `save` per memory, or `save_many`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from driver import Item, Vectors, serve

from mycel.app import open_workspace
from mycel.contracts.embedder import Background

_WORD = re.compile(r"\w+")


class GivenEmbedder:
    """The vectors of the real model, which is not asked here."""

    batch_size = 1_024

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.model = vectors.card["model"]
        self.dimensions = vectors.dimensions
        self.max_tokens = vectors.card["max_tokens"]
        self.background = Background(*vectors.card["background"])

    def token_ends(self, text: str) -> Sequence[int]:
        return [match.end() for match in _WORD.finditer(text)]

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed_documents([text])

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        packed = b"".join(map(self._vectors.packed, texts))
        return np.frombuffer(packed, np.float32).reshape(len(texts), self.dimensions)

    def close(self) -> None:
        pass


class MycelStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._workspace = open_workspace(folder, embedder=GivenEmbedder(vectors))
        self._memory = self._workspace.as_member("swe-1", may_be_new=True)
        self._ids: dict[str, str] = {}

    def add(self, item: Item) -> None:
        self._ids[self._memory.save(item.text, path=item.folder).id] = item.id

    def add_many(self, items: Sequence[Item]) -> None:
        saved = self._memory.save_many([{"content": item.text, "path": item.folder} for item in items])
        self._ids |= {record.id: item.id for record, item in zip(saved, items, strict=True)}

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        recall = self._memory.search(question, path=scope, limit=limit)
        return [self._ids[hit.memory.id] for hit in recall.hits]

    def settle(self) -> None:
        self._workspace.run_pending()

    def close(self) -> None:
        self._workspace.close()


if __name__ == "__main__":
    serve(MycelStore)
