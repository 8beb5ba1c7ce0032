"""Keeping vectors in step with texts: never inside a write, before a search when little is missing, else beside."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from mycel.contracts.embedder import Embedder
from mycel.contracts.long_work import require_wanted
from mycel.contracts.store import Store, Stores
from mycel.domain.embedding import Backlog, Embedded, EmbeddingProgress, Passage, Unembedded
from mycel.domain.ids import TeamName
from mycel.errors import Misconfigured, MycelError
from mycel.retrieval.passages import PASSAGE_TOKENS, RESERVED_TOKENS, divide
from mycel.services.attempts import Attempts
from mycel.services.team_worker import TeamWorker

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# A search waits for so many memories to be embedded first, and no longer than this: tens of milliseconds with a
# small local model.
LITTLE = 8
PATIENCE_SECONDS = 1.0
# How many memories of a backlog are read, embedded and stored together.
BATCH = 64
# Both ways through a backlog may end with a batch that is not full, and another worker may be faster with one.
SPARE_BATCHES = 4
REMEMBERED_QUESTIONS = 1024
# A longer one is hardly asked twice, and a thousand of them would be too much to keep.
REMEMBERED_CHARACTERS = 4096
# What no embedder refuses, if it works at all.
PLAIN_TEXT = "ready"

Report = Callable[[TeamName, EmbeddingProgress], None]


class Embedding:
    """Without an embedder there is nothing to do, and every search is by words."""

    def __init__(self, stores: Stores, embedder: Embedder | None) -> None:
        self._stores = stores
        self._embedder = embedder
        self._questions: OrderedDict[str, Vector] = OrderedDict()
        # Of open stores, the last entry of the log up to which everything has vectors.
        self._complete: WeakKeyDictionary[Store, int] = WeakKeyDictionary()
        self._worker = TeamWorker(self._work_off, name="embedding")

    @property
    def embedder(self) -> Embedder | None:
        return self._embedder

    def question(self, text: str) -> Vector:
        """The vector of a question. Raises `Unavailable` or `Misconfigured` when the embedder cannot answer."""
        known = self._questions.get(text)
        if known is not None:
            return known
        from mycel.index.vectors import checked

        embedder = self._required()
        vector = checked(embedder.embed_query(text), count=1, dimensions=embedder.dimensions)[0]
        if len(text) <= REMEMBERED_CHARACTERS:
            self._questions[text] = vector
        while len(self._questions) > REMEMBERED_QUESTIONS:
            self._questions.popitem(last=False)
        return vector

    def catch_up(self, store: Store, *, sequence: int) -> bool:
        """Whether everything up to there has vectors now. What is missing is made beside; little is waited for."""
        if self._complete.get(store) == sequence:
            return True
        # Most changes touch no text, so more of them are looked at than memories are waited for.
        backlog = self._backlog(store, sequence)
        if not backlog.items and not backlog.left:
            return True
        self._worker.wake(store.team)
        much = backlog.left or len(backlog.items) > LITTLE
        if much or not self._worker.wait(store.team, seconds=PATIENCE_SECONDS):
            return False
        return not self._backlog(store, sequence).items

    def _backlog(self, store: Store, sequence: int) -> Backlog:
        """What waits; where that is nothing, everything up to this entry of the log has vectors."""
        backlog = store.embeddings.backlog(self._required().model, limit=BATCH)
        if not backlog.items and not backlog.left:
            self._complete[store] = sequence
        return backlog

    def run_pending(self, *, report: Report | None = None) -> int:
        """Embeds everything that waits, in every team; returns how many memories that were."""
        if self._embedder is None:
            return 0
        embedder, attempts = self._embedder, Attempts()
        done = 0
        for team in self._stores.teams_with_store():
            done += attempts.run(lambda team=team: self._finish(team, embedder, report=report))
        attempts.end()
        return done

    def finish(self, team: TeamName) -> int:
        """Embeds everything of one team that waits; returns how many memories that were."""
        return 0 if self._embedder is None else self._finish(team, self._embedder, report=None)

    def progress(self, team: TeamName) -> EmbeddingProgress:
        if self._embedder is None:
            return EmbeddingProgress(None, 0, 0)
        with self._stores.lease(team) as store:
            return store.embeddings.progress(self._embedder.model)

    def wake(self) -> None:
        """Works off every team's backlog beside."""
        if self._embedder is not None:
            for team in self._stores.teams_with_store():
                self._worker.wake(team)

    def load_beside(self) -> None:
        """So that the first question does not wait for its model."""
        if self._embedder is not None:
            threading.Thread(target=_load, args=(self._embedder,), name="mycel-model", daemon=True).start()

    def close(self) -> None:
        self._worker.close()
        if self._embedder is not None:
            self._embedder.close()

    def _required(self) -> Embedder:
        if self._embedder is None:
            raise Misconfigured("no embedder is set")
        return self._embedder

    def _work_off(self, team: TeamName) -> bool:
        _, more = self._embed_batch(team, self._required())
        return more

    def _finish(self, team: TeamName, embedder: Embedder, *, report: Report | None) -> int:
        """As many batches as what waits now takes: what is written meanwhile, however fast, makes none longer."""
        done = 0
        for _ in range(self.progress(team).pending // BATCH + SPARE_BATCHES):
            require_wanted()
            count, more = self._embed_batch(team, embedder)
            done += count
            if report is not None:
                report(team, self.progress(team))
            if not more:
                break
        return done

    def _embed_batch(self, team: TeamName, embedder: Embedder) -> tuple[int, bool]:
        """Of how many memories, and whether there is more to look at.

        Leased per batch: a long backlog must not keep a store open that others have more use for.
        """
        with self._stores.lease(team) as store:
            backlog = store.embeddings.backlog(embedder.model, limit=BATCH)
            more = backlog.left > 0
            if backlog.moved:
                embedded = list(_embedded_or_refused(embedder, backlog.items))
                noted = store.transact(
                    lambda transaction: transaction.embeddings.put(
                        embedder.model, embedded, started=backlog.started, reached=backlog.reached
                    ),
                    beside=True,
                )
                more = more or not noted
            if not more:
                store.files.save_index(embedder.model, dimensions=embedder.dimensions)
            return len(backlog.items), more


def _embedded_or_refused(embedder: Embedder, items: Sequence[Unembedded]) -> Iterator[Embedded]:
    """A text that the embedder will never take must not hold up the others; it is found by its words."""
    try:
        yield from list(_embedded(embedder, items))
    except Misconfigured:
        embedder.embed_documents([PLAIN_TEXT])
        for item in items:
            with contextlib.suppress(Misconfigured):
                yield from list(_embedded(embedder, [item]))


def _embedded(embedder: Embedder, items: Sequence[Unembedded]) -> Iterator[Embedded]:
    """Passages of all memories go to the model together, in batches of its own size."""
    from mycel.index.vectors import checked, quantised

    spans = [_passages(embedder, item.text) for item in items]
    texts = [item.text[start:end] for item, ranges in zip(items, spans, strict=True) for start, end in ranges]
    vectors: list[bytes] = []
    for first in range(0, len(texts), embedder.batch_size):
        part = texts[first : first + embedder.batch_size]
        vectors += quantised(checked(embedder.embed_documents(part), count=len(part), dimensions=embedder.dimensions))
    following = iter(vectors)
    for item, ranges in zip(items, spans, strict=True):
        passages = tuple(Passage(start, end, next(following)) for start, end in ranges)
        yield Embedded(item.number, item.version, item.text_hash, passages)


def _passages(embedder: Embedder, text: str) -> list[tuple[int, int]]:
    size = min(embedder.max_tokens, PASSAGE_TOKENS)
    # No token of such a text is shorter than a character, so it is one passage and its tokens need not be looked at.
    if text.isascii() and len(text) <= size - RESERVED_TOKENS:
        return [(0, len(text))]
    return divide(text, embedder.token_ends(text), tokens=size)


def _load(embedder: Embedder) -> None:
    """Its first use loads it; this one asks no endpoint for anything. What goes wrong is told to whoever needs it."""
    with contextlib.suppress(MycelError):
        embedder.token_ends("ready")
