"""An embedder that keeps what another one made, so that a second run of the benchmarks need not wait for the model."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from mycel.contracts.embedder import Background, Embedder

Vectors = NDArray[np.float32]


class KeptVectors:
    """By model and text; without a folder, for as long as it lives. Closing is left to whoever made the other one."""

    def __init__(self, embedder: Embedder, *, folder: Path | None) -> None:
        self._embedder = embedder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._connection = apsw.Connection(":memory:" if folder is None else str(folder / "vectors.sqlite"))
        # Two runs may share it.
        self._connection.set_busy_timeout(60_000)
        self._connection.pragma("journal_mode", "wal")
        self._connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    @property
    def batch_size(self) -> int:
        return self._embedder.batch_size

    @property
    def background(self) -> Background:
        return self._embedder.background

    def token_ends(self, text: str) -> Sequence[int]:
        return self._embedder.token_ends(text)

    def embed_query(self, text: str) -> Vectors:
        return self._kept("query", [text])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._kept("document", texts)

    def close(self) -> None:
        pass

    def _kept(self, kind: str, texts: Sequence[str]) -> Vectors:
        keys = [hashlib.blake2b(f"{self.model}\0{kind}\0{text}".encode(), digest_size=16).digest() for text in texts]
        with self._lock:
            rows = [self._find(key) for key in keys]
            missing = [place for place, row in enumerate(rows) if row is None]
            if missing:
                made = self._make(kind, [texts[place] for place in missing])
                with self._connection:
                    for place, row in zip(missing, made, strict=True):
                        rows[place] = row.astype(np.float32).tobytes()
                        self._connection.execute("REPLACE INTO vectors VALUES (?, ?)", (keys[place], rows[place]))
        return np.frombuffer(b"".join(row for row in rows if row), np.float32).reshape(len(texts), self.dimensions)

    def _make(self, kind: str, texts: Sequence[str]) -> Vectors:
        if kind == "document":
            return self._embedder.embed_documents(texts)
        return np.concatenate([self._embedder.embed_query(text) for text in texts])

    def _find(self, key: bytes) -> bytes | None:
        row = self._connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None
