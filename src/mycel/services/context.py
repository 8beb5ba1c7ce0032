"""The context bundle: what an agent should know before it starts a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mycel.access.scope import ReadScope, read_scope, readable_scopes
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores
from mycel.domain import fields
from mycel.domain.author_share import AUTHOR_SHARE
from mycel.domain.context import ContextBundle, Section
from mycel.domain.fields import LEAST_TOKEN_BUDGET, MOST_TOKEN_BUDGET
from mycel.domain.memory import Category, Memory, MemoryType, Scope, Visibility
from mycel.domain.query import Filters, Order
from mycel.domain.recall import Hit, Recall
from mycel.domain.search_request import MAX_QUERY_BYTES
from mycel.domain.team import Caller
from mycel.retrieval.context import Listed, choose_candidates, crowding, diverse
from mycel.retrieval.packing import SHARES, pack
from mycel.services.search import Searching

DEFAULT_TOKEN_BUDGET = 2000
# How many each of the other renderings shows.
RECENT_MEMORIES = 10
TEAM_CONTEXT_MEMORIES = 5
MATCHES_OF_THE_TASK = 10
RECENT_DECISIONS = 5

_TEAM_CONTEXT_PATH = "/context"
# A short note with its citation takes about so many tokens; twice as many as fit are looked at, since some are alike.
_USUAL_TOKENS = 70
_LEAST_LOOKED_AT, _MOST_LOOKED_AT = 8, 100

# Own notes are looked for among so many of the caller's newest: no index leads to them alone.
_NEWEST_OF_THE_CALLER = 50

# What each list asks for, one index at a time, and how many it takes.
_Lists = Mapping[str, tuple[Sequence[Filters], int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    project: str | None
    repo: str | None
    agent: str
    task: str | None
    token_budget: int

    def places(self) -> dict[str, object]:
        return {"project": self.project, "repo": self.repo}

    def limit(self, section: Section) -> int:
        fitting = self.token_budget * SHARES[section] // (100 * _USUAL_TOKENS)
        return max(_LEAST_LOOKED_AT, min(2 * fitting, _MOST_LOOKED_AT))


class Context:
    """Everything is read as the caller; naming another agent only narrows it."""

    def __init__(
        self, searching: Searching, stores: Stores, clock: Clock, *, author_share: float = AUTHOR_SHARE
    ) -> None:
        self._searching = searching
        self._share = author_share
        self._stores = stores
        self._clock = clock

    def context_for(
        self,
        caller: Caller,
        *,
        project: object = None,
        repo: object = None,
        agent: object = None,
        task: object = None,
        thread: object = None,
        token_budget: object = None,
    ) -> ContextBundle:
        request = _Request(
            project=None if project is None else fields.place(project, field="project"),
            repo=None if repo is None else fields.place(repo, field="repo"),
            agent=caller.member_id if agent is None else fields.label(agent, field="agent"),
            task=read_task(task) or self._topic(caller, thread),
            token_budget=read_token_budget(token_budget),
        )
        found = self._find(caller, request)
        failures = self._find_failures(caller, request, found)
        return self._bundle(caller, request, found, failures)

    def _topic(self, caller: Caller, thread: object) -> str | None:
        """What a thread is about, as far as the caller may know: what it was called when it was captured."""
        if thread is None:
            return None
        with self._stores.lease(caller.team) as store:
            return store.sources.find_thread_title(read_scope(caller), fields.label(thread, field="thread"))

    def _bundle(
        self, caller: Caller, request: _Request, found: Recall | None, failures: Recall | None
    ) -> ContextBundle:
        narrowed = request.agent != caller.member_id
        scopes = _scopes(caller, narrowed=narrowed)
        now = self._clock.now()
        lists = self._list(scopes, _sections(request, now=now))
        plain = self._list(scopes[:1], _plain_lists(caller, now=now))
        hits = _shareable(found, narrowed=narrowed)
        candidates = choose_candidates(
            Listed(**lists, own=() if narrowed else _own(plain["by_caller"], request)),
            hits=hits,
            failure_hits=_shareable(failures, narrowed=narrowed),
        )
        packed = pack(candidates, token_budget=request.token_budget, home=caller.team, author_share=self._share)
        return ContextBundle(
            team=caller.team,
            project=request.project,
            repo=request.repo,
            agent=request.agent,
            task=request.task,
            token_budget=request.token_budget,
            sections=packed.sections,
            left_out=packed.left_out,
            recall_id=found.id if found else None,
            degraded=found.degraded if found else (),
            recent=self._diverse(plain["recent"], limit=RECENT_MEMORIES),
            team_context=self._diverse(plain["team_context"], limit=TEAM_CONTEXT_MEMORIES),
            found=self._diverse([hit.memory for hit in hits], limit=MATCHES_OF_THE_TASK),
            recent_decisions=self._diverse(lists["decisions"], limit=RECENT_DECISIONS),
        )

    def _find(self, caller: Caller, request: _Request) -> Recall | None:
        if request.task is None:
            return None
        limit = request.limit(Section.RELEVANT)
        return self._searching.search(caller, request.task, request.places(), limit=limit)

    def _find_failures(self, caller: Caller, request: _Request, found: Recall | None) -> Recall | None:
        """Matches among the lessons and episodes, where failures are kept; the other matches may have hidden them."""
        if found is None or len(found.hits) < request.limit(Section.RELEVANT):
            return None
        filters = {**request.places(), "type": [MemoryType.LESSON, MemoryType.EPISODE]}
        return self._searching.search(caller, request.task, filters, limit=request.limit(Section.FAILURES))

    def _diverse(self, memories: Sequence[Memory], *, limit: int) -> tuple[Memory, ...]:
        return diverse(memories, limit=limit, author_share=self._share)

    def _list(self, scopes: Sequence[ReadScope], lists: _Lists) -> dict[str, tuple[Memory, ...]]:
        """The newest of each list in all these teams, and behind whoever fills it the newest of others."""
        found: dict[str, list[Memory]] = {name: [] for name in lists}
        for scope in scopes:
            with self._stores.lease(scope.team) as store:
                for name, (asked, limit) in lists.items():
                    for filters in asked:
                        found[name] += self._newest(store, scope, filters, limit)
        fresh = self._searching.freshness
        return {name: fresh.of_all(self._first(found[name], limit)) for name, (_, limit) in lists.items()}

    def _first(self, memories: list[Memory], limit: int) -> tuple[Memory, ...]:
        newest = sorted(memories, key=_moment, reverse=True)
        first, rest = newest[:limit], newest[limit:]
        filling = crowding(first, limit=limit, author_share=self._share)
        others = [memory for memory in rest if memory.agent_id not in filling] if filling else []
        return (*first, *others[:limit])

    def _newest(self, store: Store, scope: ReadScope, filters: Filters, limit: int) -> list[Memory]:
        newest = list(store.memories.page(scope, filters, order=Order(), limit=limit))
        filling = crowding(newest, limit=limit, author_share=self._share)
        if not filling or filters.agent_id is not None or not any(map(store.index.has_other_authors, filling)):
            return newest
        others = replace(filters, not_by=filling)
        return newest + list(store.memories.page(scope, others, order=Order(), limit=limit))


def read_task(value: object) -> str | None:
    task = "" if value is None else fields.text(value, field="task", max_bytes=MAX_QUERY_BYTES)
    return task.strip() or None


def read_token_budget(value: object) -> int:
    if value is None:
        return DEFAULT_TOKEN_BUDGET
    return fields.whole(value, field="token_budget", least=LEAST_TOKEN_BUDGET, most=MOST_TOKEN_BUDGET)


def _scopes(caller: Caller, *, narrowed: bool) -> tuple[ReadScope, ...]:
    """A bundle for somebody else holds what is for the whole team: what the caller alone may see stays with it."""
    scopes = readable_scopes(caller)
    if not narrowed:
        return scopes
    return tuple(ReadScope(team=scope.team, member_id=None, role=None) for scope in scopes)


def _shareable(recall: Recall | None, *, narrowed: bool) -> list[Hit]:
    hits = recall.hits if recall else ()
    return [hit for hit in hits if not narrowed or hit.memory.visibility is Visibility.TEAM]


def _sections(request: _Request, *, now: datetime) -> _Lists:
    """By the names of `Listed`; without a project the whole team is near."""
    near = Filters(alive_at=now, reach_project=request.project, reach_repo=request.repo)
    somewhere = request.project is not None or request.repo is not None
    here = replace(near, scopes=(Scope.PROJECT, Scope.REPO)) if somewhere else near
    facts = request.limit(Section.PROJECT)
    lessons, episodes = request.limit(Section.LESSONS), request.limit(Section.EPISODES)
    lists = {
        "profile": (_of_types(near, MemoryType.PROFILE), request.limit(Section.PROFILE)),
        "conventions": ([replace(near, category=Category.CONVENTION)], facts),
        "facts": (_of_types(here, MemoryType.PROJECT, MemoryType.FACT, MemoryType.CONTEXT), facts),
        "decisions": (_of_types(near, MemoryType.DECISION), request.limit(Section.DECISIONS)),
        "taught": ([replace(near, taught=True)], lessons),
        "lessons": (_of_types(near, MemoryType.LESSON), lessons),
        "episodes": (_of_types(near, MemoryType.EPISODE), episodes),
    }
    return lists if request.task is None else {**lists, "of_task": ([replace(near, task_id=request.task)], episodes)}


def _of_types(near: Filters, *types: MemoryType) -> list[Filters]:
    """One type each: its index is in order of time, so that the newest are found without sorting all."""
    return [replace(near, types=(type,)) for type in types]


def _plain_lists(caller: Caller, *, now: datetime) -> _Lists:
    """Of the caller's own team, wherever the task is."""
    alive = Filters(alive_at=now)
    return {
        "recent": ([alive], RECENT_MEMORIES),
        "team_context": ([replace(alive, path=_TEAM_CONTEXT_PATH)], TEAM_CONTEXT_MEMORIES),
        "by_caller": ([replace(alive, agent_id=caller.member_id)], _NEWEST_OF_THE_CALLER),
    }


def _own(memories: Sequence[Memory], request: _Request) -> list[Memory]:
    return [memory for memory in memories if memory.scope is Scope.AGENT][: request.limit(Section.OWN)]


def _moment(memory: Memory) -> tuple[datetime, str]:
    return memory.created_at, memory.id
