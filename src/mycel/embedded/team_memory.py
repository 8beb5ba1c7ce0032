"""A team's memory as one member sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Unpack, cast

from mycel.contracts.memory_fields import (
    AuditFields,
    CaptureFields,
    FilterFields,
    InboxFilterFields,
    IngestFields,
    Messages,
    PolicyFields,
    TaskFields,
    TaskResultFields,
)
from mycel.contracts.written_fields import ChangedFields, MemoryFields
from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.briefing import Briefing
from mycel.domain.cascade import Cascade
from mycel.domain.change import Change
from mycel.domain.context import ContextBundle
from mycel.domain.fields import flag
from mycel.domain.inbox import InboxItem
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Status, Version
from mycel.domain.policy import Policy
from mycel.domain.query import Page, Statistics, Tree
from mycel.domain.recall import Explanation, Recall
from mycel.domain.receipt import Receipt
from mycel.domain.report import Report
from mycel.domain.source import IngestionEvent
from mycel.domain.surroundings import Usage
from mycel.domain.task import TaskRecord, as_mapping
from mycel.domain.team import Caller
from mycel.embedded.activity import ActivityOfTeam
from mycel.embedded.member_services import MemberServices
from mycel.embedded.parts import Artifacts, EpisodeLedger, Imports, Knowledge, Projects, Repos, Reviews, Sources, Views
from mycel.errors import InvalidInput
from mycel.wire.operations import by_any_name


@by_any_name()
class TeamMemory:
    """See `contracts.memory_api.MemoryApi` for what each method promises."""

    def __init__(self, caller: Callable[[], Caller], services: MemberServices) -> None:
        self._caller = caller
        self._do = services
        self.projects = Projects(caller, services.catalogue)
        self.repos = Repos(caller, services.catalogue)
        self.sources = Sources(caller, services.catalogue, services.capture)
        self.knowledge = Knowledge(caller, services.knowledge, services.importing)
        self.imports = Imports(caller, services.foreign)
        self.reviews = Reviews(caller, services.candidates, services.writers)
        self.views = Views(caller, services.catalogue, services.searching)
        self.episodes = EpisodeLedger(caller, services.episodes)
        self.activity = ActivityOfTeam(caller, services.activity)
        self.artifacts = Artifacts(caller, services.artifacts)

    def __repr__(self) -> str:
        return f"<TeamMemory of {self._caller().member_id} in {self._caller().team}>"

    @property
    def member_id(self) -> str:
        return self._caller().member_id

    @property
    def team(self) -> str:
        return self._caller().team

    def who_am_i(self) -> Caller:
        return self._caller()

    def save(
        self, content: str, *, similar: bool = False, supersedes: str | None = None, **fields: Unpack[MemoryFields]
    ) -> Memory:
        caller = self._caller()
        wanted = flag(similar, field="similar")
        saved = self._do.writing.save(caller, content, fields, supersedes=supersedes)
        return self._do.comparing.with_similar(caller, saved) if wanted else saved

    def ingest(self, given: Mapping[str, Any] | None = None, /, **memory_input: Unpack[IngestFields]) -> Memory:
        if given is not None:
            return cast(Any, self).ingest(memory_input=given, **memory_input)
        said = dict(memory_input)
        if said.pop("agent_id", None) not in (None, self.member_id):
            raise InvalidInput("is who writes it, and that is always the caller", field="agent_id")
        if said.get("content") is None:
            raise InvalidInput("is required", field="content")
        # Whether it is active at once follows from the writer and the policy; the inbox may be asked for.
        status = said.pop("status", None)
        if status not in (None, Status.ACTIVE, Status.INBOX):
            raise InvalidInput("of a new memory is active or inbox", field="status")
        if status == Status.INBOX:
            said["needs_review"] = True
        return cast(Any, self).save(**said)

    def save_many(self, items: Sequence[Mapping[str, Any]]) -> list[Memory]:
        return self._do.writing.save_many(self._caller(), items)

    def update(self, id: str, **fields: Unpack[ChangedFields]) -> Memory:
        return self._do.writing.update(self._caller(), id, fields)

    def delete(self, id: str) -> None:
        self._do.writing.delete(self._caller(), id)

    def restore(self, id: str) -> Memory:
        return self._do.writing.restore(self._caller(), id)

    def purge(self, id: str) -> Receipt:
        return self._do.writing.purge(self._caller(), id)

    def receipt(self, id: str) -> Receipt:
        return self._do.reading.receipt(self._caller(), id)

    def link(self, from_id: str, to_id: str, relation: str) -> Link:
        return self._do.relating.link(self._caller(), from_id, to_id, relation)

    def unlink(self, from_id: str, to_id: str, relation: str) -> None:
        self._do.relating.unlink(self._caller(), from_id, to_id, relation)

    def rate(self, id: str, *, useful: bool, recall_id: str | None = None) -> None:
        self._do.relating.rate(self._caller(), id, useful=useful, recall_id=recall_id)

    def get(
        self, id: str, *, as_of: datetime | str | None = None, for_use: bool = True, embedding: bool = False
    ) -> Memory:
        caller, wanted = self._caller(), flag(embedding, field="embedding")
        found = self._do.reading.get(caller, id, as_of=as_of, for_use=for_use)
        return self._do.reading.with_embeddings(caller, [found])[0] if wanted else found

    def history(self, id: str) -> list[Version]:
        return self._do.reading.history(self._caller(), id)

    def links(self, id: str) -> list[Link]:
        return self._do.reading.links(self._caller(), id)

    def usage(self, id: str) -> Usage:
        return self._do.reading.usage(self._caller(), id)

    def tree(self, path: str = "/", *, team: str | None = None) -> Tree:
        return self._do.reading.tree(self._caller(), path, team=team)

    def recent(self, limit: int = 10) -> Page[Memory]:
        return self._do.reading.recent(self._caller(), limit=limit)

    def stats(self, *, with_tags: bool = False) -> Statistics:
        return self._do.reading.statistics(self._caller(), with_tags=with_tags)

    def search(
        self,
        query: str | None,
        *,
        limit: int = 10,
        min_relevance: float | None = None,
        ranking: str | None = None,
        as_of: datetime | str | None = None,
        order_by: str | None = None,
        embedding: bool = False,
        **filters: Unpack[FilterFields],
    ) -> Recall:
        caller, wanted = self._caller(), flag(embedding, field="embedding")
        recall = self._do.searching.search(
            caller,
            query,
            filters,
            limit=limit,
            min_relevance=min_relevance,
            ranking=ranking,
            as_of=as_of,
            order_by=order_by,
        )
        if not wanted:
            return recall
        memories = self._do.reading.with_embeddings(caller, [hit.memory for hit in recall.hits])
        hits = tuple(replace(hit, memory=memory) for hit, memory in zip(recall.hits, memories, strict=True))
        return replace(recall, hits=hits)

    def context_for(
        self,
        project: str | None = None,
        repo: str | None = None,
        agent: str | None = None,
        task: str | None = None,
        *,
        thread: str | None = None,
        asked_by: str | None = None,
        token_budget: int | None = None,
        ranking: str | None = None,
    ) -> ContextBundle:
        return self._do.context.context_for(
            self._caller(),
            project=project,
            repo=repo,
            agent=agent,
            task=task,
            thread=thread,
            asked_by=asked_by,
            token_budget=token_budget,
            ranking=ranking,
        )

    def explain(
        self, recall_id: str | None = None, *, memory_id: str | None = None, missing: str | None = None
    ) -> Explanation:
        return self._do.explaining.explain(self._caller(), recall_id=recall_id, memory_id=memory_id, missing=missing)

    def capture_session(
        self,
        messages: Messages | None = None,
        scope: str | None = None,
        *,
        source_id: str | None = None,
        closed: bool = True,
        idempotency_key: str | None = None,
        **fields: Unpack[CaptureFields],
    ) -> IngestionEvent:
        return self._do.capture.session(
            self._caller(),
            messages,
            fields,
            scope=scope,
            source_id=source_id,
            closed=closed,
            idempotency_key=idempotency_key,
        )

    def capture_conversation(
        self,
        messages: Messages | None = None,
        scope: str | None = None,
        capture_mode: str = "extract",
        *,
        source_id: str | None = None,
        **fields: Unpack[CaptureFields],
    ) -> IngestionEvent:
        return self._do.capture.conversation(
            self._caller(), messages, fields, scope=scope, source_id=source_id, capture_mode=capture_mode
        )

    def summarize_thread(
        self, messages: Messages | None = None, *, source_id: str | None = None, **fields: Unpack[CaptureFields]
    ) -> IngestionEvent:
        return self._do.capture.thread(self._caller(), messages, fields, source_id=source_id)

    def index_file(
        self, path: str, content: str, *, extract: bool = False, **fields: Unpack[CaptureFields]
    ) -> IngestionEvent:
        return self._do.files.index(self._caller(), path, content, fields, extract=extract)

    def complete_task(self, *, task_id: str, output: str, **fields: Unpack[TaskFields]) -> IngestionEvent:
        given = {**fields, "task_id": task_id, "output": output, "action": "completed"}
        return self._do.tasks.record(self._caller(), given).event

    def fail_task(
        self, *, task_id: str, what_went_wrong: str, output: str | None = None, **fields: Unpack[TaskFields]
    ) -> IngestionEvent:
        said = {"task_id": task_id, "output": output, "what_went_wrong": what_went_wrong, "action": "failed"}
        return self._do.tasks.record(self._caller(), {**fields, **said}).event

    def before_task(
        self,
        task: str,
        *,
        task_id: str | None = None,
        project: str | None = None,
        repo: str | None = None,
        limit: int | None = None,
        token_budget: int | None = None,
    ) -> Briefing:
        return self._do.briefings.before_task(
            self._caller(), task, task_id=task_id, project=project, repo=repo, limit=limit, token_budget=token_budget
        )

    def after_task(self, result: Mapping[str, Any] | None = None, **fields: Unpack[TaskResultFields]) -> TaskRecord:
        return self._do.tasks.record(self._caller(), as_mapping(result, fields))

    def inbox(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[InboxFilterFields]
    ) -> Page[InboxItem]:
        return self._do.reviewing.inbox(self._caller(), filters, limit=limit, cursor=cursor)

    def approve(
        self,
        id: str,
        *,
        edits: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
        acknowledge_warning: bool = False,
    ) -> Memory:
        (approved,) = self._do.reviewing.approve(
            self._caller(),
            [id],
            edits=edits,
            expected_version=expected_version,
            acknowledge_warning=acknowledge_warning,
        )
        return approved

    def approve_many(self, ids: Sequence[str]) -> list[Memory]:
        return self._do.reviewing.approve(self._caller(), ids)

    def reject(self, id: str, reason: str | None = None, *, expected_version: int | None = None) -> Memory:
        return self._do.reviewing.reject(self._caller(), [id], reason=reason, expected_version=expected_version)[0]

    def reject_many(self, ids: Sequence[str], reason: str | None = None) -> list[Memory]:
        return self._do.reviewing.reject(self._caller(), ids, reason=reason)

    def settle(
        self, id: str, *, over: str | Sequence[str], status: str = "contradicted", reason: str | None = None
    ) -> Memory:
        return self._do.reviewing.settle(self._caller(), id, over=over, status=status, reason=reason)

    def consolidate(self, ids: Sequence[str] | None = None, *, dry_run: bool = False) -> Report:
        return self._do.consolidating.consolidate(self._caller(), ids=ids, dry_run=dry_run)

    def undo(self, report_id: str) -> Report:
        return self._do.consolidating.undo(self._caller(), report_id)

    def report(self, id: str) -> Report:
        return self._do.consolidating.report(self._caller(), id)

    def reports(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Report]:
        return self._do.consolidating.reports(self._caller(), limit=limit, cursor=cursor)

    def upsert_profile_fact(self, key: str, value: str, *, about: str | None = None, confirmed: bool = False) -> Memory:
        return self._do.teaching.upsert_profile_fact(self._caller(), key, value, about=about, confirmed=confirmed)

    def inject_learning(
        self, agent_id: str, learning: str, category: str, *, private: bool = False, idempotency_key: str | None = None
    ) -> Memory:
        return self._do.teaching.inject(
            self._caller(), agent_id, learning, category, private=private, idempotency_key=idempotency_key
        )

    def cascade(self, id: str) -> IngestionEvent:
        return self._do.cascading.cascade(self._caller(), id)

    def escalate(self, id: str) -> IngestionEvent:
        return self._do.cascading.escalate(self._caller(), id)

    def withdraw(self, id: str) -> IngestionEvent:
        return self._do.cascading.withdraw(self._caller(), id)

    def cascades(self, *, limit: int = 50, cursor: str | None = None) -> Page[Cascade]:
        return self._do.cascading.standing(self._caller(), limit=limit, cursor=cursor)

    def policy(self) -> Policy:
        return self._do.policies.of(self._caller().team)

    def set_policy(self, **parts: Unpack[PolicyFields]) -> Policy:
        return self._do.policies.change(self._caller(), parts)

    def audit(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[AuditFields]
    ) -> Page[Change]:
        return self._do.changes.audit(self._caller(), filters, limit=limit, cursor=cursor)

    def export(self, file: str | Path) -> ExportReport:
        return self._do.moving.export(self._caller(), Path(file))

    def import_(self, file: str | Path, *, dry_run: bool = False) -> MoveReport:
        return self._do.moving.import_own(self._caller(), Path(file), dry_run=dry_run)

    def changes(
        self,
        after: int | None = 0,
        path: str = "/",
        *,
        project: str | None = None,
        type: str | Sequence[str] | None = None,
        follow: bool = False,
        team: str | None = None,
    ) -> Iterator[Change]:
        return self._do.changes.read(
            self._caller, after=after, path=path, project=project, type=type, follow=follow, team=team
        )

    # Last: below this line `list` means this method.
    def list(
        self,
        *,
        order_by: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        deleted: bool = False,
        as_of: datetime | str | None = None,
        embedding: bool = False,
        **filters: Unpack[FilterFields],
    ) -> Page[Memory]:
        caller, wanted = self._caller(), flag(embedding, field="embedding")
        found = self._do.reading.list(
            caller,
            filters,
            order_by=order_by,
            limit=limit,
            cursor=cursor,
            team=team,
            deleted=deleted,
            as_of=as_of,
        )
        return Page(self._do.reading.with_embeddings(caller, found), found.next_cursor) if wanted else found
