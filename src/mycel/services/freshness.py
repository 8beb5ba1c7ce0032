"""How fresh a record is when somebody reads it: computed each time, and stored nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from mycel.contracts.clock import Clock
from mycel.domain.artifact import Artifact
from mycel.domain.episode import Episode
from mycel.domain.memory import Memory, checked_memory
from mycel.domain.query import Page
from mycel.retrieval.ranking import freshness

# So that the same record is the same answer for a while, to whoever keeps it by its ETag.
DIGITS = 3
DetailedT = TypeVar("DetailedT", Episode, Artifact)


class Freshness:
    """By the half-life of the ranking, so that a record shows the factor that its place in a search depends on."""

    def __init__(self, clock: Clock, *, half_life_days: float) -> None:
        self._clock = clock
        self._half_life = half_life_days

    def of(self, memory: Memory) -> Memory:
        found = freshness(memory, now=self._clock.now(), half_life_days=self._half_life)
        return checked_memory({**vars(memory), "freshness": round(found, DIGITS)})

    def of_all(self, memories: Iterable[Memory]) -> tuple[Memory, ...]:
        return tuple(map(self.of, memories))

    def of_page(self, page: Page[Memory]) -> Page[Memory]:
        return Page(self.of_all(page), page.next_cursor)

    def of_entry(self, entry: DetailedT) -> DetailedT:
        return replace(entry, memory=self.of(entry.memory))

    def of_entries(self, page: Page[DetailedT]) -> Page[DetailedT]:
        return Page([self.of_entry(entry) for entry in page], page.next_cursor)
