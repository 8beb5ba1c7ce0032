"""Made by `python -m scripts.async_stub` from the contracts; change those."""

import builtins
from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Unpack

from mycel.client import remote
from mycel.client.changes import AsyncChangeIterator
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
from mycel.contracts.parts_api import ArtifactFilterFields, EpisodeFilterFields
from mycel.contracts.written_fields import ArtifactFields, ChangedFields, EpisodeFields, KnowledgeFields, MemoryFields
from mycel.domain.activity import AuditEntry, Given, Injection, MemberActivity, Use
from mycel.domain.archive import ExportReport, MoveReport
from mycel.domain.artifact import Artifact, Verification
from mycel.domain.backup import Backup, BackupCheck
from mycel.domain.briefing import Briefing
from mycel.domain.cascade import Cascade
from mycel.domain.change import Change
from mycel.domain.context import ContextBundle
from mycel.domain.damage import Damage
from mycel.domain.embedding import EmbeddingProgress
from mycel.domain.episode import Episode, Record, SimilarEpisode, SuccessRate
from mycel.domain.foreign_import import ImportedRecord
from mycel.domain.ids import TeamName
from mycel.domain.inbox import Claim, InboxItem
from mycel.domain.knowledge import ImportReport
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Version
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.policy import Policy
from mycel.domain.query import Page, Statistics, Tree
from mycel.domain.recall import Explanation, Recall
from mycel.domain.receipt import Receipt
from mycel.domain.report import Report
from mycel.domain.source import IngestionEvent, Source, SourceEntry
from mycel.domain.surroundings import Usage
from mycel.domain.task import TaskRecord
from mycel.domain.team import Caller, IssuedToken, Member, PlannedTeam, Team, Token

class _AsyncActivity:
    async def members(self) -> builtins.list[MemberActivity]:
        """The members of the team, and when each was last seen; the latest first."""
        ...

    async def report(
        self,
        *,
        text: str,
        occasion: str,
        memory_ids: Sequence[str] = (),
        session_id: str | None = None,
        task_id: str | None = None,
    ) -> Injection:
        """Keeps what the caller was given, as it saw it, for 30 days. Hooks say so; a briefing is kept by itself.

        `occasion` is session, prompt or briefing; `memory_ids` names the memories in the text,
        by their ids or parts of them.
        """
        ...

    async def injections(
        self,
        *,
        agent: str | None = None,
        session_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Injection]:
        """What agents were given, newest first: the caller's own, and for people, leads and admins the team's.

        Of what somebody else was given it holds the notes that the caller may read by now.
        """
        ...

    async def given(self, id: str, *, limit: int | None = None) -> builtins.list[Given]:
        """Who was given a memory, when and for which task, the latest first; as long as searches are kept."""
        ...

    async def use(self, by: str = "type", *, limit: int | None = None) -> builtins.list[Use]:
        """How much use memories are, by `type` or by `agent`: read and rated by others than their authors."""
        ...

    async def actions(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[AuditEntry]:
        """Who changed what is no memory, newest first: ratings, policy, places, members, tokens, captures, runs.

        Leads and admins see those of their team, the operator also those of the workspace, others their own.
        """
        ...

class _AsyncArtifacts:
    async def register(self, *, path: str, **fields: Unpack[ArtifactFields]) -> Artifact:
        """Stores what an agent produced, found at once by its path and description.

        Size and checksum, a SHA-256, are of `content` or, without it, of the file in the first workspace folder that
        has it, and those given must agree; when none has it, the given ones are taken. `keep_content` keeps the text
        too. What the same author has registered alike is returned as it is; a changed file is a new artifact. Only an
        orchestrator, a lead or an admin names another as `agent_id`.
        """
        ...

    async def get(self, id: str) -> Artifact:
        """`NotFound` also for a memory that is no artifact."""
        ...

    async def verify(self, id: str) -> Verification:
        """Whether the file is as it was when it was registered, by its SHA-256."""
        ...

    async def delete(self, id: str) -> None:
        """As deleting the memory; the file is not touched."""
        ...

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[ArtifactFilterFields],
    ) -> Page[Artifact]:
        """Newest first; with `text` what a search finds, best first, in one page.

        A `path` that ends in `/` asks for everything below that folder.
        """
        ...

