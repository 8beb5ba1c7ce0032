"""What stands near a memory that was just saved: whoever wrote it may rather change one of those."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mycel.access.scope import read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Stores
from mycel.domain.link import Relation
from mycel.domain.memory import Memory
from mycel.domain.rendering import shorten
from mycel.domain.surroundings import Similar
from mycel.domain.team import Caller
from mycel.engine.consolidation import Judged, is_compared
from mycel.engine.executor import Executor
from mycel.errors import Misconfigured, Unavailable
from mycel.services.embeddings import Embedding
from mycel.services.find_pairs import CALIBRATED_MODEL, PairFinder

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# As many as a writer looks through, and about two lines of each.
MOST = 3
EXCERPT_TOKENS = 50
STANDS_YET = "stands until a reviewer agrees that it is replaced"


class Comparing:
    def __init__(self, stores: Stores, clock: Clock, embedding: Embedding, *, executor: Executor) -> None:
        self._stores = stores
        self._clock = clock
        self._embedding = embedding
        self._executor = executor

    def with_similar(self, caller: Caller, saved: Memory) -> Memory:
        """The memory is stored, whatever happens here: without an answer it has no neighbours."""
        if not is_compared(saved):
            return saved
        try:
            found = self._near(caller, saved)
        except Unavailable:
            return saved
        best = sorted(found, key=_nearness, reverse=True)[:MOST]
        replaced = self._to_be_replaced(caller, saved) if best else frozenset[str]()
        return replace(saved, similar=tuple(_similar(pair, stands_yet=pair.earlier.id in replaced) for pair in best))

    def _near(self, caller: Caller, saved: Memory) -> list[Judged]:
        from mycel.engine.judging.judgement import CONTRADICTS, NEARLY_ALIKE

        vector = self._vector(saved.content)
        embedder = self._embedding.embedder
        model = None if vector is None or embedder is None else embedder.model
        with self._stores.lease(caller.team) as store:
            finder = PairFinder(store, read_scope(caller), self._executor, model=model, now=self._clock.now())
            found = finder.near(saved, vector)
        return [
            pair
            for pair in found
            if pair.judgement.likeness >= NEARLY_ALIKE
            or pair.judgement.contradiction >= CONTRADICTS
            or pair.judgement.supersedes
        ]

    def _to_be_replaced(self, caller: Caller, saved: Memory) -> frozenset[str]:
        with self._stores.lease(caller.team) as store:
            links = store.links.of(read_scope(caller), saved.id)
        return frozenset(
            link.to_id for link in links if link.from_id == saved.id and link.relation is Relation.SUPERSEDES
        )

    def _vector(self, text: str) -> Vector | None:
        """By the model of this machine alone: a writer waits for no other."""
        embedder = self._embedding.embedder
        if embedder is None or not embedder.model.startswith(CALIBRATED_MODEL):
            return None
        from mycel.index.vectors import checked

        try:
            return checked(embedder.embed_documents([text]), count=1, dimensions=embedder.dimensions)[0]
        except (Unavailable, Misconfigured):
            return None


def _nearness(pair: Judged) -> float:
    return max(pair.judgement.likeness, pair.judgement.contradiction)


def _similar(pair: Judged, *, stands_yet: bool) -> Similar:
    other = pair.earlier
    return Similar(
        id=other.id,
        title=other.title,
        excerpt=shorten(other.content, EXCERPT_TOKENS) or other.title,
        agent_id=other.agent_id,
        likeness=round(pair.judgement.likeness, 2),
        why=STANDS_YET if stands_yet else pair.judgement.reason,
    )
