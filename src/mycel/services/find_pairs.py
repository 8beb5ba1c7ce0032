"""Finding what a memory should be compared with: its neighbours by words and by meaning, and how they compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from math import isnan
from typing import TYPE_CHECKING

from mycel.access.scope import ReadScope
from mycel.contracts.long_work import require_wanted
from mycel.contracts.search_store import IndexQuery
from mycel.contracts.store import Store
from mycel.domain.ids import MemoryId
from mycel.domain.memory import STANDING, Memory, Status
from mycel.domain.query import Filters
from mycel.engine.consolidation import COMPARED, Judged, is_compared, may_contradict, may_merge
from mycel.engine.executor import Executor, Pair
from mycel.retrieval.lexical import parse_question

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector
    from mycel.engine.judging.judgement import Statement

# More would find nothing that is alike: the nearest by words and by meaning come first.
NEIGHBOURS = 12
# How near two statements are by another model says something else; their words decide then.
CALIBRATED_MODEL = "mycel-embed-1/"
# Also what was rejected: who says it again must not make it true.
COMPARED_WITH = Filters(statuses=(*STANDING, Status.ARCHIVED), types=tuple(COMPARED))


class PairFinder:
    """Of one store, as far as a scope sees it. Without vectors the words decide alone."""

    def __init__(self, store: Store, scope: ReadScope, executor: Executor, *, model: str | None, now: datetime) -> None:
        self._store = store
        self._scope = scope
        self._executor = executor
        self._compared_with = replace(COMPARED_WITH, alive_at=now)
        self._model = model
        self._is_calibrated = model is not None and model.startswith(CALIBRATED_MODEL)

    def judge(self, memories: Iterable[tuple[int, Memory]]) -> list[Judged]:
        """Every pair once, whichever of the two it was found from."""
        pairs: dict[frozenset[MemoryId], tuple[Memory, Memory, float | None]] = {}
        for number, memory in memories:
            if not self._stands(memory) or not is_compared(memory):
                continue
            require_wanted()
            for other, cosine in self._neighbours(number, memory):
                if may_merge(memory, other) or may_contradict(memory, other):
                    pairs.setdefault(frozenset((memory.id, other.id)), (memory, other, cosine))
        return self._judged(pairs.values())

    def judge_again(self, pairs: Iterable[tuple[Memory, Memory]]) -> list[Judged]:
        """Judge pairs that an earlier run has compared, however near they are."""
        standing = [(one, other) for one, other in pairs if self._stands(one) and self._stands(other)]
        vectors = self._vectors(memory for pair in standing for memory in pair)
        return self._judged(
            (one, other, _cosine(vectors.get(one.id), vectors.get(other.id))) for one, other in standing
        )

    def _vectors(self, memories: Iterable[Memory]) -> Mapping[MemoryId, Vector]:
        if self._model is None or not self._is_calibrated:
            return {}
        numbers = self._store.index.numbers(self._scope, list({memory.id for memory in memories}))
        vectors = self._store.embeddings.vectors(list(numbers.values()), model=self._model)
        return {id: vectors[number] for id, number in numbers.items() if number in vectors}

    def _judged(self, pairs: Iterable[tuple[Memory, Memory, float | None]]) -> list[Judged]:
        ordered = [(*sorted((one, other), key=said_at), cosine) for one, other, cosine in pairs]
        asked = [Pair(_statement(earlier), _statement(later), cosine) for earlier, later, cosine in ordered]
        judgements = self._executor.judge(asked)
        return [
            Judged(earlier, later, judgement)
            for (earlier, later, _), judgement in zip(ordered, judgements, strict=True)
        ]

    def _stands(self, memory: Memory) -> bool:
        now = self._compared_with.alive_at
        expired = memory.expires_at is not None and now is not None and memory.expires_at <= now
        return memory.status in STANDING and not expired

    def near(self, memory: Memory, vector: Vector | None) -> list[Judged]:
        """What stands near a memory that was just written, whose own vector may not be stored yet."""
        found = [pair for pair in self._with_vector(memory, vector) if pair[0].id != memory.id]
        asked = [Pair(_statement(other), _statement(memory), cosine) for other, cosine in found]
        judgements = self._executor.judge(asked, quick=True)
        return [Judged(other, memory, judged) for (other, _), judged in zip(found, judgements, strict=True)]

    def _neighbours(self, number: int, memory: Memory) -> Iterator[tuple[Memory, float | None]]:
        model = self._model
        vector = self._store.embeddings.vectors([number], model=model).get(number) if model else None
        return (pair for pair in self._with_vector(memory, vector) if pair[0].id != memory.id)

    def _with_vector(self, memory: Memory, vector: Vector | None) -> Iterator[tuple[Memory, float | None]]:
        # Quotation marks ask for nothing here: a text is no question.
        asked = IndexQuery(
            self._compared_with,
            NEIGHBOURS,
            parse_question(memory.content).terms,
            vector=vector,
            model=self._model or "",
        )
        found = self._store.index.candidates(self._scope, asked)
        cosines = dict(zip(found.numbers.tolist(), found.cosines.tolist(), strict=True))
        for at, other in self._store.index.load(self._scope, cosines.keys(), filters=self._compared_with).items():
            if is_compared(other):
                yield other, cosines[at] if self._is_calibrated and not isnan(cosines[at]) else None


def _cosine(one: Vector | None, other: Vector | None) -> float | None:
    if one is None or other is None:
        return None
    length = float((one @ one) * (other @ other)) ** 0.5
    return float(one @ other) / length if length else None


def said_at(memory: Memory) -> tuple[datetime, str]:
    return memory.observed_at or memory.created_at, memory.id


def _statement(memory: Memory) -> Statement:
    from mycel.engine.judging.judgement import Statement

    subject = () if memory.key is None else (memory.key,)
    return Statement(memory.content, subject, memory.observed_at or memory.created_at)
