"""The parts of a team's memory, on every way into it, from artifacts and episodes to sources and views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypedDict, Unpack

from mycel.contracts.memory_fields import FilterFields
from mycel.contracts.written_fields import ArtifactFields, EpisodeFields, KnowledgeFields
from mycel.domain.artifact import Artifact, Verification
from mycel.domain.episode import Episode, Record, SimilarEpisode, SuccessRate
from mycel.domain.inbox import Claim, InboxItem
from mycel.domain.knowledge import ImportReport
from mycel.domain.memory import Memory, Version
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Page
from mycel.domain.recall import Recall
from mycel.domain.report import Report
from mycel.domain.source import IngestionEvent, Source, SourceEntry


class ArtifactFilterFields(TypedDict, total=False):
    """Everything given must hold; `text` is searched for."""

    task_id: str | None
    type: str | None
    path: str | None
    agent_id: str | None
    project: str | None
    text: str | None
    since: datetime | str | None
    until: datetime | str | None


class ArtifactsApi(Protocol):
    def register(self, *, path: str, **fields: Unpack[ArtifactFields]) -> Artifact:
        """Stores what an agent produced, found at once by its path and description.

        Size and checksum, a SHA-256, are of `content` or, without it, of the file in the first workspace folder that
        has it, and those given must agree; when none has it, the given ones are taken. `keep_content` keeps the text
        too. What the same author has registered alike is returned as it is; a changed file is a new artifact. Only an
        orchestrator, a lead or an admin names another as `agent_id`.
        """
        ...

    def get(self, id: str) -> Artifact:
        """`NotFound` also for a memory that is no artifact."""
        ...

    def verify(self, id: str) -> Verification:
        """Whether the file is as it was when it was registered, by its SHA-256."""
        ...

    def delete(self, id: str) -> None:
        """As deleting the memory; the file is not touched."""
        ...

    def list(
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


class EpisodeFilterFields(TypedDict, total=False):
    """Everything given must hold."""

    task_id: str | None
    agent_id: str | None
    action: str | None
    project: str | None
    since: datetime | str | None
    until: datetime | str | None


class EpisodesApi(Protocol):
    def log(
        self, *, action: str, approach: str, outcome: str | None = None, **fields: Unpack[EpisodeFields]
    ) -> Episode:
        """One thing that was tried: `attempted`, `completed`, `failed` or `retried`, how, and what came of it."""
        ...

    def log_many(self, items: Sequence[Mapping[str, Any]]) -> list[Episode]:
        """Up to 1000 at once, each an object with the fields of `log`; all of them, or none."""
        ...

    def get(self, id: str) -> Episode: ...
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> Page[Episode]:
        """Newest first: also finished tasks that have left the search, until they are pruned."""
        ...

    def similar(
        self, task: str, *, action: str | None = None, project: str | None = None, limit: int | None = None
    ) -> list[SimilarEpisode]:
        """What was done on tasks like this one, by words and by meaning; with `action="completed"`, what worked."""
        ...

    def best_agents(self, task: str, *, project: str | None = None, limit: int | None = None) -> list[Record]:
        """Who has done well on tasks like this one, the best first."""
        ...

    def success_rates(
        self,
        by: str = "approach",
        *,
        limit: int | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> list[SuccessRate]:
        """By `approach` (those that mean the same as one), `agent`, `day`, `week` or `month`.

        Of the last 30 days unless `since` says otherwise. Of months that were pruned the counts are kept, and are part
        of the answer where the whole month lies in the asked time.
        """
        ...


class KnowledgeApi(Protocol):
    """Memories with a key, but for facts about people."""

    def upsert(
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

    def get(self, *, key: str, project: str | None = None, category: str = "fact", team: str | None = None) -> Memory:
        """The standing value; the one for the whole team before one for fewer readers."""
        ...

    def candidates(
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

    def history(self, id: str) -> list[Version]: ...
    def search(
        self, query: str | None, *, project: str | None = None, category: str | None = None, limit: int = 10
    ) -> Recall: ...
    def delete(self, id: str) -> None: ...
    def arbitrate(self, id: str, *, reason: str | None = None) -> Memory:
        """This value holds: another that stood becomes `contradicted`, what else waits for the same place is rejected.

        For the orchestrator, leads and admins. Deciding the same twice changes nothing.
        """
        ...

    def import_markdown(
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

    # Last: below this line `list` means this method.
    def list(
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


class ProjectsApi(Protocol):
    def __call__(self) -> list[Project]: ...
    def list(self) -> list[Project]: ...
    def register(self, name: str, *, description: str | None = None) -> Project: ...


class ReposApi(Protocol):
    def __call__(self) -> list[Repo]: ...
    def list(self) -> list[Repo]: ...
    def register(
        self, name: str, *, project: str | None = None, folder: str | None = None, remote: str | None = None
    ) -> Repo: ...


class SourcesApi(Protocol):
    def get(self, id: str) -> Source: ...
    def list(
        self, *, agent: str | None = None, session_id: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[SourceEntry]:
        """Newest first, without their texts; of all, or of what one member or session handed in."""
        ...

    def events(
        self, *, state: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[IngestionEvent]: ...
    def event(self, id: str) -> IngestionEvent: ...
    def retry(self, event_id: str) -> IngestionEvent:
        """Has an event that failed or was given up done again; others stay as they are."""
        ...


class ReviewsApi(Protocol):
    """One candidate of the inbox at a time. For those who may decide about it, as `approve` says."""

    def get(self, id: str) -> InboxItem:
        """One item of the inbox, its memory with what stands near it as `similar`; `Conflict` when it waits no more."""
        ...

    def claim(self, id: str) -> Claim:
        """Tells others for five minutes that the caller looks at it; answers whose claim holds, and stops nobody.

        A member has one claim: another one ends it, and so does the decision.
        """
        ...

    def snooze(self, id: str, *, until: datetime | str | None) -> InboxItem:
        """Out of the caller's own inbox until that moment; None brings it back. Others go on to see it."""
        ...

    def merge(self, id: str, *, into: str, content: str | None = None, expected_version: int | None = None) -> Memory:
        """The candidate gives way to a memory for the same readers that says the same; answers that memory.

        With `content` that becomes its text. The candidate is superseded, and its evidence stays linked.
        """
        ...

    def reopen(self, id: str) -> Memory:
        """Takes the last decision about a memory back, with all that followed from it; `Conflict` if it changed since.

        What was approved, rejected or merged waits again; what lost against another stands again.
        """
        ...

    def undo_writer(self, *, agent_id: str | None = None, since: datetime | str, dry_run: bool = False) -> Report:
        """Takes back what a member wrote and changed since then, and what was drawn and merged from it.

        For leads and admins, and for members of what they did themselves; without an `agent_id` of everybody, by an
        admin. What others have changed since is `left`. A report with `more` goes on when it is asked for again, and
        `undo` takes any of them back.
        """
        ...


class ViewsApi(Protocol):
    def save(self, name: str, *, query: str | None = None, **filters: Unpack[FilterFields]) -> SavedView: ...
    def list(self) -> list[SavedView]: ...
    def delete(self, name: str) -> None: ...
    def run(self, name: str, *, limit: int = 10) -> Recall:
        """A view without a question lists the newest that its filters leave."""
        ...
