"""One write transaction on a team's store: what services may do between BEGIN and COMMIT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import apsw

from mycel.access.scope import ReadScope
from mycel.contracts.clock import Clock
from mycel.contracts.engine_store import Footprint, LeaseLost
from mycel.contracts.episode_store import MonthOfEpisodes
from mycel.contracts.store import Rating, Request
from mycel.domain.archive import MemoryRecord, Record, Taken
from mycel.domain.artifact import Artifact, ArtifactDetail
from mycel.domain.cascade import Cascade, Delivery
from mycel.domain.change import Operation
from mycel.domain.embedding import Embedded, Reached
from mycel.domain.episode import Episode, EpisodeDetail
from mycel.domain.ids import EventId, MemberId, MemoryId, ReportId, SourceId
from mycel.domain.indexed_words import IndexedText
from mycel.domain.link import Link
from mycel.domain.memory import MadeBy, Memory, MemoryType, Version
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.receipt import Receipt
from mycel.domain.report import Report
from mycel.domain.source import IngestionEvent, Source, Step
from mycel.domain.team import ENGINE
from mycel.errors import NotFound
from mycel.retrieval.columns import indexed_text, searched_values
from mycel.stores.sqlite import (
    artifacts,
    cascades,
    catalogue,
    changes,
    details,
    embeddings,
    episode_rates,
    episodes,
    import_records,
    memories,
    purge,
    queue,
    reports,
    requests,
    sources,
    upkeep,
)
from mycel.stores.sqlite.deferred import DeferredWrites, Statement
from mycel.stores.sqlite.rows import (
    HISTORY_COLUMNS,
    MEMORY_COLUMNS,
    memory_row,
    micros,
    moment,
)
from mycel.stores.sqlite.word_index import add_words, indexed_apart, remove_words
from mycel.stores.sqlite.writer import BatchLost

_WRITTEN = ("number", *MEMORY_COLUMNS, *HISTORY_COLUMNS, "source_id")
_STANDING = (*_WRITTEN, "clock_at")
_REPLACE = f"UPDATE memories SET {', '.join(f'{name} = ?' for name in _STANDING[1:])} WHERE id = ? RETURNING number"
_KEEP_VERSION = f"""
    INSERT INTO memory_versions ({", ".join(_WRITTEN)}, valid_to)
    SELECT {", ".join(_WRITTEN)}, ? FROM memories WHERE id = ?"""
# A number is never given out twice: what holds copies by number may still know the purged one.
_LATEST = """
    SELECT (SELECT committed_at FROM changes ORDER BY sequence DESC LIMIT 1),
      max(ifnull((SELECT max(number) FROM memories), 0), ifnull((SELECT max(number) FROM receipts), 0))"""

_INSERT = Statement(0, f"INSERT INTO memories ({', '.join(_STANDING)}) VALUES ", f"({', '.join('?' * len(_STANDING))})")
_UNTAG = Statement(1, "DELETE FROM memory_tags WHERE number = ?")
_TAG = Statement(1, "INSERT INTO memory_tags (tag, number) VALUES ", "(?, ?)")
_LOG = Statement(
    2,
    f"INSERT INTO changes ({', '.join(changes.LOG_COLUMNS)}) VALUES ",
    f"({', '.join('?' * len(changes.LOG_COLUMNS))})",
)


class SqliteTransaction:
    """Shared by the operations of one batch; the writer opens and ends the transaction around them.

    New rows, tags, words and the log are written at the end, for all operations together. An operation that needs
    the database before that gets a savepoint, so that it can be undone alone; most need none.
    """

    def __init__(self, connection: apsw.Connection, *, clock: Clock) -> None:
        self._connection = connection
        self._later = DeferredWrites()
        self._mark = 0
        self._operating = False
        self._has_savepoint = False
        latest, number = connection.execute(_LATEST).fetchone()
        self._last_number: int = number
        self.now: datetime = clock.now()
        self.committed_at: datetime = max(self.now, moment((latest or 0) + 1))

    @property
    def connection(self) -> apsw.Connection:
        """The database as this operation must see it: with everything written that was left for later."""
        if self._operating and not self._has_savepoint:
            self._run_later(self._mark)
            self._mark = 0
            self._connection.execute("SAVEPOINT operation")
            self._has_savepoint = True
        if self._later:
            self._later.run_before(len(self._later), self._connection)
        return self._connection

    def begin(self) -> None:
        self._operating = True
        self._has_savepoint = False
        self._mark = len(self._later)

    def keep(self) -> None:
        if self._has_savepoint:
            self._connection.execute("RELEASE operation")

    def undo(self) -> None:
        self._later.forget_after(self._mark)
        if self._has_savepoint:
            self._connection.execute("ROLLBACK TO operation")
            self._connection.execute("RELEASE operation")

    def finish(self) -> None:
        self._run_later(len(self._later))

    def _run_later(self, mark: int) -> None:
        """These are writes of other operations: if they fail, it is not this one's fault."""
        try:
            self._later.run_before(mark, self._connection)
        except apsw.Error as error:
            raise BatchLost from error

    def find(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory | None:
        return memories.find_memory(self.connection, scope, id, deleted=deleted)

    def get(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory:
        memory = self.find(scope, id, deleted=deleted)
        if memory is None:
            raise NotFound(f"no memory {id}")
        return memory

    def list_versions(self, scope: ReadScope, id: MemoryId) -> list[Version]:
        return memories.list_versions(self.connection, scope, id)

    def find_version(self, scope: ReadScope, id: MemoryId, version: int) -> Memory | None:
        return memories.find_version(self.connection, scope, id, version)

    def find_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        return memories.find_by_key(self.connection, scope, like)

    def find_waiting_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        return memories.find_waiting_by_key(self.connection, scope, like)

    def find_source(self, scope: ReadScope, id: SourceId) -> Source | None:
        return sources.find_source(self.connection, scope, id)

    def insert(self, written: Sequence[tuple[Memory, IndexedText]], *, by: MemberId) -> None:
        for memory, words in written:
            self._last_number = number = self._last_number + 1
            self._later.add(_INSERT, (number, *self._row(memory, by, None)))
            add_words(self._later, memory, words, number=number)
            for tag in memory.tags:
                self._later.add(_TAG, (tag, number))
            self._log(Operation.CREATE, memory, by=by)
        if any(memory.key is not None for memory, _ in written):
            # Now, so that a key that is taken is this operation's own failure.
            _ = self.connection

    def insert_episode(self, memory: Memory, words: IndexedText, detail: EpisodeDetail, *, by: MemberId) -> None:
        self.insert([(memory, words)], by=by)
        episodes.add_episode(self._later, self._last_number, memory, detail)

    def insert_artifact(self, memory: Memory, words: IndexedText, detail: ArtifactDetail, *, by: MemberId) -> None:
        self.insert([(memory, words)], by=by)
        self._later.add(artifacts.INSERT, artifacts.detail_row(self._last_number, detail))

    def find_artifact(self, scope: ReadScope, id: MemoryId) -> Artifact | None:
        return artifacts.find_artifact(self.connection, scope, id)

    def find_same_artifact(self, scope: ReadScope, like: Artifact) -> Artifact | None:
        return artifacts.find_same(self.connection, scope, like, now=self.now)

    def has_detail(self, id: MemoryId) -> bool:
        return details.has_detail(self.connection, id)

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
        self.connection.execute(_KEEP_VERSION, (micros(self.committed_at), before.id))
        row = (*self._row(after, by, reason), after.id)
        number = self.connection.execute(_REPLACE, row).fetchone()[0]
        if searched_values(after) != searched_values(before) or indexed_apart(before, after):
            remove_words(self._later, number=number)
            add_words(self._later, after, words or indexed_text(after), number=number)
        if MemoryType.EPISODE in (before.type, after.type):
            episodes.follow_memory(self.connection, number, after)
        if after.tags != before.tags:
            self._later.add(_UNTAG, (number,))
            for tag in after.tags:
                self._later.add(_TAG, (tag, number))
        self._log(operation, after, by=by, before=before)

    def purge(self, memory: Memory, *, by: MemberId) -> Receipt:
        # The summary of its month may quote it; the next night tells the month anew. Retention leaves it what it has.
        if by != ENGINE:
            for summary in episodes.months_telling_of(self.connection, memory):
                self.purge(summary, by=by)
        # Here, since it loads what splits sentences, which few processes need.
        from mycel.stores.sqlite import forgetting

        for source_id, said in forgetting.forget_evidence(self.connection, memory).items():
            for summary in forgetting.list_summaries(self.connection, source_id, like=memory):
                self._redact(summary, said, by=by)
        number, receipt = purge.purge_memory(self.connection, memory, by=by, now=self.committed_at)
        remove_words(self._later, number=number)
        self._later.add(_UNTAG, (number,))
        self._log(Operation.PURGE, memory, by=by)
        return receipt

    def find_episode(self, scope: ReadScope, id: MemoryId) -> Episode | None:
        return episodes.find_episode(self.connection, scope, id)

    def list_prunable(self, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
        return episodes.list_prunable(self.connection, scope, before=before, limit=limit)

    def count_pruned(self, ids: Sequence[MemoryId]) -> None:
        episode_rates.count_pruned(self.connection, ids)

    def mark_told(self, month: MonthOfEpisodes) -> None:
        episode_rates.mark_told(self.connection, month)

    def find_month(self, scope: ReadScope, path: str) -> Memory | None:
        return episodes.find_month(self.connection, scope, path)

    def _redact(self, summary: Memory, said: Sequence[str], *, by: MemberId) -> None:
        from mycel.stores.sqlite import forgetting

        clean = forgetting.redacted_memory(summary, said)
        if clean is not summary:
            # The engine goes on with its own summaries only.
            owner = ENGINE if self.changed_last_by(summary.id) == ENGINE else by
            after = replace(clean, version=summary.version + 1, updated_at=self.committed_at)
            self.replace(summary, after, by=owner, reason="something it said was purged")
        if forgetting.redact_versions(self.connection, summary.id, said):
            purge.forget_recalls_of(self.connection, summary.id)

    def link(self, link: Link, *, origin: Memory) -> Link:
        standing = memories.find_link(self.connection, link)
        if standing is not None:
            return standing
        self.connection.execute(
            "INSERT INTO memory_links VALUES (?, ?, ?, ?, ?)",
            (link.from_id, link.to_id, link.relation, link.created_by, micros(link.created_at)),
        )
        self._log(Operation.LINK, origin, by=link.created_by, other_id=link.to_id)
        return link

    def unlink(self, link: Link, *, origin: Memory) -> bool:
        self.connection.execute(
            "DELETE FROM memory_links WHERE from_id = ? AND to_id = ? AND relation = ?",
            (link.from_id, link.to_id, link.relation),
        )
        gone = self.connection.changes() > 0
        if gone:
            self._log(Operation.UNLINK, origin, by=link.created_by, other_id=link.to_id)
        return gone

    def rate(self, rating: Rating) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?)",
            (rating.memory_id, rating.member_id, rating.useful, rating.recall_id, micros(self.now)),
        )

    def find_request(self, member_id: MemberId, operation: str, key: str) -> Request | None:
        return requests.find_request(self.connection, member_id, operation, key, now=self.now)

    def remember_request(self, request: Request) -> None:
        requests.remember_request(self.connection, request, now=self.now)

    def register_project(self, project: Project) -> Project:
        return catalogue.register_project(self.connection, project)

    def register_repo(self, repo: Repo) -> Repo:
        return catalogue.register_repo(self.connection, repo)

    def save_view(self, member_id: MemberId, view: SavedView) -> None:
        catalogue.save_view(self.connection, member_id, view)

    def delete_view(self, member_id: MemberId, name: str) -> bool:
        return catalogue.delete_view(self.connection, member_id, name)

    def find_twin(self, like: Source) -> Source | None:
        return sources.find_twin(self.connection, like)

    def find_document(self, source: Source, *, shared: bool) -> Source | None:
        return sources.find_document(self.connection, source, shared=shared)

    def is_still_so(self, source: Source) -> bool:
        return sources.is_still_so(self.connection, source)

    def changed_last_by(self, id: MemoryId) -> MemberId | None:
        row = self.connection.execute("SELECT changed_by FROM memories WHERE id = ?", (id,)).fetchone()
        return None if row is None else row[0]

    def is_purged(self, id: MemoryId) -> bool:
        return purge.find_receipt(self.connection, id) is not None

    def gave_up_since(self, step: Step, moment: datetime) -> bool:
        return queue.gave_up_since(self.connection, step, moment, now=self.now)

    def add_source(self, source: Source) -> None:
        sources.add_source(self.connection, source)

    def is_growing(self, report: Source) -> bool:
        return sources.is_growing(self.connection, report)

    def grow_source(self, known: Source, renewed: Source) -> bool:
        return sources.grow_source(self.connection, known, renewed)

    def set_extracted(self, id: SourceId, to: int) -> None:
        self.connection.execute("UPDATE sources SET extracted_to = ? WHERE id = ?", (to, id))

    def find_made(self, scope: ReadScope, source_id: SourceId, made_by: MadeBy) -> Memory | None:
        return upkeep.find_made(self.connection, scope, source_id, made_by)

    def list_made(self, scope: ReadScope, source_id: SourceId) -> list[Memory]:
        return upkeep.list_made(self.connection, scope, source_id)

    def list_indexed(self, scope: ReadScope, source: Source, *, shared: bool) -> list[Memory]:
        return upkeep.list_indexed(self.connection, scope, source, shared=shared)

    def add_event(self, event: IngestionEvent) -> None:
        queue.add_event(self.connection, event)

    def replace_event(self, event: IngestionEvent) -> None:
        queue.replace_event(self.connection, event)

    def find_event(self, scope: ReadScope, id: EventId) -> IngestionEvent | None:
        return queue.find_event(self.connection, scope, id)

    def latest_event(self, source_id: SourceId) -> IngestionEvent | None:
        return queue.latest_event(self.connection, source_id)

    def find_waiting(self, source_id: SourceId | None, step: Step) -> IngestionEvent | None:
        return queue.find_waiting(self.connection, source_id, step)

    def claim(self, *, lease: str, until: datetime) -> IngestionEvent | None:
        return queue.claim(self.connection, now=self.now, lease=lease, until=until)

    def extend_lease(self, event: IngestionEvent, *, until: datetime) -> bool:
        return queue.extend_lease(self.connection, event, now=self.now, until=until)

    def require_lease(self, event: IngestionEvent) -> None:
        if not queue.holds_lease(self.connection, event):
            raise LeaseLost("another worker has taken this event over")

    def list_links(self, scope: ReadScope, id: MemoryId) -> list[Link]:
        return memories.list_links(self.connection, scope, id)

    def add_report(self, report: Report, footprint: Footprint) -> None:
        reports.add_report(self.connection, report, footprint)

    def find_report(self, scope: ReadScope, id: ReportId) -> Report | None:
        return reports.find_report(self.connection, scope, id)

    def find_footprint(self, id: ReportId) -> Footprint:
        return reports.find_footprint(self.connection, id)

    def mark_undone(self, report: Report) -> None:
        reports.mark_undone(self.connection, report)

    def list_expired(self, scope: ReadScope, *, limit: int) -> list[Memory]:
        return upkeep.list_expired(self.connection, scope, now=self.now, limit=limit)

    def list_forgotten(self, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
        return upkeep.list_forgotten(self.connection, scope, before=before, limit=limit)

    def read_progress(self, name: str) -> int:
        return upkeep.read_progress(self.connection, name)

    def set_progress(self, name: str, value: int) -> None:
        upkeep.set_progress(self.connection, name, value)

    def put_cascade(self, cascade: Cascade) -> None:
        cascades.put_cascade(self.connection, cascade)

    def find_cascade(self, *, memory_id: MemoryId | None = None, event_id: EventId | None = None) -> Cascade | None:
        return cascades.find_cascade(self.connection, memory_id=memory_id, event_id=event_id)

    def rearm_cascades(self) -> int:
        return cascades.rearm_cascades(self.connection)

    def put_delivery(self, memory_id: MemoryId, delivery: Delivery) -> None:
        cascades.put_delivery(self.connection, memory_id, delivery)

    def store_embeddings(
        self, model: str, embedded: Sequence[Embedded], *, started: Reached | None, reached: Reached
    ) -> bool:
        return embeddings.store_embeddings(self.connection, model, embedded, started=started, reached=reached)

    def begin_backup(self, location: str) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO backups VALUES (?, ?, NULL)", (location, micros(self.committed_at))
        )

    def end_backup(self, location: str) -> None:
        self.connection.execute(
            "UPDATE backups SET finished_at = ? WHERE location = ?", (micros(self.committed_at), location)
        )

    def take_in(
        self,
        scope: ReadScope,
        record: Record,
        *,
        by: MemberId,
        words: IndexedText | None = None,
        dry_run: bool = False,
    ) -> Taken:
        if isinstance(record, MemoryRecord):
            return self._take_memory(scope, record, by, words or indexed_text(record.present.memory), dry_run=dry_run)
        if not isinstance(record, Link):
            return import_records.take_plain(self.connection, scope, record, dry_run=dry_run)
        if memories.find_link(self.connection, record) is not None:
            return Taken.UNCHANGED
        if not dry_run:
            self.link(record, origin=self.get(scope, record.from_id, deleted=True))
        return Taken.NEW

    def _take_memory(
        self, scope: ReadScope, record: MemoryRecord, by: MemberId, words: IndexedText, *, dry_run: bool
    ) -> Taken:
        memory = record.present.memory
        number, standing = import_records.find_standing(self.connection, scope, memory.id) or (
            self._last_number + 1,
            None,
        )
        taken = import_records.weigh_memory(self.connection, record, standing)
        if dry_run or taken not in {Taken.NEW, Taken.UPDATED}:
            return taken
        if standing is None:
            self._last_number = number
            import_records.insert_memory(self.connection, record, words, number=number)
            self._log(Operation.CREATE, memory, by=by)
        else:
            import_records.replace_memory(self.connection, record, words, number=number)
            self._log(Operation.UPDATE, memory, by=by, before=standing.memory)
        return taken

    def _row(self, memory: Memory, by: MemberId, reason: str | None) -> tuple[object, ...]:
        origin = memory.evidence_ref or memory.source_ref
        source_id = origin.source_id if origin else None
        clock_at = None if self.committed_at == self.now else micros(self.now)
        return (*memory_row(memory), micros(self.committed_at), by, reason, source_id, clock_at)

    def _log(
        self,
        operation: Operation,
        memory: Memory,
        *,
        by: MemberId,
        before: Memory | None = None,
        other_id: str | None = None,
    ) -> None:
        self._later.add(
            _LOG, changes.log_row(operation, memory, by=by, at=self.committed_at, before=before, other_id=other_id)
        )
