"""The methods every way into a team's memory has: embedded here, later the client over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, TypedDict, Unpack

from mycel.domain.change import Change
from mycel.domain.context import ContextBundle
from mycel.domain.explanation import Explanation
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Usage, Version
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Page, Statistics, Tree
from mycel.domain.recall import Recall
from mycel.domain.receipt import Receipt
from mycel.domain.source import IngestionEvent, Source


class MemoryFields(TypedDict, total=False):
    """What a writer can say about a memory; whatever is left out is derived."""

    type: str
    title: str | None
    summary: str | None
    tags: Sequence[str] | str
    category: str | None
    key: str | None
    project: str | None
    repo: str | None
    path: str
    scope: str
    visibility: str
    allowed_roles: Sequence[str]
    confidence: float
    ttl: timedelta | float | str | None
    expires_at: datetime | str | None
    observed_at: datetime | str | None
    metadata: Mapping[str, Any] | None
    session_id: str | None
    task_id: str | None
    rationale: str | None
    alternatives: Sequence[str] | None
    source: Mapping[str, Any] | str | None
    needs_review: bool
    idempotency_key: str | None


class ChangedFields(MemoryFields, total=False):
    """What an update can change. None empties a field that may be empty."""

    content: str
    status: str
    expected_version: int | None
    reason: str | None


class FilterFields(TypedDict, total=False):
    """What a reader can ask for; everything given must hold."""

    path: str | None
    type: str | Sequence[str] | None
    status: str | Sequence[str] | None
    scopes: str | Sequence[str] | None
    tags: str | Sequence[str] | None
    category: str | None
    key: str | None
    project: str | None
    repo: str | None
    agent: str | None
    session_id: str | None
    task_id: str | None
    since: datetime | str | None
    until: datetime | str | None


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
    def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[Source]: ...
    def events(self, *, limit: int = 50) -> list[IngestionEvent]: ...


class ViewsApi(Protocol):
    def save(self, name: str, *, query: str | None = None, **filters: Unpack[FilterFields]) -> SavedView: ...
    def list(self) -> list[SavedView]: ...
    def delete(self, name: str) -> None: ...
    def run(self, name: str, *, limit: int = 10) -> Recall:
        """A view without a question lists the newest that its filters leave."""
        ...


class MemoryApi(Protocol):
    """One member's view of its team.

    Raises `InvalidInput` naming the field, `NotFound` for what is absent or hidden, `AccessDenied` for what is seen
    but not allowed, `Conflict` when somebody was faster. What a method returns is durable.
    """

    @property
    def projects(self) -> ProjectsApi: ...
    @property
    def repos(self) -> ReposApi: ...
    @property
    def sources(self) -> SourcesApi: ...
    @property
    def views(self) -> ViewsApi: ...

    def save(self, content: str, **fields: Unpack[MemoryFields]) -> Memory:
        """Stores a memory, active at once unless it must be reviewed.

        With a `key` it is knowledge: it replaces the standing value of its project and category when the caller may
        replace that, and otherwise waits in the inbox, linked to it as contradicting.
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
    def get(self, id: str, *, as_of: datetime | str | None = None) -> Memory:
        """Also an expired one. With `as_of`, what was believed at that moment."""
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
        **filters: Unpack[FilterFields],
    ) -> Page[Memory]:
        """One page, newest first unless ordered otherwise; pass its `next_cursor` for the next.

        With `deleted`, the memories that `restore` can bring back; with `as_of`, what was believed at that moment.
        """
        ...

    def tree(self, path: str = "/", *, team: str | None = None) -> Tree: ...
    def recent(self, limit: int = 10) -> Page[Memory]: ...
    def stats(self) -> Statistics: ...
    def search(
        self,
        query: str | None,
        *,
        limit: int = 10,
        min_relevance: float | None = None,
        ranking: str | None = None,
        as_of: datetime | str | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recall:
        """The best first, by words and by meaning, and only what is likely to help.

        With a `project` or `repo`: what is global, what belongs or is linked there, the caller's own, and of other
        projects only what is more likely useful than not. `min_relevance=0` also lists whatever else the filters
        leave, the newest first, and so does an empty question. `ranking` is `balanced` or `swarm`; `as_of` searches
        what was believed at that moment.
        """
        ...

    def context_for(
        self,
        *,
        project: str | None = None,
        repo: str | None = None,
        agent: str | None = None,
        task: str | None = None,
        token_budget: int | None = None,
    ) -> ContextBundle:
        """What an agent should know before it starts a task, each memory once and with its citation.

        Sections in this order: profile, what holds in the project and repo, decisions, the agent's own notes, matches
        of the task, earlier failures on it, recent episodes. `task` is a description, or the id that memories of the
        task carry. `to_markdown` keeps to `token_budget` (100 to 100,000, by default 2000); what had to be shortened
        is marked, and `left_out` counts what found no room. Near-duplicates become one that counts the others.

        `agent` is the caller unless it says otherwise. For another agent the bundle holds what the whole team may
        read, and nothing that only that agent may: a name grants nothing. A lead's bundle also draws on the parent
        team and says so. The same state and request give the same text.
        """
        ...

    def explain(
        self, recall_id: str | None = None, *, memory_id: str | None = None, missing: str | None = None
    ) -> Explanation:
        """A recall of the caller's own replayed from the log, or what is known about a memory.

        With `missing`, at which step the recalled search left that memory behind. Recalls of others and memories out
        of sight are `NotFound`.
        """
        ...

    def changes(
        self, after: int = 0, path: str = "/", *, follow: bool = False, team: str | None = None
    ) -> Iterator[Change]:
        """Changes in order after a sequence number; with `follow` it waits for more and never ends."""
        ...
