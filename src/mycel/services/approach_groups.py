"""Approaches that mean the same are counted as one: each new wording joins the nearest group, or begins its own."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mycel.contracts.embedder import Embedder
from mycel.contracts.episode_store import Wording
from mycel.contracts.store import Store
from mycel.errors import Misconfigured, Unavailable
from mycel.retrieval.passages import PASSAGE_TOKENS, divide
from mycel.services.attempts import in_batches
from mycel.services.embeddings import PLAIN_TEXT, Embedding

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# Of 34 pairs of approaches, from this cosine of the built-in model on 9 of 10 meant the same, and half of those that
# do are found. Too high costs a second line in a table, too low a wrong rate; so for other models it stays high.
SAME_APPROACH = 0.93
BATCH = 64
# A question waits for so many; the rest goes by its words until the night.
LITTLE = 256
# New wordings are compared with the latest groups, which are those in use.
MOST_GROUPS = 10_000

Grouped = tuple[int, int | None, bytes | None]


class Grouping:
    """Without an embedder, approaches of the same words are one, and no others."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding

    def catch_up(self, store: Store, *, most: int = LITTLE) -> None:
        """For a question: what cannot be told now goes by its words."""
        try:
            for _ in range(0, most, BATCH):
                if not self._group_batch(store):
                    return
        except (Unavailable, Misconfigured):
            return

    def finish(self, store: Store) -> int:
        """Every wording that waits; returns how many that were."""
        return in_batches(lambda: self._group_batch(store))

    def _group_batch(self, store: Store) -> list[int]:
        embedder = self._embedding.embedder
        if embedder is None:
            return []
        wordings = store.approaches.next_wordings(embedder.model, limit=BATCH)
        if wordings:
            vectors = _vectors(embedder, wordings)
            known = store.approaches.first_wordings(embedder.model, limit=MOST_GROUPS)
            grouped = _grouped(wordings, vectors, known)
            store.transact(lambda transaction: transaction.approaches.group(embedder.model, grouped))
        return [wording.id for wording in wordings]


def _vectors(embedder: Embedder, wordings: Sequence[Wording]) -> list[Vector | None]:
    """None for a text that the embedder will never take: it stays a group of its own."""
    texts = [_beginning(embedder, wording.text) for wording in wordings]
    size = max(1, embedder.batch_size)
    parts = [texts[first : first + size] for first in range(0, len(texts), size)]
    try:
        return [vector for part in parts for vector in _embed(embedder, part)]
    except Misconfigured:
        embedder.embed_documents([PLAIN_TEXT])
        return [_vector_or_none(embedder, text) for text in texts]


def _beginning(embedder: Embedder, text: str) -> str:
    """As much as the model takes at once says what was tried."""
    start, end = divide(text, embedder.token_ends(text), tokens=min(embedder.max_tokens, PASSAGE_TOKENS))[0]
    return text[start:end]


def _embed(embedder: Embedder, texts: list[str]) -> list[Vector]:
    from mycel.index.vectors import checked

    return list(checked(embedder.embed_documents(texts), count=len(texts), dimensions=embedder.dimensions))


def _vector_or_none(embedder: Embedder, text: str) -> Vector | None:
    with contextlib.suppress(Misconfigured):
        return _embed(embedder, [text])[0]
    return None


def _grouped(
    wordings: Sequence[Wording], vectors: Sequence[Vector | None], known: Sequence[tuple[int, Vector]]
) -> list[Grouped]:
    """In the order they were written, each beside the groups before it and those that this batch begins."""
    import numpy as np

    from mycel.index.vectors import quantised

    ids = [id for id, _ in known]
    given = [vector for vector in vectors if vector is not None]
    rows = np.stack([vector for _, vector in known] + given) if given else np.zeros((0, 1), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    grouped: list[Grouped] = []
    following = len(known)
    for wording, vector in zip(wordings, vectors, strict=True):
        if vector is None:
            grouped.append((wording.id, None, None))
            continue
        unit = rows[following].copy()
        following += 1
        cosines = rows[: len(ids)] @ unit
        if ids and cosines.max() >= SAME_APPROACH:
            grouped.append((wording.id, ids[int(cosines.argmax())], None))
        else:
            grouped.append((wording.id, None, quantised(vector[None, :])[0]))
            # Never beyond the row just read: a batch begins at most as many groups as it has vectors.
            rows[len(ids)] = unit
            ids.append(wording.id)
    return grouped
