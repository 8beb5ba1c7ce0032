"""The parts of a team's memory as one member sees them; `contracts.parts_api` says what each method promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from mycel.contracts.memory_fields import FilterFields
from mycel.contracts.parts_api import ArtifactFilterFields, EpisodeFields, EpisodeFilterFields
from mycel.contracts.written_fields import ArtifactFields, KnowledgeFields
from mycel.domain.artifact import Artifact, Verification
from mycel.domain.episode import Episode, Record, SimilarEpisode, SuccessRate
from mycel.domain.foreign_import import ImportedRecord
from mycel.domain.inbox import Claim, InboxItem
from mycel.domain.knowledge import ImportReport
from mycel.domain.memory import Memory, Version
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Page
from mycel.domain.recall import Recall
from mycel.domain.report import Report
from mycel.domain.source import IngestionEvent, Source, SourceEntry
from mycel.domain.team import Caller
from mycel.services.artifacts import ArtifactRegistry
from mycel.services.candidates import Candidates
from mycel.services.capture import Capture
from mycel.services.catalogue import Catalogue
from mycel.services.episodes import Episodes
from mycel.services.foreign_records import ForeignRecords
from mycel.services.import_markdown import Importing
from mycel.services.knowledge import Knowledge as KnowledgeService
from mycel.services.search import Searching
from mycel.services.undo_writer import UndoingWriters
from mycel.wire.operations import by_any_name


@by_any_name("artifacts")
class Artifacts:
    def __init__(self, caller: Callable[[], Caller], registry: ArtifactRegistry) -> None:
        self._caller = caller
        self._registry = registry

    def register(self, *, path: str, **fields: Unpack[ArtifactFields]) -> Artifact:
        return self._registry.register(self._caller(), {**fields, "path": path})

    def get(self, id: str) -> Artifact:
        return self._registry.get(self._caller(), id)

    def verify(self, id: str) -> Verification:
        return self._registry.verify(self._caller(), id)

    def delete(self, id: str) -> None:
        self._registry.delete(self._caller(), id)

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[ArtifactFilterFields],
    ) -> Page[Artifact]:
        return self._registry.list(self._caller(), filters, limit=limit, cursor=cursor, team=team)


@by_any_name("episodes")
class EpisodeLedger:
    def __init__(self, caller: Callable[[], Caller], episodes: Episodes) -> None:
        self._caller = caller
        self._episodes = episodes

    def log(
        self, *, action: str, approach: str, outcome: str | None = None, **fields: Unpack[EpisodeFields]
    ) -> Episode:
        return self._episodes.log(
            self._caller(), {**fields, "action": action, "approach": approach, "outcome": outcome}
        )

    def log_many(self, items: Sequence[Mapping[str, Any]]) -> list[Episode]:
        return self._episodes.log_many(self._caller(), items)

    def get(self, id: str) -> Episode:
        return self._episodes.get(self._caller(), id)

    def similar(
        self, task: str, *, action: str | None = None, project: str | None = None, limit: int | None = None
    ) -> list[SimilarEpisode]:
        return self._episodes.similar(self._caller(), task, action=action, project=project, limit=limit)

    def best_agents(self, task: str, *, project: str | None = None, limit: int | None = None) -> list[Record]:
        return self._episodes.best_agents(self._caller(), task, project=project, limit=limit)

    def success_rates(
        self,
        by: str = "approach",
        *,
        limit: int | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> list[SuccessRate]:
        return self._episodes.success_rates(self._caller(), by=by, given=filters, limit=limit, team=team)

    # Last: below this line `list` means this method.
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        team: str | None = None,
        **filters: Unpack[EpisodeFilterFields],
    ) -> Page[Episode]:
        return self._episodes.list(self._caller(), filters, limit=limit, cursor=cursor, team=team)


@by_any_name("imports")
class Imports:
    def __init__(self, caller: Callable[[], Caller], records: ForeignRecords) -> None:
        self._caller = caller
        self._records = records

    def take(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        system: str,
        trust: str = "low",
        capture_mode: str = "store",
        dry_run: bool = False,
    ) -> list[ImportedRecord]:
        return self._records.take(
            self._caller(), items, system=system, trust=trust, capture_mode=capture_mode, dry_run=dry_run
        )


@by_any_name("knowledge")
class Knowledge:
    def __init__(self, caller: Callable[[], Caller], knowledge: KnowledgeService, importing: Importing) -> None:
        self._caller = caller
        self._knowledge = knowledge
        self._importing = importing

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
        given = {"key": key, "project": project, "category": category, "confidence": confidence, **fields}
        return self._knowledge.upsert(
            self._caller(), value, {**given, "idempotency_key": idempotency_key}, expected_version=expected_version
        )

    def get(self, *, key: str, project: str | None = None, category: str = "fact", team: str | None = None) -> Memory:
        return self._knowledge.get(self._caller(), key, project=project, category=category, team=team)

    def candidates(
        self,
        *,
        project: str | None = None,
        category: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Memory]:
        given = {"project": project, "category": category, "key": key}
        return self._knowledge.candidates(self._caller(), given, limit=limit, cursor=cursor)

    def history(self, id: str) -> list[Version]:
        return list(self._knowledge.history(self._caller(), id))

    def search(
        self, query: str | None, *, project: str | None = None, category: str | None = None, limit: int = 10
    ) -> Recall:
        return self._knowledge.search(self._caller(), query, {"project": project, "category": category}, limit=limit)

    def delete(self, id: str) -> None:
        self._knowledge.delete(self._caller(), id)

    def arbitrate(self, id: str, *, reason: str | None = None) -> Memory:
        return self._knowledge.arbitrate(self._caller(), id, reason=reason)

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
        return self._importing.import_markdown(
            self._caller(),
            text,
            name=name,
            project=project,
            category=category,
            confidence=confidence,
            dry_run=dry_run,
        )

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
        given = {"project": project, "category": category, "key": key}
        return self._knowledge.list(self._caller(), given, limit=limit, cursor=cursor, team=team)


@by_any_name("projects")
class Projects:
    def __init__(self, caller: Callable[[], Caller], catalogue: Catalogue) -> None:
        self._caller = caller
        self._catalogue = catalogue

    def __call__(self) -> list[Project]:
        return self._catalogue.list_projects(self._caller())

    def register(self, name: str, *, description: str | None = None) -> Project:
        return self._catalogue.register_project(self._caller(), name, description=description)

    list = __call__


@by_any_name("repos")
class Repos:
    def __init__(self, caller: Callable[[], Caller], catalogue: Catalogue) -> None:
        self._caller = caller
        self._catalogue = catalogue

    def __call__(self) -> list[Repo]:
        return self._catalogue.list_repos(self._caller())

    def register(
        self, name: str, *, project: str | None = None, folder: str | None = None, remote: str | None = None
    ) -> Repo:
        return self._catalogue.register_repo(self._caller(), name, project=project, folder=folder, remote=remote)

    list = __call__


@by_any_name("sources")
class Sources:
    def __init__(self, caller: Callable[[], Caller], catalogue: Catalogue, capture: Capture) -> None:
        self._caller = caller
        self._catalogue = catalogue
        self._capture = capture

    def get(self, id: str) -> Source:
        return self._catalogue.get_source(self._caller(), id)

    def events(self, *, state: str | None = None, limit: int = 50, cursor: str | None = None) -> Page[IngestionEvent]:
        return self._catalogue.list_events(self._caller(), state=state, limit=limit, cursor=cursor)

    def event(self, id: str) -> IngestionEvent:
        return self._catalogue.get_event(self._caller(), id)

    def retry(self, event_id: str) -> IngestionEvent:
        return self._capture.retry(self._caller(), event_id)

    def list(
        self, *, agent: str | None = None, session_id: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[SourceEntry]:
        return self._catalogue.list_sources(
            self._caller(), agent=agent, session_id=session_id, limit=limit, cursor=cursor
        )


@by_any_name("reviews")
class Reviews:
    def __init__(self, caller: Callable[[], Caller], candidates: Candidates, writers: UndoingWriters) -> None:
        self._caller = caller
        self._candidates = candidates
        self._writers = writers

    def get(self, id: str) -> InboxItem:
        return self._candidates.get(self._caller(), id)

    def claim(self, id: str) -> Claim:
        return self._candidates.claim(self._caller(), id)

    def snooze(self, id: str, *, until: datetime | str | None) -> InboxItem:
        return self._candidates.snooze(self._caller(), id, until=until)

    def merge(self, id: str, *, into: str, content: str | None = None, expected_version: int | None = None) -> Memory:
        return self._candidates.merge(self._caller(), id, into=into, content=content, expected_version=expected_version)

    def reopen(self, id: str) -> Memory:
        return self._candidates.reopen(self._caller(), id)

    def undo_writer(self, *, agent_id: str | None = None, since: datetime | str, dry_run: bool = False) -> Report:
        return self._writers.undo(self._caller(), agent_id, since=since, dry_run=dry_run)


@by_any_name("views")
class Views:
    def __init__(self, caller: Callable[[], Caller], catalogue: Catalogue, searching: Searching) -> None:
        self._caller = caller
        self._catalogue = catalogue
        self._searching = searching

    def save(self, name: str, *, query: str | None = None, **filters: Unpack[FilterFields]) -> SavedView:
        return self._catalogue.save_view(self._caller(), name, query=query, filters=filters)

    def delete(self, name: str) -> None:
        self._catalogue.delete_view(self._caller(), name)

    def run(self, name: str, *, limit: int = 10) -> Recall:
        view = self._catalogue.get_view(self._caller(), name)
        return self._searching.search(self._caller(), view.query, view.filters, limit=limit)

    def list(self) -> list[SavedView]:
        return self._catalogue.list_views(self._caller())
