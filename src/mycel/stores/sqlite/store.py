"""One team's store on SQLite."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mycel.access.scope import ReadScope
from mycel.contracts.clock import Clock
from mycel.contracts.episode_store import MonthOfEpisodes, TimeBucket, Wording
from mycel.contracts.store import Match, Nearest, PastVersion
from mycel.domain.archive import Record
from mycel.domain.artifact import Artifact, ArtifactDetail, ArtifactFilters
from mycel.domain.cascade import Cascade, Delivery
from mycel.domain.change import Change, ChangeFilter, LogEntry, Today
from mycel.domain.damage import Damage
from mycel.domain.embedding import Backlog, Embedded, EmbeddingProgress, Reached
from mycel.domain.episode import Episode, EpisodeDetail, EpisodeFilters, RateBy, Tally
from mycel.domain.ids import EventId, MemberId, MemoryId, RecallId, ReportId, SourceId, TeamName
from mycel.domain.inbox import Surroundings
from mycel.domain.indexed_words import Plan
from mycel.domain.link import Link
from mycel.domain.memory import EvidenceRef, Memory, Usage, Version
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Filters, Folder, Order, Page, Statistics
from mycel.domain.recall import LoggedRecall, Recall
from mycel.domain.receipt import PurgedPassage, Receipt
from mycel.domain.report import ActionKind, Report
from mycel.domain.search_request import Signals
from mycel.domain.source import EventState, IngestionEvent, Source, SourceEntry
from mycel.errors import StoreDamaged, Unavailable
from mycel.stores.sqlite import (
    approaches,
    archive,
    artifacts,
    backup,
    candidates,
    cascades,
    catalogue,
    changes,
    embeddings,
    episode_rates,
    episodes,
    memories,
    purge,
    queue,
    recalls,
    reports,
    sources,
    upkeep,
    word_search,
)
from mycel.stores.sqlite.buffers import ReadTraces
from mycel.stores.sqlite.database import Database, Disk, Records
from mycel.stores.sqlite.frequencies import WordFrequencies
from mycel.stores.sqlite.recalls import Trace
from mycel.stores.sqlite.transaction import SqliteTransaction
from mycel.stores.sqlite.vectors import TeamVectors

if TYPE_CHECKING:
    from mycel.contracts.embedder import Vector

ResultT = TypeVar("ResultT")

# How often the log is looked at for writes of other processes; those of this one are noticed at once.
POLL_SECONDS = 0.2
INDEX_FILE = "memory.vectors"


class SqliteStore:
    """See `contracts.store.Store` for what each method promises."""

    def __init__(
        self,
        path: Path,
        *,
        root: Path,
        team: TeamName,
        clock: Clock,
        disk: Disk,
        committed: Callable[[], None] | None = None,
        records: Records = Records(),  # noqa: B008 - frozen
    ) -> None:
        self.team = team
        self._clock = clock
        self._traces = ReadTraces()
        self._frequencies = WordFrequencies()
        self._database: Database[SqliteTransaction] = Database(
            path,
            root=root,
            schema="team",
            transaction=lambda connection: SqliteTransaction(connection, clock=clock),
            flush=lambda transaction: self._traces.write(transaction.connection),
            disk=disk,
            committed=committed,
            team=team,
            records=records,
        )
        self._vectors = TeamVectors(self._database, file=path.with_name(INDEX_FILE))

    def transact(self, work: Callable[[SqliteTransaction], ResultT]) -> ResultT:
        return self._database.write(work)

    def find(self, scope: ReadScope, id: MemoryId) -> Memory | None:
        return self._database.read(memories.find_memory, scope, id)

    def find_as_of(self, scope: ReadScope, id: MemoryId, at: datetime) -> Memory | None:
        return self._database.read(memories.find_as_of, scope, id, at)

    def list_versions(self, scope: ReadScope, id: MemoryId) -> list[Version]:
        return self._database.read(memories.list_versions, scope, id)

    def list_links(self, scope: ReadScope, id: MemoryId) -> list[Link]:
        return self._database.read(memories.list_links, scope, id)

    def list_memories(
        self, scope: ReadScope, filters: Filters, *, order: Order, limit: int, cursor: str | None = None
    ) -> Page[Memory]:
        return self._database.read(memories.list_memories, scope, filters, order=order, limit=limit, cursor=cursor)

    def count_memories(self, scope: ReadScope, filters: Filters) -> int:
        return self._database.read(memories.count_memories, scope, filters)

    def list_folders(self, scope: ReadScope, path: str, filters: Filters) -> list[Folder]:
        return self._database.read(memories.list_folders, scope, path, filters)

    def statistics(self, scope: ReadScope, filters: Filters) -> Statistics:
        return self._database.read(memories.statistics, scope, filters)

    def find_usage(self, scope: ReadScope, id: MemoryId) -> Usage:
        return self._database.read(memories.find_usage, scope, id)

    def search_words(self, scope: ReadScope, plan: Plan, *, filters: Filters, limit: int) -> list[Match]:
        if not plan.anchors and not plan.phrases:
            return []
        counted = self._database.read(self._frequencies.look_up, scope, word_search.named_terms(plan))
        found = self._database.read(
            word_search.search_shared, scope, plan, filters=filters, limit=limit, counted=counted
        )
        if counted.restricted:
            found += self._database.read(
                word_search.search_restricted, scope, plan, filters=filters, limit=limit, counted=counted
            )
        return word_search.best_of(found, plan, limit=limit)

    def word_frequencies(self, scope: ReadScope, terms: Iterable[str]) -> tuple[Mapping[str, int], int]:
        counted = self._database.read(self._frequencies.look_up, scope, terms)
        return counted.frequencies, counted.documents

    def search_vectors(self, scope: ReadScope, vector: Vector, *, model: str, filters: Filters, limit: int) -> Nearest:
        return self._vectors.nearest(scope, vector, model=model, filters=filters, limit=limit)

    def similarities(
        self, scope: ReadScope, vector: Vector, numbers: Sequence[int], *, model: str
    ) -> Mapping[int, float]:
        return self._vectors.similarities(scope, vector, numbers, model=model)

    def load(self, scope: ReadScope, numbers: Collection[int], *, filters: Filters) -> Mapping[int, Memory]:
        return self._database.read(candidates.load_memories, scope, numbers, filters=filters)

    def find_number(self, scope: ReadScope, id: MemoryId) -> int | None:
        return self._database.read(candidates.find_number, scope, id)

    def has_other_authors(self, author: str) -> bool:
        return self._database.read(candidates.has_other_authors, author)

    def neighbours(
        self, scope: ReadScope, numbers: Collection[int], *, filters: Filters
    ) -> Mapping[int, tuple[int, ...]]:
        return self._database.read(candidates.neighbours, scope, numbers, filters=filters)

    def signals(self, scope: ReadScope, numbers: Collection[int]) -> Mapping[int, Signals]:
        return self._database.read(candidates.read_signals, scope, numbers)

    def past_versions(self, scope: ReadScope, *, at: datetime, filters: Filters, limit: int) -> list[PastVersion]:
        return self._database.read(candidates.past_versions, scope, at=at, filters=filters, limit=limit)

    def read_backlog(self, model: str, *, limit: int) -> Backlog:
        return self._database.read(embeddings.read_backlog, model, limit=limit)

    def awaits_vectors(self, scope: ReadScope, model: str) -> bool:
        return self._database.read(embeddings.awaits_vectors, scope, model)

    def store_embeddings(
        self, model: str, embedded: Sequence[Embedded], *, started: Reached | None, reached: Reached
    ) -> bool:
        return self.transact(
            lambda transaction: transaction.store_embeddings(model, embedded, started=started, reached=reached)
        )

    def embedding_progress(self, model: str) -> EmbeddingProgress:
        return self._database.read(embeddings.progress, model)

    def save_index(self, model: str, *, dimensions: int) -> None:
        self._vectors.save(model, dimensions)

    def changes(self, scope: ReadScope, *, after: int, wanted: ChangeFilter, limit: int) -> tuple[list[Change], int]:
        return self._database.read(changes.read_changes, scope, after=after, wanted=wanted, limit=limit)

    def read_log(self, *, after: int, limit: int) -> Sequence[tuple[LogEntry, Today]]:
        return self._database.read(changes.read_log, after=after, limit=limit)

    def last_sequence(self) -> int:
        return self._database.read(changes.last_sequence)

    def wait_for_change(self, *, after: int, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while self.last_sequence() <= after:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._database.wait(min(left, POLL_SECONDS))
        return True

    def list_projects(self, scope: ReadScope) -> list[Project]:
        return self._database.read(catalogue.list_projects, scope)

    def list_repos(self, scope: ReadScope) -> list[Repo]:
        return self._database.read(catalogue.list_repos, scope)

    def list_views(self, scope: ReadScope) -> list[SavedView]:
        return self._database.read(catalogue.list_views, scope)

    def find_source(self, scope: ReadScope, id: SourceId) -> Source | None:
        return self._database.read(sources.find_source, scope, id)

    def find_thread_title(self, scope: ReadScope, thread_id: str) -> str | None:
        return self._database.read(sources.find_thread_title, scope, thread_id)

    def find_growing(self, report: Source) -> Source | None:
        return self._database.read(sources.find_growing, report)

    def list_purged(self, report: Source) -> list[PurgedPassage]:
        return self._database.read(sources.list_purged, report)

    def list_sources(self, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[SourceEntry]:
        return self._database.read(sources.list_sources, scope, limit=limit, cursor=cursor)

    def find_event(self, scope: ReadScope, id: EventId) -> IngestionEvent | None:
        return self._database.read(queue.find_event, scope, id)

    def list_events(
        self, scope: ReadScope, *, state: EventState | None = None, limit: int, cursor: str | None = None
    ) -> Page[IngestionEvent]:
        return self._database.read(queue.list_events, scope, state=state, limit=limit, cursor=cursor)

    def count_events(self, scope: ReadScope) -> Mapping[str, int]:
        return self._database.read(queue.count_events, scope)

    def next_due(self) -> datetime | None:
        return self._database.read(queue.next_due, now=self._clock.now())

    def find_episode(self, scope: ReadScope, id: MemoryId) -> Episode | None:
        return self._database.read(episodes.find_episode, scope, id)

    def list_episodes(
        self, scope: ReadScope, filters: EpisodeFilters, *, limit: int, cursor: str | None = None
    ) -> Page[Episode]:
        return self._database.read(episodes.list_episodes, scope, filters, limit=limit, cursor=cursor)

    def details_of(self, ids: Collection[MemoryId]) -> Mapping[MemoryId, EpisodeDetail]:
        return self._database.read(episodes.details_of, ids)

    def rates(self, scope: ReadScope, filters: EpisodeFilters, *, by: RateBy) -> Mapping[str, Tally]:
        return self._database.read(episode_rates.rates, scope, filters, by=by)

    def outcomes_after(self, scope: ReadScope, ids: Collection[MemoryId]) -> Mapping[MemoryId, Tally]:
        return self._database.read(episode_rates.outcomes_after, scope, ids)

    def rates_over_time(
        self, scope: ReadScope, filters: EpisodeFilters, stretches: Sequence[TimeBucket]
    ) -> Sequence[Tally]:
        return self._database.read(episode_rates.rates_over_time, scope, filters, stretches)

    def untold_month(self, scope: ReadScope) -> MonthOfEpisodes | None:
        return self._database.read(episode_rates.untold_month, scope)

    def next_wordings(self, model: str, *, limit: int) -> Sequence[Wording]:
        return self._database.read(approaches.next_wordings, model, limit=limit)

    def first_wordings(self, model: str, *, limit: int) -> Sequence[tuple[int, Vector]]:
        return self._database.read(approaches.first_wordings, model, limit=limit)

    def group_wordings(self, model: str, grouped: Sequence[tuple[int, int | None, bytes | None]]) -> None:
        self.transact(lambda transaction: approaches.group_wordings(transaction.connection, model, grouped))

    def find_report(self, scope: ReadScope, id: ReportId) -> Report | None:
        return self._database.read(reports.find_report, scope, id)

    def list_reports(self, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[Report]:
        return self._database.read(reports.list_reports, scope, limit=limit, cursor=cursor)

    def list_cascades(self, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[Cascade]:
        return self._database.read(cascades.list_cascades, scope, limit=limit, cursor=cursor)

    def find_cascade(self, *, memory_id: MemoryId | None = None, event_id: EventId | None = None) -> Cascade | None:
        return self._database.read(cascades.find_cascade, memory_id=memory_id, event_id=event_id)

    def list_deliveries(self, memory_id: MemoryId) -> list[Delivery]:
        return self._database.read(cascades.list_deliveries, memory_id)

    def first_change_after(self, sequence: int) -> datetime | None:
        return self._database.read(upkeep.first_change_after, sequence)

    def undone_actions(self, ids: Collection[MemoryId]) -> set[tuple[ActionKind, MemoryId, MemoryId | None]]:
        return self._database.read(reports.undone_actions, ids)

    def read_progress(self, name: str) -> int:
        return self._database.read(upkeep.read_progress, name)

    def changed_memories(self, *, after: int, limit: int) -> tuple[list[int], int]:
        return self._database.read(upkeep.changed_memories, after=after, limit=limit)

    def find_surroundings(self, scope: ReadScope, evidence: EvidenceRef, *, around: int) -> Surroundings | None:
        return self._database.read(sources.find_surroundings, scope, evidence, around=around)

    def list_settled(self, scope: ReadScope, *, limit: int) -> list[Memory]:
        return self._database.read(upkeep.list_settled, scope, limit=limit)

    def vectors_of(self, numbers: Collection[int], *, model: str) -> Mapping[int, Vector]:
        return self._database.read(embeddings.vectors_of, numbers, model=model)

    def recalled_texts(self, member_id: MemberId, *, since: datetime, limit: int) -> Sequence[str]:
        self._flush_traces()
        return self._database.read(recalls.recalled_texts, member_id, since=since, limit=limit)

    def find_artifact(self, scope: ReadScope, id: MemoryId) -> Artifact | None:
        return self._database.read(artifacts.find_artifact, scope, id)

    def list_artifacts(
        self, scope: ReadScope, filters: Filters, wanted: ArtifactFilters, *, limit: int, cursor: str | None
    ) -> Page[Artifact]:
        return self._database.read(artifacts.list_artifacts, scope, filters, wanted, limit=limit, cursor=cursor)

    def artifact_details(self, scope: ReadScope, ids: Collection[MemoryId]) -> Mapping[MemoryId, ArtifactDetail]:
        return self._database.read(artifacts.artifact_details, scope, ids)

    def read_records(self, scope: ReadScope, take: Callable[[Record], None]) -> None:
        self._database.read(archive.read_records, scope, take)

    def find_receipt(self, memory_id: MemoryId) -> Receipt | None:
        return self._database.read(purge.find_receipt, memory_id)

    def count_access(self, ids: Iterable[MemoryId], *, by: MemberId, at: datetime) -> None:
        self._traces.count(ids, by=by, at=at)
        self._database.writer.request_flush()

    def log_recall(self, recall: Recall, *, request: Mapping[str, Any], by: MemberId, at: datetime) -> bool:
        if not self._database.exists():
            return False
        self._traces.log(Trace(self.team, recall, request, by, at))
        self._database.writer.request_flush()
        return True

    def find_recall(self, member_id: MemberId, id: RecallId) -> LoggedRecall | None:
        self._flush_traces()
        return self._database.read(recalls.find_recall, member_id, id)

    def list_recalls(self, member_id: MemberId, memory_id: MemoryId, *, limit: int) -> list[LoggedRecall]:
        self._flush_traces()
        return self._database.read(recalls.list_recalls, member_id, memory_id, limit=limit)

    def forget_recalls(self, *, before: datetime) -> int:
        if not self._database.exists() or not self._database.read(recalls.has_older, before):
            return 0
        return self.transact(lambda transaction: recalls.forget_recalls(transaction.connection, before=before))

    def scrub(self) -> int:
        if not self._database.exists() or not self._database.read(purge.needs_scrub):
            return 0
        self._vectors.forget_file()
        return self._database.writer.exclusive(lambda connection: purge.scrub(connection, now=self._clock.now()))

    def backup(self, target: Path) -> None:
        # Known before it begins and until it ends: a memory purged meanwhile may or may not be in it.
        location = str(target.resolve())
        self.transact(lambda transaction: transaction.begin_backup(location))
        self._database.read(backup.copy_to, target)
        self.transact(lambda transaction: transaction.end_backup(location))

    def check(self, *, asked: bool = True) -> list[str]:
        return self._database.check(backup.find_damage, asked=asked)

    def damage(self) -> Damage | None:
        return self._database.damage()

    @property
    def is_damaged(self) -> bool:
        return self._database.is_damaged

    def is_readable(self) -> bool:
        try:
            self._database.exists()
        except StoreDamaged:
            return False
        return True

    def close(self) -> None:
        # The index is derived: without its file the next opening takes longer, and that is all.
        with contextlib.suppress(Unavailable):
            self._vectors.save()
        self._database.close()

    def _flush_traces(self) -> None:
        """A recall is asked about right after it was answered, before its time to be written has come."""
        if self._traces and self._database.exists():
            # What a damaged store knows is told without it.
            with contextlib.suppress(StoreDamaged):
                self.transact(lambda transaction: self._traces.write(transaction.connection))
