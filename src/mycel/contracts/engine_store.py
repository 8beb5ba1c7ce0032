"""The parts of a store that the engine works on: sources, the queue, reports, cascades.

What takes a `ReadScope` answers as if the rest did not exist. What takes none is for the engine alone, which shows it
to nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from mycel.access.scope import ReadScope
from mycel.domain.cascade import Cascade, Delivery
from mycel.domain.change import Audience
from mycel.domain.ids import EventId, MemberId, MemoryId, ReportId, SourceId
from mycel.domain.inbox import Surroundings
from mycel.domain.link import Relation
from mycel.domain.memory import EvidenceRef
from mycel.domain.query import Page
from mycel.domain.receipt import PurgedPassage
from mycel.domain.report import ActionKind, Report
from mycel.domain.source import EventState, IngestionEvent, Source, SourceEntry, Step


class LeaseLost(Exception):
    """Another worker has taken the event over and will finish it. Never seen outside the engine."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a report did, so that it can be undone: memories with both versions, and the links it made."""

    changed: tuple[tuple[MemoryId, int, int], ...] = ()
    linked: tuple[tuple[MemoryId, MemoryId, Relation], ...] = ()


class Quote(NamedTuple):
    """A source that a memory, or a version of it, refers to; the evidence where it says which part of it."""

    source_id: SourceId
    evidence: EvidenceRef | None
    content: str


class SourceReads(Protocol):
    def find(self, scope: ReadScope, id: SourceId) -> Source | None: ...
    def find_thread_title(self, scope: ReadScope, thread_id: str) -> str | None:
        """What the latest source of a thread is called."""
        ...

    def find_surroundings(self, scope: ReadScope, evidence: EvidenceRef, *, around: int) -> Surroundings | None:
        """The quoted characters of a source and so many before and after; None when the source is out of sight."""
        ...

    def find_growing(self, report: Source) -> Source | None:
        """The source that this report of a session or thread of the same member grows."""
        ...

    def find_twin(self, like: Source) -> Source | None:
        """A source of the same author, readers, kind and place with the same text."""
        ...

    def find_document(self, source: Source, *, shared: bool) -> Source | None:
        """The latest source of the file that this one is a state of: its author's or, of a shared file, anybody's."""
        ...

    def page(
        self,
        scope: ReadScope,
        *,
        limit: int,
        cursor: str | None,
        agent_id: MemberId | None = None,
        session_id: str | None = None,
    ) -> Page[SourceEntry]: ...
    def purged_passages(self, report: Source) -> Sequence[PurgedPassage]:
        """What was purged from sources of the same member's session or thread."""
        ...

    def is_growing(self, report: Source) -> bool:
        """Whether there is a source that this report grows."""
        ...

    def is_still_so(self, source: Source) -> bool:
        """Whether the source still begins with this text and has been extracted as far as this says."""
        ...

    def quoted_by(self, id: MemoryId) -> list[Quote]:
        """What a memory and its versions were drawn from."""
        ...

    def other_evidence(self, id: SourceId, memory_id: MemoryId) -> list[EvidenceRef | None]:
        """What other memories were drawn from this source, each with the part of it that it names."""
        ...


class SourceWrites(SourceReads, Protocol):
    def add(self, source: Source) -> None: ...
    def grow(self, known: Source, renewed: Source) -> bool:
        """Gives a source the text and turns of `renewed`; False when it is no longer as `known` says."""
        ...

    def set_extracted(self, id: SourceId, to: int) -> None: ...
    def blank(self, id: SourceId, text: str, *, title: str | None) -> None:
        """Replaces the text by one of the same length, and forgets its hash, which would confirm a guess."""
        ...

    def restrict(self, id: SourceId, audience: Audience) -> None: ...
    def passage_key(self, id: SourceId) -> bytes | None:
        """The key under which passages that were purged from this source are known."""
        ...

    def has_passage(self, id: SourceId, digest: bytes) -> bool: ...
    def add_passages(self, id: SourceId, passages: Collection[PurgedPassage]) -> None:
        """Those that are not known yet."""
        ...


class QueueReads(Protocol):
    def find(self, scope: ReadScope, id: EventId) -> IngestionEvent | None: ...
    def find_latest(self, source_id: SourceId) -> IngestionEvent | None: ...
    def find_waiting(self, source_id: SourceId | None, step: Step) -> IngestionEvent | None:
        """The unfinished event of a source that is to do this step; without a source, the team's own."""
        ...

    def page(
        self, scope: ReadScope, *, state: EventState | None = None, limit: int, cursor: str | None = None
    ) -> Page[IngestionEvent]: ...
    def count(self, scope: ReadScope) -> Mapping[str, int]: ...
    def next_due(self) -> datetime | None:
        """When there is work to claim next; None when nothing waits."""
        ...

    def gave_up_since(self, step: Step, moment: datetime) -> bool:
        """Whether the team's own event of this step was given up after that moment."""
        ...

    def progress(self, name: str) -> int:
        """How far the engine has come with something; 0 at first."""
        ...


class QueueWrites(QueueReads, Protocol):
    def add(self, event: IngestionEvent) -> None: ...
    def replace(self, event: IngestionEvent) -> None: ...
    def claim(self, *, lease: str, until: datetime) -> IngestionEvent | None:
        """The event that has been due longest, or whose worker's lease has run out, under a lease of the caller's."""
        ...

    def extend_lease(self, event: IngestionEvent, *, until: datetime) -> bool:
        """False when the lease is no longer held."""
        ...

    def require_lease(self, event: IngestionEvent) -> None:
        """Raises `LeaseLost`, so that nothing of this transaction is stored: another worker does it."""
        ...

    def set_progress(self, name: str, value: int) -> None: ...


class ReportReads(Protocol):
    def find(self, scope: ReadScope, id: ReportId) -> Report | None:
        """With the actions on what the reader sees; None when that is nothing."""
        ...

    def page(self, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[Report]: ...
    def undone_actions(self, ids: Collection[MemoryId]) -> set[tuple[ActionKind, MemoryId, MemoryId | None]]:
        """What was done to these memories and taken back by somebody."""
        ...

    def partners(self, id: MemoryId, *, since: datetime) -> list[tuple[ReportId, MemoryId]]:
        """The other memories of actions on this one since then, with the runs; not of those that were undone."""
        ...

    def change_of(self, id: ReportId, memory_id: MemoryId) -> tuple[int, int] | None:
        """The versions of a memory before a run and after it."""
        ...


class ReportWrites(ReportReads, Protocol):
    def add(self, report: Report, footprint: Footprint) -> None: ...
    def find_footprint(self, id: ReportId) -> Footprint: ...
    def mark_undone(self, report: Report) -> None: ...


class CascadeReads(Protocol):
    def find(self, *, memory_id: MemoryId | None = None, event_id: EventId | None = None) -> Cascade | None: ...
    def page(self, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[Cascade]: ...
    def deliveries(self, memory_id: MemoryId) -> list[Delivery]: ...


class CascadeWrites(CascadeReads, Protocol):
    """A later version or a purge of a memory makes the event of its cascade due again, as `domain.cascade` says."""

    def put(self, cascade: Cascade) -> None: ...
    def put_delivery(self, memory_id: MemoryId, delivery: Delivery) -> None: ...
    def events(self) -> list[IngestionEvent]:
        """Those that carry out every cascade there ever was."""
        ...
