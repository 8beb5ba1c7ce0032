"""The methods every way into a team's memory has: embedded here, later the client over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, Unpack

from mycel.contracts.activity_api import ActivityApi
from mycel.contracts.imports_api import ImportsApi
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
from mycel.contracts.parts_api import (
    ArtifactsApi,
    EpisodesApi,
    KnowledgeApi,
    ProjectsApi,
    ReposApi,
    ReviewsApi,
    SourcesApi,
    ViewsApi,
)
from mycel.contracts.written_fields import ChangedFields, MemoryFields
from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.briefing import Briefing
from mycel.domain.cascade import Cascade
from mycel.domain.change import Change
from mycel.domain.context import ContextBundle
from mycel.domain.inbox import InboxItem
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Version
from mycel.domain.policy import Policy
from mycel.domain.query import Page, Statistics, Tree
from mycel.domain.recall import Explanation, Recall
from mycel.domain.receipt import Receipt
from mycel.domain.report import Report
from mycel.domain.source import IngestionEvent
from mycel.domain.surroundings import Usage
from mycel.domain.task import TaskRecord
from mycel.domain.team import Caller


class MemoryApi(Protocol):
    """One member's view of its team.

    Raises `InvalidInput` naming the field, `NotFound` for what is absent or hidden, `AccessDenied` for what is seen
    but not allowed, `Conflict` when somebody was faster. What a method returns is durable.
    """

    @property
    def member_id(self) -> str: ...
    @property
    def team(self) -> str: ...
    @property
    def projects(self) -> ProjectsApi: ...
    @property
    def repos(self) -> ReposApi: ...
    @property
    def sources(self) -> SourcesApi: ...
    @property
    def views(self) -> ViewsApi: ...
    @property
    def reviews(self) -> ReviewsApi: ...
    @property
    def activity(self) -> ActivityApi: ...
    @property
    def episodes(self) -> EpisodesApi: ...
    @property
    def imports(self) -> ImportsApi: ...
    @property
    def knowledge(self) -> KnowledgeApi: ...
    @property
    def artifacts(self) -> ArtifactsApi: ...

    def who_am_i(self) -> Caller:
        """As of now: a role can change while a program runs."""
        ...

    def save(
        self, content: str, *, similar: bool = False, supersedes: str | None = None, **fields: Unpack[MemoryFields]
    ) -> Memory:
        """Stores a memory, active at once unless it must be reviewed.

        With `similar`, the answer names what stands near it, looked up once it is stored: it may be better to update
        one. `supersedes` names a memory that it replaces: at once where the caller may change it, else by a reviewer.
        With a `key` it is knowledge by the rule of `knowledge.upsert` and may wait, linked to the standing value of its
        project and category as contradicting. A `path` below `/projects` says the project, unless one is given.
        """
        ...

    def ingest(self, given: Mapping[str, Any] | None = None, /, **memory_input: Unpack[IngestFields]) -> Memory:
        """Stores a memory as `save` does, given as fields, or as one object `memory_input`.

        A whole record may also name its `agent_id`, which is the caller, and its `status`: `active`, which it is unless
        it must wait, or `inbox`.
        """
        ...

    def save_many(self, items: Sequence[Mapping[str, Any]]) -> list[Memory]:
        """Up to 1000 memories at once, each an object with `content` and the fields of `save`; all of them, or none."""
        ...

    def update(self, id: str, **fields: Unpack[ChangedFields]) -> Memory:
        """The next version. With `expected_version`, `Conflict` when the memory has moved on."""
        ...

    def delete(self, id: str) -> None:
        """Takes the memory out of every answer; `restore` brings it back until it is purged."""
        ...

    def restore(self, id: str) -> Memory: ...
    def purge(self, id: str) -> Receipt:
        """Removes the memory for good, from answers at once and from the files by a job."""
        ...

    def receipt(self, id: str) -> Receipt:
        """How far the erasure of a purged memory has come."""
        ...

    def link(self, from_id: str, to_id: str, relation: str) -> Link:
        """To a memory, or to `project:NAME` or `repo:NAME`. Linking twice is linking once."""
        ...

    def unlink(self, from_id: str, to_id: str, relation: str) -> None: ...
    def rate(self, id: str, *, useful: bool, recall_id: str | None = None) -> None: ...
    def get(
        self, id: str, *, as_of: datetime | str | None = None, for_use: bool = True, embedding: bool = False
    ) -> Memory:
        """Also an expired one. With `as_of`, what was believed at that moment, also if it was deleted since.

        What an agent gets counts as use, unless `for_use` is false, as for tools that copy or show memories; what a
        person reads never does. With `embedding`, also the vector of its text, if it has one by now.
        """
        ...

    def history(self, id: str) -> list[Version]:
        """Oldest first; the last one is the present."""
        ...

    def links(self, id: str) -> list[Link]: ...
    def usage(self, id: str) -> Usage: ...
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
        """One page, newest first unless ordered otherwise; pass its `next_cursor` for the next.

        With `deleted`, what `restore` can bring back; with `as_of`, what was believed then, also if deleted since.
        """
        ...

    def tree(self, path: str = "/", *, team: str | None = None) -> Tree: ...
    def recent(self, limit: int = 10) -> Page[Memory]: ...
    def stats(self, *, with_tags: bool = False) -> Statistics: ...
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
        """The best first, by words and by meaning, and only what is likely to help.

        With a `project` or `repo`: what is global, what belongs or is linked there, the caller's own, and of other
        projects only what is more likely useful than not. `min_relevance=0` also lists whatever else the filters
        leave, the newest first, and so does an empty question. `ranking` is `balanced` or `swarm`, by default that
        of the setting MYCEL_RANKING; `as_of` searches what was believed at that moment, also if it was deleted since.
        With `order_by`, such as `created_at DESC`, all that is found is ordered so before `limit` counts.
        """
        ...

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
        """What an agent should know before it starts a task, each memory once and with its citation.

        Sections in this order: earlier failures on the task, what the last session left open, conventions, profile,
        decisions with reasons, lessons, matches of the task, the agent's own notes, facts of the project, episodes.
        `task` is a description, or the id that memories of the task carry; without it, what the captured `thread` was
        called. What `asked_by` wishes comes first, and what members wish whom the task names. A citation is the start
        of an id, as far as the caller needs it; every method that takes an id takes it, but `purge`. `to_markdown`
        keeps to `token_budget` (100 to 100,000, by default 2000), marks what had to be shortened, and `left_out` counts
        what found no room. Near-duplicates become one that counts the others. `ranking` is as in `search`.
        `agent` is by default the caller. For another agent the bundle holds what the whole team may read: a name grants
        nothing. A lead's bundle also draws on the teams above and says so. The same state gives the same text.
        """
        ...

    def explain(
        self, recall_id: str | None = None, *, memory_id: str | None = None, missing: str | None = None
    ) -> Explanation:
        """A recall of the caller's own replayed from the log, or what is known about a memory.

        An id that is no recall of the caller's is looked for among the memories too.
        With `missing`, at which step the recalled search left that memory behind. Recalls of others and memories out
        of sight are `NotFound`.
        """
        ...

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
        """Stores the transcript of a session and returns at once; a summary and candidates follow.

        Messages with `role` and `content`, a text, or the JSONL transcript of Claude Code or Codex, up to 32 MB. A
        session that reports again under its `session_id` grows one source; until it is `closed`, or has been quiet
        for some minutes, nothing is drawn from it. A last report in which nothing was said closes it.

        With the `source_id` of material that was stored earlier, also as the only text, that is looked at instead.
        `scope` is where what is drawn from it applies: `global`, `project`, `repo`, `agent` or `session`, or
        `project:NAME` or `repo:NAME`, which also says where it belongs.

        Reports may repeat what was told before: it is kept once. One with an `idempotency_key` is new as a whole, even
        if it says the same again, unless its key has come before.
        """
        ...

    def capture_conversation(
        self,
        messages: Messages | None = None,
        scope: str | None = None,
        capture_mode: str = "extract",
        *,
        source_id: str | None = None,
        **fields: Unpack[CaptureFields],
    ) -> IngestionEvent:
        """A conversation saved on purpose: with `capture_mode="store"` it stays raw until it is captured again by its
        `source_id`, or by that id as the only text. The same material twice is one source. `scope` is as of
        `capture_session`."""
        ...

    def summarize_thread(
        self, messages: Messages | None = None, *, source_id: str | None = None, **fields: Unpack[CaptureFields]
    ) -> IngestionEvent:
        """A merged or archived thread: its summary becomes active, what can be drawn from it waits in the inbox."""
        ...

    def index_file(
        self, path: str, content: str, *, extract: bool = False, **fields: Unpack[CaptureFields]
    ) -> IngestionEvent:
        """A file of a memory folder or another document, split on its headings; a later content makes new versions.

        Files below the personal memory folder are private to the caller. The path is a name: nothing is read from it.
        """
        ...

    def complete_task(self, *, task_id: str, output: str, **fields: Unpack[TaskFields]) -> IngestionEvent:
        """An episode that is found at once; lessons in the output follow as candidates."""
        ...

    def fail_task(
        self, *, task_id: str, what_went_wrong: str, output: str | None = None, **fields: Unpack[TaskFields]
    ) -> IngestionEvent: ...
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
        """What an orchestrator should know before it hands out a task, as a bundle and, by `to_markdown`, as text.

        What was tried for it and failed, what worked on tasks like it and who did well on them, what is known, and
        outputs to build on. `task` describes it, or is the id of one that was tried before; `limit` is for each part.
        """
        ...

    def after_task(self, result: Mapping[str, Any] | None = None, **fields: Unpack[TaskResultFields]) -> TaskRecord:
        """What a task came to, in one transaction: its episode, its artifacts, and its lessons as candidates.

        As one object or as fields: `task_id`, `action` (`completed` or `failed`), `approach`, `output` or
        `what_went_wrong`, `lessons`, `artifacts`, and where it belongs. The same told again within ten minutes, or
        with the same `idempotency_key`, is one record.
        """
        ...

    def inbox(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[InboxFilterFields]
    ) -> Page[InboxItem]:
        """What waits for a decision, the surest first, each with why it waits and its evidence where it was said."""
        ...

    def approve(
        self,
        id: str,
        *,
        edits: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
        acknowledge_warning: bool = False,
    ) -> Memory:
        """Makes a candidate active, after changing it if `edits` says so; its time to live ends.

        A candidate with a `warning`, whose text reads like an order to its reader, takes `acknowledge_warning`.

        For people, leads and admins; a profile for the person it is about or an admin; another value of a key for the
        orchestrator, leads and admins, and the value that stood becomes `contradicted`.
        """
        ...

    def approve_many(self, ids: Sequence[str]) -> list[Memory]:
        """All of them, or none; one with a `warning` is approved by itself."""
        ...

    def reject(self, id: str, reason: str | None = None, *, expected_version: int | None = None) -> Memory:
        """Archives a candidate; who said so stays in its history, and why, if somebody said it."""
        ...

    def reject_many(self, ids: Sequence[str], reason: str | None = None) -> list[Memory]: ...
    def settle(
        self, id: str, *, over: str | Sequence[str], status: str = "contradicted", reason: str | None = None
    ) -> Memory:
        """Decides a contradiction: this memory holds, the others become `contradicted` or `superseded`."""
        ...

    def consolidate(self, ids: Sequence[str] | None = None, *, dry_run: bool = False) -> Report:
        """Merges duplicates, links contradictions, promotes the grounded, as the team's policy allows.

        Without `ids`, the inbox and all that changed since the last run. A dry run shows each action and why.
        """
        ...

    def undo(self, report_id: str) -> Report:
        """Everything as it was before that run, but what somebody has changed since, which `left` names."""
        ...

    def report(self, id: str) -> Report:
        """One run, with its actions on what the caller sees."""
        ...

    def reports(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Report]: ...
    def upsert_profile_fact(self, key: str, value: str, *, about: str | None = None, confirmed: bool = False) -> Memory:
        """A fact about a person, by default the caller. By somebody else it waits, unless an admin confirms it."""
        ...

    def inject_learning(
        self, agent_id: str, learning: str, category: str, *, private: bool = False, idempotency_key: str | None = None
    ) -> Memory:
        """A lead's lesson for the team or, if `private`, for one worker alone.

        `category` is `mistake-pattern`, `best-practice`, `codebase-knowledge` or `preference`.
        """
        ...

    def cascade(self, id: str) -> IngestionEvent:
        """Sends a memory to every team below; later versions and its withdrawal follow. For leads and admins."""
        ...

    def escalate(self, id: str) -> IngestionEvent:
        """Sends a memory to the parent team in the same way."""
        ...

    def withdraw(self, id: str) -> IngestionEvent:
        """Takes back every copy of a memory that was sent to other teams."""
        ...

    def cascades(self, *, limit: int = 50, cursor: str | None = None) -> Page[Cascade]:
        """What is being sent to other teams, newest first; without what was withdrawn or deleted."""
        ...

    def policy(self) -> Policy: ...
    def set_policy(self, **parts: Unpack[PolicyFields]) -> Policy:
        """Changes parts of the team's policy; for leads and admins."""
        ...

    def audit(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[AuditFields]
    ) -> Page[Change]:
        """Who changed what, newest first, as `changes` tells it; a page may be short and still have a next one."""
        ...

    def export(self, file: str | Path) -> ExportReport:
        """Writes what the caller sees of its own team into one archive, as of one moment; complete or not at all."""
        ...

    def import_(self, file: str | Path, *, dry_run: bool = False) -> MoveReport:
        """Saves the memories that stand in an archive as the caller's own, new ones; what others wrote waits.

        Links between them come along; a second time changes nothing. Versions, sources, events, episodes, artifacts and
        receipts are moved by the operator alone. The file is checked whole before anything is stored.
        """
        ...

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
        """Changes in order after a sequence number, or of now; with `follow` it waits for more and never ends.

        A memory that leaves the path, project or types asked for, or the caller's sight, is told as a `remove`.
        """
        ...
