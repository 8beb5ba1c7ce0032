"""The parts of a store that searching asks: the index, the vectors it is made of, and the log of recalls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mycel.access.scope import ReadScope
from mycel.domain.embedding import Backlog, Embedded, EmbeddingProgress, Reached
from mycel.domain.ids import MemberId, MemoryId, RecallId
from mycel.domain.memory import Memory
from mycel.domain.query import Filters
from mycel.domain.recall import LoggedRecall, Pool, Recall
from mycel.domain.search_request import Signals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mycel.contracts.embedder import Vector


class WordStatistics(NamedTuple):
    """In how many of the memories that a reader sees each term stands, of how many, and their usual length in terms.

    None of them deleted.
    """

    frequencies: Mapping[str, int]
    documents: int
    usual_length: float


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What one search asks of a store.

    `terms` are all that any text is found by. `statistics` are those of all stores that are searched together, where
    there are several. Without a vector nothing is found by meaning, and without terms nothing by words.
    """

    filters: Filters
    limit: int
    terms: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    statistics: WordStatistics | None = None
    vector: Vector | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The memories that words and meaning bring in, by the store's own numbers, in columns: one entry for each.

    `bm25` is 0 for what words did not bring in, and `cosines` not a number for what has no vector. `held` has a row for
    each memory, with a flag for each of the query's terms. `far` is what is beyond the reach of the filters, and
    `neighbours` tells of some of them which numbers in reach stand right before and after each, from the nearest on: it
    is asked while the search is under way, of the few that are looked at closely.
    """

    numbers: NDArray[np.int64]
    bm25: NDArray[np.float64]
    cosines: NDArray[np.float64]
    held: NDArray[np.bool_]
    far: NDArray[np.bool_]
    neighbours: Callable[[Sequence[int]], Mapping[int, Sequence[int]]]
    statistics: WordStatistics
    # All that meaning could have found.
    pool: Pool
    # Those that hold every quoted phrase; None where none is quoted or none does.
    quoted: frozenset[int] | None = None


class PastVersion(NamedTuple):
    """A memory as it stood; `embedded` when its vectors of today were made from the same text."""

    number: int
    memory: Memory
    embedded: bool


class Standing(NamedTuple):
    """What a search has to know of a store before it looks for anything.

    `revision` is the same for as long as every search brings the same, but for what grows older: it changes with each
    memory, link, vector, reading and rating, and when one expires, whichever process does it. `sequence` is the last
    entry of the log, and `documents` how many memories the reader sees. `is_outdated` while words of some memories were
    analysed by an earlier version of the analyser.
    """

    revision: Hashable
    sequence: int
    documents: int
    is_outdated: bool = False


class IndexReads(Protocol):
    def candidates(self, scope: ReadScope, query: IndexQuery) -> Candidates:
        """The best by words and the nearest by meaning, `limit` of each, of equals the newer.

        Scope and filters apply before the limit, and nothing hidden has a part in any figure. What the filters' reach
        holds is looked for first and by itself, so that the rest never crowds it out.
        """
        ...

    def standing(self, scope: ReadScope, now: datetime) -> Standing: ...
    def word_statistics(self, scope: ReadScope, terms: Iterable[str]) -> WordStatistics: ...
    def similarities(
        self, scope: ReadScope, vector: Vector, numbers: Sequence[int], *, model: str
    ) -> Mapping[int, float]:
        """The cosines of those that have vectors of this model, among memories given to the scope by another method."""
        ...

    def load(self, scope: ReadScope, numbers: Collection[int], *, filters: Filters) -> Mapping[int, Memory]:
        """Those of the numbers that are in sight and pass the filters, as they stand now."""
        ...

    def load_with_signals(
        self, scope: ReadScope, numbers: Collection[int], *, filters: Filters
    ) -> Mapping[int, tuple[Memory, Signals]]:
        """As `load`, with what speaks for each."""
        ...

    def find_number(self, scope: ReadScope, id: MemoryId) -> int | None: ...
    def numbers(self, scope: ReadScope, ids: Sequence[MemoryId]) -> Mapping[MemoryId, int]:
        """Of those that the scope sees."""
        ...

    def has_outdated(self) -> bool:
        """Whether words of any memory are of an earlier analyser."""
        ...

    def has_other_authors(self, author: str) -> bool:
        """Whether anybody else ever wrote here. Says when looking for others is in vain; nobody is told."""
        ...

    def signals(self, scope: ReadScope, numbers: Collection[int]) -> Mapping[int, Signals]:
        """Of memories the scope was given by another method. Their authors do not speak for them, and what they read
        of their own counts for themselves alone."""
        ...

    def past_versions(self, scope: ReadScope, *, at: datetime, filters: Filters, limit: int) -> list[PastVersion]:
        """What stood differently at that moment than today, or is deleted since, seen by the reader then and now.

        The newest numbers come first.
        """
        ...


class EmbeddingReads(Protocol):
    def backlog(self, model: str, *, limit: int) -> Backlog:
        """The next memories to embed; for the embedding service alone, which shows them to nobody."""
        ...

    def has_backlog(self, scope: ReadScope, model: str) -> bool:
        """Whether the backlog holds anything that the scope sees."""
        ...

    def progress(self, model: str) -> EmbeddingProgress: ...
    def of(self, scope: ReadScope, ids: Collection[MemoryId], *, model: str) -> Mapping[MemoryId, tuple[bytes, Vector]]:
        """The vector of each memory's first passage that the scope sees, with the hash of the text it was made of."""
        ...

    def vectors(self, numbers: Collection[int], *, model: str) -> Mapping[int, Vector]:
        """The vector of each memory's first passage, of those that have one of this model."""
        ...


class EmbeddingWrites(EmbeddingReads, Protocol):
    def put(self, model: str, embedded: Sequence[Embedded], *, started: Reached | None, reached: Reached) -> bool:
        """Leaves out what has changed or gone since the backlog was read.

        In the same transaction it is noted how far that is; False when somebody has moved on from `started` meanwhile.
        """
        ...


class RecallReads(Protocol):
    """On a store: what reading leaves behind is gathered here, and written within a second."""

    def count_access(self, ids: Iterable[MemoryId], *, by: MemberId, at: datetime) -> None: ...
    def log(self, recall: Recall, *, request: Mapping[str, Any], by: MemberId, at: datetime) -> bool:
        """For as long as recalls are kept. False where nothing was ever written."""
        ...

    def find(self, member_id: MemberId, id: RecallId) -> LoggedRecall | None:
        """One of the member's own, as it was answered; without hits that are no longer in sight."""
        ...

    def that_found(self, member_id: MemberId, memory_id: MemoryId, *, limit: int) -> list[LoggedRecall]:
        """The member's latest that found this memory."""
        ...

    def texts(self, member_id: MemberId, *, since: datetime, limit: int) -> Sequence[str]:
        """Contents of what this member was given by searches since then, as far as it still stands."""
        ...

    def has_older(self, before: datetime) -> bool: ...


class RecallWrites(Protocol):
    """Inside a transaction."""

    def forget(self, *, before: datetime) -> int:
        """Drops what the log has of searches before that moment; returns how many there were."""
        ...

    def forget_of(self, memory_id: MemoryId) -> None:
        """Whole recalls: a question that found the memory may quote it."""
        ...
