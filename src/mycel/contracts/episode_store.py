"""The parts of a store that keep the ledger of episodes. What takes no scope is for the engine alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mycel.access.scope import ReadScope
from mycel.domain.episode import Episode, EpisodeDetail, EpisodeFilters, RateBy, Tally
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.query import Page

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

# From the first moment up to the second.
TimeBucket = tuple[datetime, datetime]


class Wording(NamedTuple):
    """An approach as somebody put it, which nobody has compared with the others yet."""

    id: int
    text: str


class MonthOfEpisodes(NamedTuple):
    """The pruned episodes of one month in one project, by agent and by group of approaches."""

    month: str
    project_id: str | None
    by_agent: Mapping[str, Tally]
    by_approach: Mapping[str, Tally]


class EpisodeReads(Protocol):
    def find(self, scope: ReadScope, id: MemoryId) -> Episode | None: ...
    def page(
        self, scope: ReadScope, filters: EpisodeFilters, *, limit: int, cursor: str | None = None
    ) -> Page[Episode]:
        """Of the ledger, newest first, also what has left the search."""
        ...

    def details(self, ids: Collection[MemoryId]) -> Mapping[MemoryId, EpisodeDetail]:
        """Of memories that the reader was given by another method, as far as the ledger has them."""
        ...

    def find_month(self, scope: ReadScope, path: str) -> Memory | None:
        """The summary of a month's episodes at this path."""
        ...

    def prunable(self, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
        """Episodes of before that moment that were not archived, the oldest first."""
        ...


class EpisodeWrites(EpisodeReads, Protocol):
    def insert(self, memory: Memory, words: PackedTerms, detail: EpisodeDetail, *, by: MemberId) -> None: ...
    def tell_again(self, memory: Memory) -> list[Memory]:
        """Has the month of a pruned episode told anew; returns its summaries, also deleted ones, which may quote it."""
        ...


class RateReads(Protocol):
    """How often things worked."""

    def by(self, scope: ReadScope, filters: EpisodeFilters, *, by: RateBy) -> Mapping[str, Tally]:
        """By agent, or by approach in the latest wording that the reader sees."""
        ...

    def outcomes_after(self, scope: ReadScope, ids: Collection[MemoryId]) -> Mapping[MemoryId, Tally]:
        """How often the approach of each of these episodes was completed after it, and failed at any time.

        Whatever words it goes by, as far as the scope sees; nothing of an episode without an approach.
        """
        ...

    def over_time(
        self, scope: ReadScope, filters: EpisodeFilters, buckets: Sequence[TimeBucket]
    ) -> Sequence[Tally]: ...
    def untold_month(self, scope: ReadScope) -> MonthOfEpisodes | None:
        """One with pruned episodes that no summary has told of; approaches in words that this scope sees."""
        ...


class RateWrites(RateReads, Protocol):
    def count_pruned(self, ids: Sequence[MemoryId]) -> None:
        """Adds them to the counts of their months; each once, however often it is called."""
        ...

    def mark_told(self, month: MonthOfEpisodes) -> None: ...


class ApproachReads(Protocol):
    """Which wordings of approaches mean the same."""

    def next_wordings(self, model: str, *, limit: int) -> Sequence[Wording]: ...
    def first_wordings(self, model: str, *, limit: int) -> Sequence[tuple[int, Vector]]:
        """The latest groups of approaches by their id, each with the vector of its first wording."""
        ...


class ApproachWrites(ApproachReads, Protocol):
    def group(self, model: str, grouped: Sequence[tuple[int, int | None, bytes | None]]) -> None:
        """Each wording by its id: joins the group of another, or with a vector is the first of its own."""
        ...
