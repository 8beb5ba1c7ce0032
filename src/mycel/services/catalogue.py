"""Projects, repos, saved views, sources and ingestion events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from mycel.access.scope import read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.fields import MAX_NOTED_BYTES, MAX_VIEW_QUERY_BYTES
from mycel.domain.ids import EventId, MemberId, SourceId, parse_id
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Page
from mycel.domain.request_filters import read_filters, read_limit
from mycel.domain.screened_fields import texts_in
from mycel.domain.source import EventState, IngestionEvent, Source, SourceEntry
from mycel.domain.team import Caller
from mycel.errors import NotFound
from mycel.services.policies import Policies
from mycel.services.screening import refuse_secret, screen_at_once


class Catalogue:
    def __init__(self, stores: Stores, clock: Clock, policies: Policies) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies

    def list_projects(self, caller: Caller) -> list[Project]:
        with self._stores.lease(caller.team) as store:
            return store.places.projects(read_scope(caller))

    def register_project(self, caller: Caller, name: object, *, description: object = None) -> Project:
        given = {"name": fields.place(name, field="name"), "description": _note(description, "description")}
        project = Project(**screen_at_once(given, self._policies.of(caller.team)), created_at=self._clock.now())

        def work(transaction: Transaction) -> Project:
            found = transaction.places.register_project(project)
            transaction.activity.note(
                "projects.register",
                by=caller.member_id,
                subject=found.name,
                after={"description": found.description},
            )
            return found

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def list_repos(self, caller: Caller) -> list[Repo]:
        with self._stores.lease(caller.team) as store:
            return store.places.repos(read_scope(caller))

    def register_repo(
        self,
        caller: Caller,
        name: object,
        *,
        project: object = None,
        folder: object = None,
        remote: object = None,
    ) -> Repo:
        given = {
            "name": fields.place(name, field="name"),
            "project_id": None if project is None else fields.place(project, field="project"),
            "folder": _note(folder, "folder"),
            "remote": _note(remote, "remote"),
        }
        repo = Repo(**screen_at_once(given, self._policies.of(caller.team)), created_at=self._clock.now())

        def work(transaction: Transaction) -> Repo:
            found = transaction.places.register_repo(repo)
            after = {"project": found.project_id, "folder": found.folder, "remote": found.remote}
            transaction.activity.note("repos.register", by=caller.member_id, subject=found.name, after=after)
            return found

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def save_view(
        self, caller: Caller, name: object, *, query: object = None, filters: Mapping[str, object]
    ) -> SavedView:
        read_filters(filters, now=self._clock.now())
        wanted = {name: _plain(value) for name, value in filters.items() if value is not None}
        for filter, value in wanted.items():
            for text in texts_in(value):
                # A masked one would find nothing.
                refuse_secret(text, field=filter)
        given = {
            "name": fields.label(name, field="name"),
            "query": None if query is None else fields.text(query, field="query", max_bytes=MAX_VIEW_QUERY_BYTES),
            "filters": fields.metadata(wanted, field="filters"),
        }
        view = SavedView(**screen_at_once(given, self._policies.of(caller.team)), created_at=self._clock.now())

        def work(transaction: Transaction) -> None:
            before = _told(transaction.places.views(read_scope(caller)), view.name)
            transaction.places.save_view(caller.member_id, view)
            after = _told([view], view.name)
            transaction.activity.note(
                "views.save", by=caller.member_id, subject=view.name, before=before, after=after, own=True
            )

        with self._stores.lease(caller.team) as store:
            store.transact(work)
        return view

    def list_views(self, caller: Caller) -> list[SavedView]:
        with self._stores.lease(caller.team) as store:
            return store.places.views(read_scope(caller))

    def get_view(self, caller: Caller, name: object) -> SavedView:
        wanted = fields.label(name, field="name")
        for view in self.list_views(caller):
            if view.name == wanted:
                return view
        raise NotFound(f"no view {wanted}")

    def delete_view(self, caller: Caller, name: object) -> None:
        wanted = fields.label(name, field="name")

        def work(transaction: Transaction) -> None:
            before = _told(transaction.places.views(read_scope(caller)), wanted)
            if not transaction.places.delete_view(caller.member_id, wanted):
                raise NotFound(f"no view {wanted}")
            transaction.activity.note("views.delete", by=caller.member_id, subject=wanted, before=before, own=True)

        with self._stores.lease(caller.team) as store:
            store.transact(work)

    def get_source(self, caller: Caller, id: object) -> Source:
        source_id = SourceId(parse_id(id))
        with self._stores.lease(caller.team) as store:
            found = store.sources.find(read_scope(caller), source_id)
        if found is None:
            raise NotFound(f"no source {source_id}")
        return found

    def list_sources(
        self,
        caller: Caller,
        *,
        agent: object = None,
        session_id: object = None,
        limit: object = None,
        cursor: object = None,
    ) -> Page[SourceEntry]:
        author = None if agent is None else MemberId(fields.label(agent, field="agent"))
        session = None if session_id is None else fields.label(session_id, field="session_id")
        mark = None if cursor is None else parse_id(cursor, field="cursor")
        page = read_limit(limit)
        with self._stores.lease(caller.team) as store:
            return store.sources.page(read_scope(caller), limit=page, cursor=mark, agent_id=author, session_id=session)

    def get_event(self, caller: Caller, id: object) -> IngestionEvent:
        event_id = EventId(parse_id(id))
        with self._stores.lease(caller.team) as store:
            found = store.queue.find(read_scope(caller), event_id)
        if found is None:
            raise NotFound(f"no event {event_id}")
        return found

    def list_events(
        self, caller: Caller, *, state: object = None, limit: object = None, cursor: object = None
    ) -> Page[IngestionEvent]:
        wanted = None if state is None else fields.choice(state, EventState, field="state")
        mark = None if cursor is None else parse_id(cursor, field="cursor")
        page = read_limit(limit)
        with self._stores.lease(caller.team) as store:
            return store.queue.page(read_scope(caller), state=wanted, limit=page, cursor=mark)


def _note(value: object, name: str) -> str | None:
    return None if value is None else fields.filled_text(value, field=name, max_bytes=MAX_NOTED_BYTES)


def _plain(value: object) -> object:
    """Times become text, so that a view reads the same after a restart."""
    return value.isoformat() if isinstance(value, datetime) else value


def _told(views: Iterable[SavedView], name: str) -> dict[str, object]:
    """A view as its row in the audit says it; nothing where there is none of this name."""
    known = {one.name: one for one in views}
    return {"query": known[name].query, "filters": known[name].filters} if name in known else {}
