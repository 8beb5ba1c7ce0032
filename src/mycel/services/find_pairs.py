"""Finding what a memory should be compared with: its neighbours by words and by meaning, and how they compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from mycel.access.scope import ReadScope
from mycel.contracts.store import Store
from mycel.domain.ids import MemoryId
from mycel.domain.memory import Memory, Status
from mycel.domain.query import Filters
from mycel.engine.comparable import COMPARED, is_compared, may_contradict, may_merge
from mycel.engine.consolidation import Judged
from mycel.engine.workshop.workshop import Pair, Workshop
from mycel.retrieval.arms import Place, search_by_words

if TYPE_CHECKING:
    from mycel.engine.judging.pair import Statement

# More would find nothing that is alike: the nearest by words and by meaning come first.
NEIGHBOURS = 12
# How near two statements are by another model says something else; their words decide then.
CALIBRATED_MODEL = "mycel-embed-1/"
_STANDING = (Status.ACTIVE, Status.INBOX)
# Also what was rejected: who says it again must not make it true.
COMPARED_WITH = Filters(statuses=(*_STANDING, Status.ARCHIVED), types=tuple(COMPARED))


class Comparing:
    """Of one store, as far as a scope sees it. Without vectors the words decide alone."""

    def __init__(self, store: Store, scope: ReadScope, workshop: Workshop, *, model: str | None, now: datetime) -> None:
        self._store = store
        self._scope = scope
        self._workshop = workshop
        self._compared_with = replace(COMPARED_WITH, alive_at=now)
        self._model = model
        self._is_calibrated = model is not None and model.startswith(CALIBRATED_MODEL)

    def judge(self, memories: Iterable[tuple[int, Memory]]) -> list[Judged]:
        """Every pair once, whichever of the two it was found from."""
        pairs: dict[frozenset[MemoryId], tuple[Memory, Memory, float | None]] = {}
        for number, memory in memories:
            if not self._stands(memory) or not is_compared(memory):
                continue
            for other, cosine in self._neighbours(number, memory):
                pairs.setdefault(frozenset((memory.id, other.id)), (memory, other, cosine))
        ordered = [(*sorted((one, other), key=said_at), cosine) for one, other, cosine in pairs.values()]
        asked = [Pair(_statement(earlier), _statement(later), cosine) for earlier, later, cosine in ordered]
        judgements = self._workshop.judge(asked)
        return [
            Judged(earlier, later, judgement)
            for (earlier, later, _), judgement in zip(ordered, judgements, strict=True)
        ]

    def _stands(self, memory: Memory) -> bool:
        now = self._compared_with.alive_at
        expired = memory.expires_at is not None and now is not None and memory.expires_at <= now
        return memory.status in _STANDING and not expired

    def _neighbours(self, number: int, memory: Memory) -> Iterator[tuple[Memory, float | None]]:
        by_words = self._near_by_words(memory)
        cosines = {} if self._model is None else self._near_by_meaning(number, self._model, also=by_words)
        found = {*by_words, *cosines} - {number}
        for near, other in self._store.index.load(self._scope, found, filters=self._compared_with).items():
            if is_compared(other) and (may_merge(memory, other) or may_contradict(memory, other)):
                yield other, cosines.get(near) if self._is_calibrated else None

    def _near_by_words(self, memory: Memory) -> Sequence[int]:
        # Quotation marks would ask for a phrase.
        text = memory.content.replace('"', " ")
        found = search_by_words(text, [Place(self._store, self._scope)], self._compared_with, limit=NEIGHBOURS)
        return [match.number for match in found.matches[0][:NEIGHBOURS]]

    def _near_by_meaning(self, number: int, model: str, *, also: Sequence[int]) -> dict[int, float]:
        vector = self._store.embeddings.vectors([number], model=model).get(number)
        if vector is None:
            return {}
        nearest = self._store.index.search_vectors(
            self._scope, vector, model=model, filters=self._compared_with, limit=NEIGHBOURS
        )
        return {**self._store.index.similarities(self._scope, vector, also, model=model), **dict(nearest.matches)}


def said_at(memory: Memory) -> tuple[datetime, str]:
    return memory.observed_at or memory.created_at, memory.id


def _statement(memory: Memory) -> Statement:
    from mycel.engine.judging.pair import Statement

    subject = () if memory.key is None else (memory.key,)
    return Statement(memory.content, subject, memory.observed_at or memory.created_at)
