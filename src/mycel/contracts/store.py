"""The store of one team, made of small parts, and the stores of a workspace.

What is to become of a record is decided in `domain.archive`; sources, events, places and links come in through the
parts that keep them.

Every read takes a `ReadScope` made from its caller and answers as if what the scope does not see did not exist.
Stores raise `Unavailable` (or `StorageFull`) when they cannot answer now, `StoreDamaged` when they are damaged
or gone, and `Misconfigured` when they never will. A damaged store answers reads as far as it can, and no write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol, TypeVar

from mycel.access.scope import ReadScope
from mycel.contracts.activity_store import ActivityReads, ActivityWrites
from mycel.contracts.engine_store import (
    CascadeReads,
    CascadeWrites,
    QueueReads,
    QueueWrites,
    ReportReads,
    ReportWrites,
    SourceReads,
    SourceWrites,
)
from mycel.contracts.episode_store import (
    ApproachReads,
    ApproachWrites,
    EpisodeReads,
    EpisodeWrites,
    RateReads,
    RateWrites,
)
from mycel.contracts.file_care import FileCare
from mycel.contracts.memory_store import (
    LinkReads,
    LinkWrites,
    MemoryReads,
    MemoryWrites,
    PlaceReads,
    PlaceWrites,
    Requests,
)
from mycel.contracts.review_store import ReviewReads, ReviewWrites
from mycel.contracts.search_store import EmbeddingReads, EmbeddingWrites, IndexReads, RecallReads, RecallWrites
from mycel.contracts.tables import Tables
from mycel.domain.archive import BackupNote, MemoryRecord, Record, SourcePassage, Standing, Tombstone
from mycel.domain.artifact import Artifact, ArtifactDetail, ArtifactFilters
from mycel.domain.change import AuditFilter, Change, ChangeFilter, LogEntry, Today
from mycel.domain.damage import Damage
from mycel.domain.ids import MemberId, MemoryId, TeamName
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.query import Filters, Page


class ArchiveReads(Protocol):
    def read(self, scope: ReadScope, take: Callable[[Record], None]) -> None:
        """Gives everything in sight to `take`, as of one moment; a record comes after those that it refers to.

        Readers and writers go on meanwhile. Deleted memories and receipts are only for a scope that sees everything.
        """
        ...

    def tombstones(self) -> list[Tombstone]:
        """Of all that was purged here; for whoever restores a backup."""
        ...

    def passages(self) -> list[SourcePassage]:
        """Of all that was purged from sources that are here."""
        ...

    def backup_notes(self) -> list[BackupNote]: ...


class ArchiveWrites(Protocol):
    def standing(self, scope: ReadScope, record: MemoryRecord) -> Standing:
        """What is here already that bears on this memory."""
        ...

    def put_memory(self, record: MemoryRecord, words: PackedTerms, *, by: MemberId, before: Memory | None) -> None:
        """With its id, times and versions, in place of what stood before. It gets into the log, as done by `by`."""
        ...

    def is_known(self, stone: Tombstone) -> bool: ...
    def put_tombstone(self, stone: Tombstone) -> None:
        """In place of the receipt that the same memory has here."""
        ...

    def put_backup_note(self, note: BackupNote) -> None:
        """From then on receipts name the backup where it may hold what was purged."""
        ...

    def forget_backup(self, location: str) -> None: ...


class ArtifactReads(Protocol):
    def find(self, scope: ReadScope, id: MemoryId) -> Artifact | None: ...
    def find_same(self, scope: ReadScope, like: Artifact) -> Artifact | None:
        """One of the same author that says the same of the same file for the same readers, and has not ended."""
        ...

    def page(
        self, scope: ReadScope, filters: Filters, wanted: ArtifactFilters, *, limit: int, cursor: str | None
    ) -> Page[Artifact]:
        """Newest first. Raises `InvalidInput` for a cursor that is not from this list."""
        ...

    def details(self, scope: ReadScope, ids: Collection[MemoryId]) -> Mapping[MemoryId, ArtifactDetail]:
        """Of those that are artifacts in sight."""
        ...


class ArtifactWrites(ArtifactReads, Protocol):
    def insert(self, memory: Memory, words: PackedTerms, detail: ArtifactDetail, *, by: MemberId) -> None:
        """A new memory and its detail, as `MemoryWrites.insert` stores one without."""
        ...


ResultT = TypeVar("ResultT")


class LogReads(Protocol):
    def changes(self, scope: ReadScope, *, after: int, wanted: ChangeFilter, limit: int) -> tuple[list[Change], int]:
        """What the scope is told of the log (`access.visible_change`), in order, and the sequence to continue after.

        That moves on past what the scope does not see.
        """
        ...

    def latest(
        self, scope: ReadScope, *, before: int | None, wanted: AuditFilter, limit: int
    ) -> tuple[list[Change], int | None]:
        """What the scope is told of the log, newest first, and the sequence to continue before; None at the end.

        It may stop before `limit` where the scope sees little, but always moves on.
        """
        ...

    def read(self, *, after: int, limit: int) -> Sequence[tuple[LogEntry, Today]]:
        """The log itself, in order and without gaps; for the service that tells each follower its part of it."""
        ...

    def last_sequence(self) -> int: ...
    def wait(self, *, after: int, timeout: float) -> bool:
        """True as soon as the log goes beyond `after`, by whichever process; False when the time is up."""
        ...

    def first_moment_after(self, sequence: int) -> datetime | None:
        """The moment of the first change after a sequence; None when there is none."""
        ...

    def changed_memories(self, *, after: int, limit: int) -> tuple[list[int], int]:
        """Numbers of the memories changed after a sequence, and the sequence reached."""
        ...


class Transaction(Protocol):
    """One use case's reads and writes. All of it is stored, or none; the change log is written with it.

    Its parts read as those of the store do, and see the writes of this transaction.
    """

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

    @property
    def memories(self) -> MemoryWrites: ...
    @property
    def links(self) -> LinkWrites: ...
    @property
    def places(self) -> PlaceWrites: ...
    @property
    def sources(self) -> SourceWrites: ...
    @property
    def queue(self) -> QueueWrites: ...
    @property
    def reports(self) -> ReportWrites: ...
    @property
    def reviews(self) -> ReviewWrites: ...
    @property
    def cascades(self) -> CascadeWrites: ...
    @property
    def episodes(self) -> EpisodeWrites: ...
    @property
    def rates(self) -> RateWrites: ...
    @property
    def approaches(self) -> ApproachWrites: ...
    @property
    def artifacts(self) -> ArtifactWrites: ...
    @property
    def embeddings(self) -> EmbeddingWrites: ...
    @property
    def recalls(self) -> RecallWrites: ...
    @property
    def archive(self) -> ArchiveWrites: ...
    @property
    def activity(self) -> ActivityWrites: ...
    @property
    def requests(self) -> Requests: ...


class Store(Protocol):
    """One team's memories. Safe to use from any thread; several processes may share one team."""

    @property
    def team(self) -> TeamName: ...

    def transact(self, work: Callable[[Transaction], ResultT], *, beside: bool = False) -> ResultT:
        """Runs the work in one transaction and returns once its outcome, also a raised error, is durable.

        The work may be run again after a rollback, so it must change nothing outside the transaction. What is done
        `beside`, by a thread of the service's own, is nothing that other callers wait for.
        """
        ...

    @property
    def memories(self) -> MemoryReads: ...
    @property
    def links(self) -> LinkReads: ...
    @property
    def places(self) -> PlaceReads: ...
    @property
    def sources(self) -> SourceReads: ...
    @property
    def queue(self) -> QueueReads: ...
    @property
    def reports(self) -> ReportReads: ...
    @property
    def reviews(self) -> ReviewReads: ...
    @property
    def cascades(self) -> CascadeReads: ...
    @property
    def episodes(self) -> EpisodeReads: ...
    @property
    def rates(self) -> RateReads: ...
    @property
    def approaches(self) -> ApproachReads: ...
    @property
    def artifacts(self) -> ArtifactReads: ...
    @property
    def embeddings(self) -> EmbeddingReads: ...
    @property
    def recalls(self) -> RecallReads: ...
    @property
    def archive(self) -> ArchiveReads: ...
    @property
    def activity(self) -> ActivityReads: ...
    @property
    def index(self) -> IndexReads: ...
    @property
    def log(self) -> LogReads: ...
    @property
    def files(self) -> FileCare: ...
    @property
    def tables(self) -> Tables: ...


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

    def has_damaged_rows(self, team: TeamName) -> bool:
        """Whether answers leave rows out that cannot be read, as far as that is known already; costs nothing."""
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
    def listen(self, heard: Callable[[TeamName], None]) -> None:
        """`heard` is told of every transaction of this process that has ended, before those who asked for it are.

        Of those of other processes it may be told as well."""
        ...

    def close(self) -> None: ...
