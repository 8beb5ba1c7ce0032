"""The store of one team, and the stores of a workspace.

Every read takes a `ReadScope` made from its caller and answers as if what the scope does not see did not exist.
Stores raise `Unavailable` (or `StorageFull`) when they cannot answer now, `StoreDamaged` when their files are damaged
or gone, and `Misconfigured` when they never will. A damaged store answers reads as far as it can, and no write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

from mycel.access.scope import ReadScope
from mycel.contracts.archive_store import MovingReads, MovingTransaction
from mycel.contracts.artifact_store import ArtifactReads, ArtifactTransaction
from mycel.contracts.engine_store import EngineReads, EngineTransaction
from mycel.contracts.episode_store import EpisodeReads, EpisodeTransaction
from mycel.domain.change import Change, ChangeFilter, LogEntry, Operation, Today
from mycel.domain.damage import Damage
from mycel.domain.embedding import Backlog, Embedded, EmbeddingProgress, Reached
from mycel.domain.ids import MemberId, MemoryId, RecallId, TeamName
from mycel.domain.indexed_words import IndexedText, Plan
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Usage, Version
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Filters, Folder, Order, Page, Statistics
from mycel.domain.recall import LoggedRecall, Pool, Recall
from mycel.domain.receipt import Receipt
from mycel.domain.search_request import Signals

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

ResultT = TypeVar("ResultT")


class Match(NamedTuple):
    """A memory by its store's own number; higher scores are better, and comparable within one search of one store."""

    number: int
    score: float


class Nearest(NamedTuple):
    """The best matches by meaning, and among what they were found."""

    matches: list[Match]
    pool: Pool