class _AsyncEpisodes:
    async def log(
        self, *, action: str, approach: str, outcome: str | None = None, **fields: Unpack[EpisodeFields]
    ) -> Episode:
        """One thing that was tried: `attempted`, `completed`, `failed` or `retried`, how, and what came of it."""
        ...

    async def log_many(self, items: Sequence[Mapping[str, Any]]) -> builtins.list[Episode]:
        """Up to 1000 at once, each an object with the fields of `log`; all of them, or none."""
        ...

    async def get(self, id: str) -> Episode: ...
    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> Page[Episode]:
        """Newest first: also finished tasks that have left the search, until they are pruned."""
        ...

    async def similar(
        self, task: str, *, action: str | None = None, project: str | None = None, limit: int | None = None
    ) -> builtins.list[SimilarEpisode]:
        """What was done on tasks like this one, by words and by meaning; with `action="completed"`, what worked."""
        ...

    async def best_agents(
        self, task: str, *, project: str | None = None, limit: int | None = None
    ) -> builtins.list[Record]:
        """Who has done well on tasks like this one, the best first."""
        ...

    async def success_rates(
        self,
        by: str = "approach",
        *,
        limit: int | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> builtins.list[SuccessRate]:
        """By `approach` (those that mean the same as one), `agent`, `day`, `week` or `month`.

        Of the last 30 days unless `since` says otherwise. Of months that were pruned the counts are kept, and are part
        of the answer where the whole month lies in the asked time.
        """
        ...

class _AsyncKnowledge:
    """Memories with a key, but for facts about people."""

    async def upsert(
        self,
        *,
        key: str,
        value: str,
        project: str | None = None,
        category: str = "fact",
        confidence: float | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[KnowledgeFields],
    ) -> Memory:
        """Replaces the standing value if it is surer, as sure and by the same member, or by the orchestrator.

        An equal value of another member confirms the standing one, which becomes as sure as the surer of the two.
        Any other waits in the inbox, linked to the standing value as contradicting: then `applied` is false, `standing`
        is what stands and `decided_by` who decides. What only repeats the own value that stands or waits changes
        nothing. `expected_version` is that of the standing value as the writer has read it, 0
        for none; `Conflict` when it is another.
        """
        ...

    async def get(
        self, *, key: str, project: str | None = None, category: str = "fact", team: str | None = None
    ) -> Memory:
        """The standing value; the one for the whole team before one for fewer readers."""
        ...

    async def candidates(
        self,
        *,
        project: str | None = None,
        category: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """What waits for an arbiter, newest first."""
        ...

    async def history(self, id: str) -> builtins.list[Version]: ...
    async def search(
        self, query: str | None, *, project: str | None = None, category: str | None = None, limit: int = 10
    ) -> Recall: ...
    async def delete(self, id: str) -> None: ...
    async def arbitrate(self, id: str, *, reason: str | None = None) -> Memory:
        """This value holds: another that stood becomes `contradicted`, what else waits for the same place is rejected.

        For the orchestrator, leads and admins. Deciding the same twice changes nothing.
        """
        ...

    async def import_markdown(
        self,
        text: str,
        *,
        name: str,
        project: str | None = None,
        category: str | None = None,
        confidence: float = 0.8,
        dry_run: bool = False,
    ) -> ImportReport:
        """The sections and `- key: value` lines of a shared markdown file, each as one value with its evidence.

        All of it in one transaction. The same file again changes nothing; of a changed one only what changed is
        written. `category` is for sections whose headings name none.
        """
        ...

    async def list(
        self,
        *,
        project: str | None = None,
        category: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
    ) -> Page[Memory]:
        """The values that stand, newest first."""
        ...

class _AsyncProjects:
    async def __call__(self) -> builtins.list[Project]: ...
    async def list(self) -> builtins.list[Project]: ...
    async def register(self, name: str, *, description: str | None = None) -> Project: ...

class _AsyncRepos:
    async def __call__(self) -> builtins.list[Repo]: ...
    async def list(self) -> builtins.list[Repo]: ...
    async def register(
        self, name: str, *, project: str | None = None, folder: str | None = None, remote: str | None = None
    ) -> Repo: ...

class _AsyncSources:
    async def get(self, id: str) -> Source: ...
    async def list(
        self, *, agent: str | None = None, session_id: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[SourceEntry]:
        """Newest first, without their texts; of all, or of what one member or session handed in."""
        ...

    async def events(
        self, *, state: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[IngestionEvent]: ...
    async def event(self, id: str) -> IngestionEvent: ...
    async def retry(self, event_id: str) -> IngestionEvent:
        """Has an event that failed or was given up done again; others stay as they are."""
        ...

class _AsyncReviews:
    """One candidate of the inbox at a time. For those who may decide about it, as `approve` says."""

    async def get(self, id: str) -> InboxItem:
        """One item of the inbox, its memory with what stands near it as `similar`; `Conflict` when it waits no more."""
        ...

    async def claim(self, id: str) -> Claim:
        """Tells others for five minutes that the caller looks at it; answers whose claim holds, and stops nobody.

        A member has one claim: another one ends it, and so does the decision.
        """
        ...

    async def snooze(self, id: str, *, until: datetime | str | None) -> InboxItem:
        """Out of the caller's own inbox until that moment; None brings it back. Others go on to see it."""
        ...

    async def merge(
        self, id: str, *, into: str, content: str | None = None, expected_version: int | None = None
    ) -> Memory:
        """The candidate gives way to a memory for the same readers that says the same; answers that memory.

        With `content` that becomes its text. The candidate is superseded, and its evidence stays linked.
        """
        ...

    async def reopen(self, id: str) -> Memory:
        """Takes the last decision about a memory back, with all that followed from it; `Conflict` if it changed since.

        What was approved, rejected or merged waits again; what lost against another stands again.
        """
        ...

    async def undo_writer(self, *, agent_id: str | None = None, since: datetime | str, dry_run: bool = False) -> Report:
        """Takes back what a member wrote and changed since then, and what was drawn and merged from it.

        For leads and admins, and for members of what they did themselves; without an `agent_id` of everybody, by an
        admin. What others have changed since is `left`. A report with `more` goes on when it is asked for again, and
        `undo` takes any of them back.
        """
        ...

class _AsyncViews:
    async def save(self, name: str, *, query: str | None = None, **filters: Unpack[FilterFields]) -> SavedView: ...
    async def list(self) -> builtins.list[SavedView]: ...
    async def delete(self, name: str) -> None: ...
    async def run(self, name: str, *, limit: int = 10) -> Recall:
        """A view without a question lists the newest that its filters leave."""
        ...

class _AsyncImports:
    async def take(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        system: str,
        trust: str = "low",
        capture_mode: str = "store",
        dry_run: bool = False,
    ) -> builtins.list[ImportedRecord]:
        """Up to 1000 records of another system, each for itself: one that is refused stops no other.

        A record is an object with its `id` there and `content` and the fields of `save`, and as `memory` the id of the
        memory here that it was once written from, whose text is not taken in a second time; or its `id`, `messages` (or
        text) and the fields of a captured conversation, which stays raw unless `capture_mode` is `extract`; or a link:
        `from_id`, `to_id` and `relation`, by ids of the same `system`. The same record again changes nothing; one that
        says something else is a new version, unless its text was changed or it was deleted here. What was purged stays
        away.

        They are memories of the caller, made by `import`. `trust` is at most the caller's; what is below what the
        team asks for waits in the inbox.
        """
        ...

class AsyncRemoteMemory:
    """One member's view of its team.

    Raises `InvalidInput` naming the field, `NotFound` for what is absent or hidden, `AccessDenied` for what is seen
    but not allowed, `Conflict` when somebody was faster. What a method returns is durable.
    """

    def __init__(self, caller: remote.Caller, **streams: Any) -> None: ...
    @property
    def member_id(self) -> Awaitable[str]: ...
    @property
    def team(self) -> Awaitable[str]: ...
    @property
    def projects(self) -> _AsyncProjects: ...
    @property
    def repos(self) -> _AsyncRepos: ...
    @property
    def sources(self) -> _AsyncSources: ...
    @property
    def views(self) -> _AsyncViews: ...
    @property
    def reviews(self) -> _AsyncReviews: ...
    @property
    def activity(self) -> _AsyncActivity: ...
    @property
    def episodes(self) -> _AsyncEpisodes: ...
    @property
    def imports(self) -> _AsyncImports: ...
    @property
    def knowledge(self) -> _AsyncKnowledge: ...
    @property
    def artifacts(self) -> _AsyncArtifacts: ...
    async def who_am_i(self) -> Caller:
        """As of now: a role can change while a program runs."""
        ...

    async def save(
        self, content: str, *, similar: bool = False, supersedes: str | None = None, **fields: Unpack[MemoryFields]
    ) -> Memory:
        """Stores a memory, active at once unless it must be reviewed.

        With `similar`, the answer names what stands near it, looked up once it is stored: it may be better to update
        one. `supersedes` names a memory that it replaces: at once where the caller may change it, else by a reviewer.
        With a `key` it is knowledge by the rule of `knowledge.upsert` and may wait, linked to the standing value of its
        project and category as contradicting. A `path` below `/projects` says the project, unless one is given.
        """
        ...

    async def ingest(self, given: Mapping[str, Any] | None = None, /, **memory_input: Unpack[IngestFields]) -> Memory:
        """Stores a memory as `save` does, given as fields, or as one object `memory_input`.

        A whole record may also name its `agent_id`, which is the caller, and its `status`: `active`, which it is unless
        it must wait, or `inbox`.
        """
        ...

    async def save_many(self, items: Sequence[Mapping[str, Any]]) -> builtins.list[Memory]:
        """Up to 1000 memories at once, each an object with `content` and the fields of `save`; all of them, or none."""
        ...

    async def update(self, id: str, **fields: Unpack[ChangedFields]) -> Memory:
        """The next version. With `expected_version`, `Conflict` when the memory has moved on."""
        ...

    async def delete(self, id: str) -> None:
        """Takes the memory out of every answer; `restore` brings it back until it is purged."""
        ...

    async def restore(self, id: str) -> Memory: ...
    async def purge(self, id: str) -> Receipt:
        """Removes the memory for good, from answers at once and from the files by a job."""
        ...

    async def receipt(self, id: str) -> Receipt:
        """How far the erasure of a purged memory has come."""
        ...

    async def link(self, from_id: str, to_id: str, relation: str) -> Link:
        """To a memory, or to `project:NAME` or `repo:NAME`. Linking twice is linking once."""
        ...

    async def unlink(self, from_id: str, to_id: str, relation: str) -> None: ...
    async def rate(self, id: str, *, useful: bool, recall_id: str | None = None) -> None: ...
    async def get(
        self, id: str, *, as_of: datetime | str | None = None, for_use: bool = True, embedding: bool = False
    ) -> Memory:
        """Also an expired one. With `as_of`, what was believed at that moment, also if it was deleted since.

        What an agent gets counts as use, unless `for_use` is false, as for tools that copy or show memories; what a
        person reads never does. With `embedding`, also the vector of its text, if it has one by now.
        """
        ...

    async def history(self, id: str) -> builtins.list[Version]:
        """Oldest first; the last one is the present."""
        ...

    async def links(self, id: str) -> builtins.list[Link]: ...
    async def usage(self, id: str) -> Usage: ...
    async def list(
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

    async def tree(self, path: str = "/", *, team: str | None = None) -> Tree: ...
    async def recent(self, limit: int = 10) -> Page[Memory]: ...
    async def stats(self, *, with_tags: bool = False) -> Statistics: ...
    async def search(
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

    async def context_for(
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

    async def explain(
        self, recall_id: str | None = None, *, memory_id: str | None = None, missing: str | None = None
    ) -> Explanation:
        """A recall of the caller's own replayed from the log, or what is known about a memory.

        An id that is no recall of the caller's is looked for among the memories too.
        With `missing`, at which step the recalled search left that memory behind. Recalls of others and memories out
        of sight are `NotFound`.
        """
        ...

    async def capture_session(
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

    async def capture_conversation(
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

    async def summarize_thread(
        self, messages: Messages | None = None, *, source_id: str | None = None, **fields: Unpack[CaptureFields]
    ) -> IngestionEvent:
        """A merged or archived thread: its summary becomes active, what can be drawn from it waits in the inbox."""
        ...

    async def index_file(
        self, path: str, content: str, *, extract: bool = False, **fields: Unpack[CaptureFields]
    ) -> IngestionEvent:
        """A file of a memory folder or another document, split on its headings; a later content makes new versions.

        Files below the personal memory folder are private to the caller. The path is a name: nothing is read from it.
        """
        ...

    async def complete_task(self, *, task_id: str, output: str, **fields: Unpack[TaskFields]) -> IngestionEvent:
        """An episode that is found at once; lessons in the output follow as candidates."""
        ...

    async def fail_task(
        self, *, task_id: str, what_went_wrong: str, output: str | None = None, **fields: Unpack[TaskFields]
    ) -> IngestionEvent: ...
    async def before_task(
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

    async def after_task(
        self, result: Mapping[str, Any] | None = None, **fields: Unpack[TaskResultFields]
    ) -> TaskRecord:
        """What a task came to, in one transaction: its episode, its artifacts, and its lessons as candidates.

        As one object or as fields: `task_id`, `action` (`completed` or `failed`), `approach`, `output` or
        `what_went_wrong`, `lessons`, `artifacts`, and where it belongs. The same told again within ten minutes, or
        with the same `idempotency_key`, is one record.
        """
        ...

    async def inbox(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[InboxFilterFields]
    ) -> Page[InboxItem]:
        """What waits for a decision, the surest first, each with why it waits and its evidence where it was said."""
        ...

    async def approve(
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

    async def approve_many(self, ids: Sequence[str]) -> builtins.list[Memory]:
        """All of them, or none; one with a `warning` is approved by itself."""
        ...

    async def reject(self, id: str, reason: str | None = None, *, expected_version: int | None = None) -> Memory:
        """Archives a candidate; who said so stays in its history, and why, if somebody said it."""
        ...

    async def reject_many(self, ids: Sequence[str], reason: str | None = None) -> builtins.list[Memory]: ...
    async def settle(
        self, id: str, *, over: str | Sequence[str], status: str = "contradicted", reason: str | None = None
    ) -> Memory:
        """Decides a contradiction: this memory holds, the others become `contradicted` or `superseded`."""
        ...

    async def consolidate(self, ids: Sequence[str] | None = None, *, dry_run: bool = False) -> Report:
        """Merges duplicates, links contradictions, promotes the grounded, as the team's policy allows.

        Without `ids`, the inbox and all that changed since the last run. A dry run shows each action and why.
        """
        ...

    async def undo(self, report_id: str) -> Report:
        """Everything as it was before that run, but what somebody has changed since, which `left` names."""
        ...

    async def report(self, id: str) -> Report:
        """One run, with its actions on what the caller sees."""
        ...

    async def reports(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Report]: ...
    async def upsert_profile_fact(
        self, key: str, value: str, *, about: str | None = None, confirmed: bool = False
    ) -> Memory:
        """A fact about a person, by default the caller. By somebody else it waits, unless an admin confirms it."""
        ...

    async def inject_learning(
        self, agent_id: str, learning: str, category: str, *, private: bool = False, idempotency_key: str | None = None
    ) -> Memory:
        """A lead's lesson for the team or, if `private`, for one worker alone.

        `category` is `mistake-pattern`, `best-practice`, `codebase-knowledge` or `preference`.
        """
        ...

    async def cascade(self, id: str) -> IngestionEvent:
        """Sends a memory to every team below; later versions and its withdrawal follow. For leads and admins."""
        ...

    async def escalate(self, id: str) -> IngestionEvent:
        """Sends a memory to the parent team in the same way."""
        ...

    async def withdraw(self, id: str) -> IngestionEvent:
        """Takes back every copy of a memory that was sent to other teams."""
        ...

    async def cascades(self, *, limit: int = 50, cursor: str | None = None) -> Page[Cascade]:
        """What is being sent to other teams, newest first; without what was withdrawn or deleted."""
        ...

    async def policy(self) -> Policy: ...
    async def set_policy(self, **parts: Unpack[PolicyFields]) -> Policy:
        """Changes parts of the team's policy; for leads and admins."""
        ...

    async def audit(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[AuditFields]
    ) -> Page[Change]:
        """Who changed what, newest first, as `changes` tells it; a page may be short and still have a next one."""
        ...

    async def export(self, file: str | Path) -> ExportReport:
        """Writes what the caller sees of its own team into one archive, as of one moment; complete or not at all."""
        ...

    async def import_(self, file: str | Path, *, dry_run: bool = False) -> MoveReport:
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
    ) -> AsyncChangeIterator:
        """Changes in order after a sequence number, or of now; with `follow` it waits for more and never ends.

        A memory that leaves the path, project or types asked for, or the caller's sight, is told as a `remove`.
        """
        ...

class AsyncOperations:
    """The operator does everything; an admin has the members of its team; everybody sees its own team."""

    def __init__(self, caller: remote.Caller) -> None: ...
    async def who_am_i(self) -> Caller: ...
    async def add_team(self, name: str, *, parent: str | None = None) -> Team:
        """Adding the same team again changes nothing; without a parent it stands under `executive`."""
        ...

    async def teams(self) -> builtins.list[Team]: ...
    async def add_member(
        self,
        id: str,
        *,
        team: str,
        role: str | None = None,
        kind: str | None = None,
        trust: str = "normal",
        title: str | None = None,
    ) -> Member:
        """Adding the same member again changes nothing; a removed one comes back.

        Without a `role` the job title says which it has: a director, lead, manager, head or chief is a lead.
        """
        ...

    async def update_member(
        self,
        id: str,
        *,
        team: str | None = None,
        role: str | None = None,
        trust: str | None = None,
        title: str | None = None,
    ) -> Member: ...
    async def remove_member(self, id: str) -> Member:
        """Its tokens end with it, and whatever was issued with them; what it wrote stays."""
        ...

    async def members(self, *, team: str | None = None) -> builtins.list[Member]: ...
    async def arrange(self, teams: Sequence[Mapping[str, Any]]) -> tuple[PlannedTeam, ...]:
        """Makes teams and members true, all together: objects with `name`, `parent` and `members`."""
        ...

    async def resolve_team(self, agent_id: str) -> TeamName:
        """The team of a member; one that nobody has named belongs to `executive`."""
        ...

    async def locate(self, id: str, *, deleted: bool = False) -> builtins.list[Memory]:
        """Return the memories of every team that an id, or 8 or more characters from an end of one, may mean.

        For the operator, who sees no team's private notes here either. At most ten of each team; with `deleted` also
        those that `restore` can bring back.
        """
        ...

    async def new_token(
        self, member_id: str, *, label: str | None = None, ttl: timedelta | float | str | None = None
    ) -> IssuedToken:
        """Its secret is shown this once and only its hash is kept.

        Whoever has shown a token issues none that works longer: without a `ttl` it works as long as that one.
        """
        ...

    async def tokens(self, *, member_id: str | None = None) -> builtins.list[Token]: ...
    async def revoke_token(self, token: str) -> None:
        """By its id or its secret; it and all that was issued with it stop working within a second everywhere."""
        ...

    async def run_pending(self) -> int:
        """Does the work that is due in every team; returns how much."""
        ...

    async def maintain(self) -> int:
        """The nightly maintenance of every team, now."""
        ...

    async def scrub(self) -> int:
        """Removes the bytes of purged memories from the files now."""
        ...

    async def re_embed(self) -> builtins.list[EmbeddingProgress]:
        """Makes missing vectors of every team beside; how far each has come."""
        ...

    async def embedding_progress(self, team: str = "executive") -> EmbeddingProgress: ...
    async def check(self) -> dict[str, builtins.list[str]]:
        """Checks every team's store in full; what is wrong, by team.

        A store that is found damaged is only read from then on, until a later check finds it sound. What is wrong with
        the workspace's own database stands under `workspace.sqlite`.
        """
        ...

    async def damages(self) -> builtins.list[Damage]:
        """The stores that are known to be damaged or gone."""
        ...

    async def reset_store(self, team: str) -> None:
        """Puts the files of a damaged store aside; the team starts afresh, with nothing in its memory."""
        ...

    async def create_backup(self, *, name: str | None = None) -> Backup:
        """Of all teams and the organisation, into the folder of the settings; named after the moment by default."""
        ...

    async def backups(self) -> builtins.list[Backup]:
        """Those in the folder of the settings, the newest first."""
        ...

    async def verify_backup(self, name: str) -> BackupCheck:
        """Reads all of it, and names what is damaged."""
        ...
