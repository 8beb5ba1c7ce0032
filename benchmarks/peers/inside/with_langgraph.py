"""LangGraph's `SqliteStore` with its vector index, one namespace per scope."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from driver import Item, Vectors, serve
from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore


class LangGraphStore:
    def __init__(self, folder: Path, vectors: Vectors) -> None:
        folder.mkdir(parents=True, exist_ok=True)

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [vectors.numbers(text) for text in texts]

        self._stack = ExitStack()
        # The documented `fields` is not read by this store: it would embed the whole value as JSON.
        index = {"dims": vectors.dimensions, "embed": embed, "text_fields": ["text"]}
        self._store = self._stack.enter_context(SqliteStore.from_conn_string(str(folder / "store.db"), index=index))
        self._store.setup()

    def add(self, item: Item) -> None:
        self._store.put(_namespace(item.scope), item.id, {"text": item.text})

    def add_many(self, items: Sequence[Item]) -> None:
        self._store.batch([PutOp(_namespace(item.scope), item.id, {"text": item.text}) for item in items])

    def search(self, question: str, *, scope: str, limit: int) -> list[str]:
        return [hit.key for hit in self._store.search(_namespace(scope), query=question, limit=limit)]

    def settle(self) -> None:
        pass

    def close(self) -> None:
        self._stack.close()


def _namespace(scope: str) -> tuple[str, ...]:
    return ("memories", *filter(None, scope.split("/")))


if __name__ == "__main__":
    serve(LangGraphStore)