class PastVersion(NamedTuple):
    """A memory as it stood; `embedded` when its vectors of today were made from the same text."""

    number: int
    memory: Memory
    embedded: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What an idempotency key stood for, kept for seven days."""

    KEPT_MICROSECONDS: ClassVar[int] = 7 * 86_400 * 1_000_000

    member_id: MemberId
    operation: str
    key: str
    request_hash: str
    memory_id: MemoryId
    version: int


@dataclass(frozen=True, slots=True)
class Rating:
    memory_id: MemoryId
    member_id: MemberId
    useful: bool
    recall_id: str | None


class Transaction(EngineTransaction, EpisodeTransaction, ArtifactTransaction, MovingTransaction, Protocol):
    """One use case's reads and writes. All of it is stored, or none; the change log is written with it."""

    @property
    def now(self) -> datetime:
        """The present, by the clock: what lives for a while is counted from here, and what is due by it."""
        ...

    @property
    def committed_at(self) -> datetime:
        """The moment of this transaction in the history: after that of every earlier one, whatever the clock does.

        After one write by a clock that was years ahead it stays as far ahead; nothing may be due or expire by it.
        """
        ...

    def find(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory | None:
        """Sees the writes of this transaction. Deleted memories are found only when asked for."""
        ...

    def get(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory:
        """As `find`; raises `NotFound`."""
        ...

    def find_version(self, scope: ReadScope, id: MemoryId, version: int) -> Memory | None: ...
    def list_versions(self, scope: ReadScope, id: MemoryId) -> list[Version]:
        """As `Store.list_versions`."""
        ...

    def find_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        """The active memory with the project, category, key and audience of `like`."""
        ...

    def find_waiting_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        """The same in the inbox, by the author of `like`."""
        ...

    def insert(self, written: Sequence[tuple[Memory, IndexedText]], *, by: MemberId) -> None:
        """New memories with their words, in order. Raises `Conflict` as `replace` does."""
        ...

    def replace(
        self,
        before: Memory,
        after: Memory,
        *,
        by: MemberId,
        operation: Operation = Operation.UPDATE,
        reason: str | None = None,
        words: IndexedText | None = None,
    ) -> None:
        """Keeps `before` as a version. Raises `Conflict` when an active memory already has the key of `after`.

        The words of a long text are best worked out before the transaction and given here.
        """
        ...

    def purge(self, memory: Memory, *, by: MemberId) -> Receipt:
        """Removes the memory, its versions, links, words and evidence from every answer."""
        ...

    def link(self, link: Link, *, origin: Memory) -> Link:
        """The link that stands, which may have been there before."""
        ...

    def unlink(self, link: Link, *, origin: Memory) -> bool: ...
    def rate(self, rating: Rating) -> None:
        """A member's latest rating of a memory is the one that counts."""
        ...

    def find_request(self, member_id: MemberId, operation: str, key: str) -> Request | None: ...
    def remember_request(self, request: Request) -> None: ...
    def register_project(self, project: Project) -> Project:
        """As it stands afterwards: what was known and is not given anew stays."""
        ...

    def register_repo(self, repo: Repo) -> Repo: ...
    def save_view(self, member_id: MemberId, view: SavedView) -> None: ...
    def delete_view(self, member_id: MemberId, name: str) -> bool: ...


class Store(EngineReads, EpisodeReads, ArtifactReads, MovingReads, Protocol):
    """One team's memories. Safe to use from any thread; several processes may share one team."""

    @property
    def team(self) -> TeamName: ...

    def transact(self, work: Callable[[Transaction], ResultT]) -> ResultT:
        """Runs the work in one transaction and returns once its outcome, also a raised error, is durable.

        The work may be run again after a rollback, so it must change nothing outside the transaction.
        """
        ...

    def find(self, scope: ReadScope, id: MemoryId) -> Memory | None: ...
    def find_as_of(self, scope: ReadScope, id: MemoryId, at: datetime) -> Memory | None:
        """What was believed at that moment, deleted since or not.

        None also when the reader could not see it then, or may not today: of a deleted memory its last readers count.
        """
        ...

    def list_versions(self, scope: ReadScope, id: MemoryId) -> list[Version]:
        """Oldest first, the present one last."""
        ...

    def list_links(self, scope: ReadScope, id: MemoryId) -> list[Link]: ...
    def list_memories(
        self, scope: ReadScope, filters: Filters, *, order: Order, limit: int, cursor: str | None = None
    ) -> Page[Memory]:
        """A page in a total order. Raises `InvalidInput` for a cursor that is not from this list."""
        ...

    def count_memories(self, scope: ReadScope, filters: Filters) -> int:
        """How many a list of them would have in all."""
        ...

    def list_folders(self, scope: ReadScope, path: str, filters: Filters) -> list[Folder]: ...
    def statistics(self, scope: ReadScope, filters: Filters) -> Statistics: ...
    def find_usage(self, scope: ReadScope, id: MemoryId) -> Usage: ...
    def search_words(self, scope: ReadScope, plan: Plan, *, filters: Filters, limit: int) -> list[Match]:
        """Best first; filters and scope apply before the limit, and nothing hidden has a part in the scores."""
        ...

    def word_frequencies(self, scope: ReadScope, terms: Iterable[str]) -> tuple[Mapping[str, int], int]:
        """In how many of the memories that the scope sees each term stands, and of how many; none of them deleted."""
        ...

    def search_vectors(self, scope: ReadScope, vector: Vector, *, model: str, filters: Filters, limit: int) -> Nearest:
        """Best first, scored by cosine; of everything that was embedded by this model when the search began."""
        ...

    def similarities(
        self, scope: ReadScope, vector: Vector, numbers: Sequence[int], *, model: str
    ) -> Mapping[int, float]:
        """The cosines of those that have vectors of this model, among memories given to the scope by another method."""
        ...

    def load(self, scope: ReadScope, numbers: Collection[int], *, filters: Filters) -> Mapping[int, Memory]:
        """Those of the numbers that are in sight and pass the filters, as they stand now."""
        ...

    def find_number(self, scope: ReadScope, id: MemoryId) -> int | None: ...
    def has_other_authors(self, author: str) -> bool:
        """Whether anybody else ever wrote here. Says when looking for others is in vain; nobody is told."""
        ...

    def neighbours(
        self, scope: ReadScope, numbers: Collection[int], *, filters: Filters
    ) -> Mapping[int, tuple[int, ...]]:
        """The memories right before and after each in one folder, session and source, among those in sight."""
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

    def read_backlog(self, model: str, *, limit: int) -> Backlog:
        """The next memories to embed; for the embedding service alone, which shows them to nobody."""
        ...

    def awaits_vectors(self, scope: ReadScope, model: str) -> bool:
        """Whether the backlog holds anything that the scope sees."""
        ...

    def store_embeddings(
        self, model: str, embedded: Sequence[Embedded], *, started: Reached | None, reached: Reached
    ) -> bool:
        """Leaves out what has changed or gone since the backlog was read.

        In the same transaction it is noted how far that is; False when somebody has moved on from `started` meanwhile.
        """
        ...

    def embedding_progress(self, model: str) -> EmbeddingProgress: ...
    def save_index(self, model: str, *, dimensions: int) -> None:
        """Keeps what makes the first search after the next opening fast."""
        ...

    def changes(self, scope: ReadScope, *, after: int, wanted: ChangeFilter, limit: int) -> tuple[list[Change], int]:
        """What the scope is told of the log (`access.telling`), in order, and the sequence to continue after.

        That moves on past what the scope does not see.
        """
        ...

    def read_log(self, *, after: int, limit: int) -> Sequence[tuple[LogEntry, Today]]:
        """The log itself, in order and without gaps; for the service that tells each follower its part of it."""
        ...

    def last_sequence(self) -> int: ...
    def wait_for_change(self, *, after: int, timeout: float) -> bool:
        """True as soon as the log goes beyond `after`, by whichever process; False when the time is up."""
        ...

    def list_projects(self, scope: ReadScope) -> list[Project]: ...
    def list_repos(self, scope: ReadScope) -> list[Repo]: ...
    def list_views(self, scope: ReadScope) -> list[SavedView]: ...
    def find_receipt(self, memory_id: MemoryId) -> Receipt | None: ...
    def count_access(self, ids: Iterable[MemoryId], *, by: MemberId, at: datetime) -> None:
        """Buffered; stored within a second."""
        ...

    def log_recall(self, recall: Recall, *, request: Mapping[str, Any], by: MemberId, at: datetime) -> bool:
        """Buffered; stored within a second, for as long as recalls are kept. False where nothing was ever written."""
        ...

    def find_recall(self, member_id: MemberId, id: RecallId) -> LoggedRecall | None:
        """One of the member's own, as it was answered; without hits that are no longer in sight."""
        ...

    def list_recalls(self, member_id: MemberId, memory_id: MemoryId, *, limit: int) -> list[LoggedRecall]:
        """The member's latest that found this memory."""
        ...

    def forget_recalls(self, *, before: datetime) -> int:
        """Drops what the log has of searches before that moment; returns how many there were."""
        ...

    def scrub(self) -> int:
        """Removes the bytes of purged memories from the files; returns how many receipts that settled."""
        ...

    def backup(self, target: Path) -> None:
        """A consistent copy while readers and writers go on."""
        ...

    def check(self) -> list[str]:
        """Full integrity check; what is wrong, in words, or nothing.

        Damage turns the store read-only; one that is found sound is written again.
        """
        ...

    def damage(self) -> Damage | None:
        """What is known to be wrong with the files, as they are now."""
        ...

    @property
    def is_damaged(self) -> bool:
        """The same as far as it is known already; costs nothing."""
        ...

    def is_readable(self) -> bool:
        """Whether there is anything to read: not where a store was and is gone."""
        ...


class Watch(Protocol):
    """Tells that a team may have been written to, and keeps nothing open for it."""

    def wait(self, timeout: float) -> bool:
        """True as soon as there may be something new since the last True; False when the time is up.

        A commit of this process is told of at once, one of another within a fraction of a second.
        """
        ...

    def wake(self) -> None:
        """Ends a wait that is under way, or the next one."""
        ...

    def close(self) -> None: ...


class Stores(Protocol):
    """The stores of all teams, opened and closed as they are needed."""

    def lease(self, team: TeamName) -> AbstractContextManager[Store]:
        """The team's store, kept open for the length of the block. A team never written to reads as empty."""
        ...

    def teams_with_store(self) -> list[TeamName]:
        """Those that can be worked on: without the damaged ones."""
        ...

    def damages(self) -> list[Damage]:
        """What is known to be wrong with any store, also with one that is gone."""
        ...

    def is_damaged(self, team: TeamName) -> bool:
        """As far as it is known already; costs next to nothing."""
        ...

    def reset(self, team: TeamName) -> None:
        """Puts the files of a store aside, whatever is left of them; the team starts afresh."""
        ...

    def written(self) -> Mapping[TeamName, int]:
        """Of each team with a store, a stamp that changes with every write of whatever process; opens nothing."""
        ...

    def watch(self, team: TeamName) -> Watch: ...

    def close(self) -> None: ...
