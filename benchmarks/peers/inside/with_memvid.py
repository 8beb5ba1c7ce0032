"""memvid (version 2, one `.mv2` file), words and vectors; one file per scope."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from driver import Item, Vectors, serve

os.environ |= {"MEMVID_OFFLINE": "1", "MEMVID_TELEMETRY": "0"}


class MemvidStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        from memvid_sdk import create, use

        self._create, self._use = create, use
        self._folder = folder
        self._vectors = vectors
        self._files: dict[str, Any] = {}
        self._stale: set[str] = set()

    def add(self, item: Item) -> None:
        self.add_many([item])

    def add_many(self, items: Sequence[Item]) -> None:
        scope = items[0].scope
        self._file(scope).put_many(
            [{"title": item.id, "label": "note", "text": item.text} for item in items],
            embeddings=[self._vectors.numbers(item.text) for item in items],
        )
        self._stale.add(scope)

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        self._refresh(scope)
        # Its mixed mode wants every word and reads the question as a query language; this is its documented way.
        found = self._file(scope).find(question, k=limit, mode="sem", query_embedding=self._vectors.numbers(question))
        return [hit["title"] for hit in found["hits"]]

    def settle(self) -> None:
        for scope in list(self._stale):
            self._refresh(scope)

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _refresh(self, scope: str) -> None:
        """An open file finds the vectors of its first `put_many` only; opened anew, it finds all."""
        if scope in self._stale:
            self._files[scope].close()
            self._files[scope] = self._use("basic", self._name(scope), mode="open")
            self._stale.remove(scope)

    def _file(self, scope: str) -> Any:
        if scope not in self._files:
            self._files[scope] = self._create(self._name(scope), enable_vec=True, enable_lex=True)
        return self._files[scope]

    def _name(self, scope: str) -> str:
        return str(self._folder / f"{scope.strip('/').replace('/', '-') or 'all'}.mv2")


if __name__ == "__main__":
    serve(MemvidStore)
