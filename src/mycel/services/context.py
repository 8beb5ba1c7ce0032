"""The context bundle: what an agent should know before it starts a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from math import prod

from mycel.access.scope import ReadScope, everyones_scope, read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores
from mycel.domain import fields
from mycel.domain.author_share import AUTHOR_SHARE
from mycel.domain.context import RECENT_MEMORIES, ContextBundle, Section
from mycel.domain.fields import DEFAULT_TOKEN_BUDGET, LEAST_TOKEN_BUDGET, MOST_TOKEN_BUDGET
from mycel.domain.ids import MemoryId, shortest_endings
from mycel.domain.memory import Category, Memory, MemoryType, Scope, Visibility
from mycel.domain.query import Filters
from mycel.domain.recall import Hit, Recall
from mycel.domain.rendering import age_of
from mycel.domain.search_request import MAX_QUERY_BYTES, Ranking, Signals, read_search_request
from mycel.domain.team import Caller, Kind
from mycel.retrieval.candidate import Ranked
from mycel.retrieval.context import (
    Listed,
    Task,
    Weight,
    choose_candidates,
    crowding,
    diverse,
    named_in,
    person_of,
)
from mycel.retrieval.packing import Candidate, pack
from mycel.retrieval.ranking import factors_of
from mycel.services.callers import scopes_at_hand
from mycel.services.read import newest_memories
from mycel.services.search import Searching

# How many each of the other renderings shows.
TEAM_CONTEXT_MEMORIES = 5
MATCHES_OF_THE_TASK = 10
RECENT_DECISIONS = 5

_TEAM_CONTEXT_PATH = "/context"
# A short note with its citation takes about so many tokens. As many as would fit alone are looked at in each list.
_USUAL_TOKENS = 45
_LEAST_LOOKED_AT, _MOST_LOOKED_AT = 20, 100
# Of which sorts all are compared with the task, however weak a match: what binds may say it in quite other words.
_WEIGHED = (MemoryType.LESSON, MemoryType.DECISION, MemoryType.TASK_HINT, MemoryType.PROFILE, MemoryType.EPISODE)

# Own notes are looked for among so many of the caller's newest: no index leads to them alone.
_NEWEST_OF_THE_CALLER = 50

# What each list asks for, one index at a time, and how many it takes.
_Lists = Mapping[str, tuple[Sequence[Filters], int]]
_List = tuple[str, Filters, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    project: str | None
    repo: str | None
    agent: str
    task: str | None
    asked_by: str | None
    token_budget: int
    ranking: Ranking

    def places(self) -> dict[str, object]:
        return {"project": self.project, "repo": self.repo}

    @property
    def limit(self) -> int:
        return max(_LEAST_LOOKED_AT, min(self.token_budget // _USUAL_TOKENS, _MOST_LOOKED_AT))


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
        asked_by: object = None,
        token_budget: object = None,
        ranking: object = None,
    ) -> ContextBundle:
        usual = self._searching.options.ranking
        request = _Request(
            project=None if project is None else fields.place(project, field="project"),
            repo=None if repo is None else fields.place(repo, field="repo"),
            agent=caller.member_id if agent is None else fields.label(agent, field="agent"),
            task=read_task(task) or self._topic(caller, thread),
            asked_by=None if asked_by is None else fields.label(asked_by, field="asked_by"),
            token_budget=read_token_budget(token_budget),
            ranking=usual if ranking is None else fields.choice(ranking, Ranking, field="ranking"),
        )
        return self._bundle(caller, request, self._find(caller, request))

    def _topic(self, caller: Caller, thread: object) -> str | None:
        """What a thread is about, as far as the caller may know: what it was called when it was captured."""
        if thread is None:
            return None
        with self._stores.lease(caller.team) as store:
            return store.sources.find_thread_title(read_scope(caller), fields.label(thread, field="thread"))

    def _bundle(self, caller: Caller, request: _Request, found: Recall | None) -> ContextBundle:
        narrowed = request.agent != caller.member_id
        scopes = _scopes(scopes_at_hand(self._stores, caller), narrowed=narrowed)
        now = self._clock.now()
        lists = self._list(scopes, _sections(request, now=now))
        plain = self._list(scopes[:1], _plain_lists(caller, now=now))
        hits = _shareable(found, narrowed=narrowed)
        listed = Listed(**lists, own=() if narrowed else _own(plain["by_caller"], request))
        weights = self._weigh(caller, request, narrowed=narrowed)
        task = Task(
            people=_people(caller, request, listed.profile),
            hits=hits,
            weights=weights,
            standing=self._standing(scopes, listed, request, now=now),
            repo=request.repo,
        )
        candidates = self._cited(caller, choose_candidates(listed, task), now=now)
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
            recent=self._recent(scopes, now=now),
            team_context=self._diverse(plain["team_context"], limit=TEAM_CONTEXT_MEMORIES),
            found=self._diverse([hit.memory for hit in hits], limit=MATCHES_OF_THE_TASK),
            recent_decisions=self._diverse(lists["decisions"], limit=RECENT_DECISIONS),
        )

    def _find(self, caller: Caller, request: _Request) -> Recall | None:
        if request.task is None:
            return None
        return self._searching.search(
            caller, request.task, request.places(), limit=request.limit, ranking=request.ranking
        )

    def _weigh(self, caller: Caller, request: _Request, *, narrowed: bool) -> dict[MemoryId, Weight]:
        """What binds, compared with the task: other matches must not hide it, nor a threshold."""
        if request.task is None:
            return {}
        found: dict[MemoryId, Weight] = {}
        sorts: Sequence[dict[str, object]] = ({"type": list(_WEIGHED)}, {"category": Category.CONVENTION})
        with ExitStack() as leases:
            places = self._searching.places(leases, caller)
            for sort in sorts:
                given = {**request.places(), **sort}
                asked = read_search_request(
                    request.task, given, now=self._clock.now(), limit=request.limit, ranking=request.ranking
                )
                ranked, _ = self._searching.rank(replace(asked, every=True), places)
                found |= _weights(ranked, narrowed=narrowed)
        return found

    def _standing(
        self, scopes: Sequence[ReadScope], listed: Listed, request: _Request, *, now: datetime
    ) -> dict[MemoryId, float]:
        """How near, how useful and how new each is, as the ranking of a search sees it."""
        near = Filters(reach_project=request.project, reach_repo=request.repo)
        options = self._searching.options
        found: dict[MemoryId, float] = {}
        for scope in scopes:
            here = {memory.id: memory for memory in listed.all() if memory.team == scope.team}
            with self._stores.lease(scope.team) as store:
                numbers = store.index.numbers(scope, list(here))
                signals = store.index.signals(scope, list(numbers.values()))
            for id, memory in here.items():
                said = signals.get(numbers.get(id, 0), Signals())
                factors = factors_of(request.ranking, memory, said, now=now, filters=near, options=options)
                found[id] = prod(factors.values())
        return found

    def _cited(
        self, caller: Caller, candidates: Mapping[Section, Sequence[Candidate]], *, now: datetime
    ) -> dict[Section, list[Candidate]]:
        ids = shortest_endings(one.memory.id for each in candidates.values() for one in each)
        return {
            section: [
                replace(one, cited=ids[one.memory.id], age=age_of(one.memory.created_at, now=now)) for one in each
            ]
            for section, each in candidates.items()
        }

    def _recent(self, scopes: Sequence[ReadScope], *, now: datetime) -> tuple[Memory, ...]:
        """Return the newest of all that may be read, whoever wrote them."""
        alive, fresh = Filters(alive_at=now), self._searching.freshness
        return tuple(newest_memories(self._stores, scopes, fresh, alive, limit=RECENT_MEMORIES))

    def _diverse(self, memories: Sequence[Memory], *, limit: int) -> tuple[Memory, ...]:
        return diverse(memories, limit=limit, author_share=self._share)

    def _list(self, scopes: Sequence[ReadScope], lists: _Lists) -> dict[str, tuple[Memory, ...]]:
        """The newest of each list in all these teams, and behind whoever fills it the newest of others."""
        found: dict[str, list[Memory]] = {name: [] for name in lists}
        asked = [(name, filters, limit) for name, (each, limit) in lists.items() for filters in each]
        for scope in scopes:
            with self._stores.lease(scope.team) as store:
                newest = _newest(store, scope, asked)
                others = [
                    (name, replace(filters, not_by=filling), limit)
                    for (name, filters, limit), memories in zip(asked, newest, strict=True)
                    if (filling := self._filling(store, filters, memories, limit))
                ]
                every = zip((*asked, *others), (*newest, *_newest(store, scope, others)), strict=True)
                for (name, _, _), memories in every:
                    found[name] += memories
        fresh = self._searching.freshness
        return {name: fresh.of_all(self._first(found[name], limit)) for name, (_, limit) in lists.items()}

    def _first(self, memories: list[Memory], limit: int) -> tuple[Memory, ...]:
        newest = sorted(memories, key=_moment, reverse=True)
        first, rest = newest[:limit], newest[limit:]
        filling = crowding(first, limit=limit, author_share=self._share)
        others = [memory for memory in rest if memory.agent_id not in filling] if filling else []
        return (*first, *others[:limit])

    def _filling(self, store: Store, filters: Filters, newest: Sequence[Memory], limit: int) -> tuple[str, ...]:
        """Who fills a list that others belong to as well."""
        filling = crowding(newest, limit=limit, author_share=self._share)
        is_shared = filters.agent_id is None and any(map(store.index.has_other_authors, filling))
        return filling if is_shared else ()


def _newest(store: Store, scope: ReadScope, asked: Sequence[_List]) -> Sequence[Sequence[Memory]]:
    return store.memories.newest(scope, [(filters, limit) for _, filters, limit in asked]) if asked else ()


def read_task(value: object) -> str | None:
    task = "" if value is None else fields.text(value, field="task", max_bytes=MAX_QUERY_BYTES)
    return task.strip() or None


def read_token_budget(value: object) -> int:
    if value is None:
        return DEFAULT_TOKEN_BUDGET
    return fields.whole(value, field="token_budget", least=LEAST_TOKEN_BUDGET, most=MOST_TOKEN_BUDGET)


def _scopes(scopes: tuple[ReadScope, ...], *, narrowed: bool) -> tuple[ReadScope, ...]:
    """A bundle for somebody else holds what is for the whole team: what the caller alone may see stays with it."""
    return tuple(everyones_scope(scope.team) for scope in scopes) if narrowed else scopes


def _shareable(recall: Recall | None, *, narrowed: bool) -> list[Hit]:
    hits = recall.hits if recall else ()
    return [hit for hit in hits if not narrowed or hit.memory.visibility is Visibility.TEAM]


def _weights(ranked: Ranked | None, *, narrowed: bool) -> dict[MemoryId, Weight]:
    """In reach, or so near to the task that a search would show it from elsewhere."""
    found = ((one, one.memory, ranked.shows(one)) for one in ranked.candidates) if ranked is not None else ()
    return {
        memory.id: Weight(memory, one.score, one.relevance, shown)
        for one, memory, shown in found
        if memory is not None and (shown or not one.far) and not (narrowed and memory.visibility is not Visibility.TEAM)
    }


def _people(caller: Caller, request: _Request, profiles: Sequence[Memory]) -> set[str]:
    """Who asked: as the caller says, the caller itself if it is a person, and whoever the task names."""
    named = named_in(request.task or "", map(person_of, profiles))
    asker = {request.asked_by} if request.asked_by is not None else set[str]()
    return {*asker, *named, *({caller.member_id} if caller.kind is Kind.HUMAN else ())}


def _sections(request: _Request, *, now: datetime) -> _Lists:
    """By the names of `Listed`; without a project the whole team is near."""
    near = Filters(alive_at=now, reach_project=request.project, reach_repo=request.repo)
    somewhere = request.project is not None or request.repo is not None
    here = replace(near, scopes=(Scope.PROJECT, Scope.REPO)) if somewhere else near
    profile = [*_of_types(near, MemoryType.PROFILE), replace(near, category=Category.PREFERENCE)]
    if request.asked_by is not None:
        profile += [replace(one, agent_id=request.asked_by) for one in profile]
    asked = {
        "profile": profile,
        "conventions": [replace(near, category=Category.CONVENTION)],
        "facts": _of_types(here, MemoryType.PROJECT, MemoryType.FACT, MemoryType.CONTEXT),
        "decisions": _of_types(near, MemoryType.DECISION),
        "taught": [replace(near, taught=True)],
        "lessons": _of_types(near, MemoryType.LESSON),
        "hints": _of_types(near, MemoryType.TASK_HINT),
        # Newer ones of the whole team must not hide those of the place.
        "nearest_lessons": _of_types(here, MemoryType.LESSON),
        "nearest_conventions": [replace(here, category=Category.CONVENTION)],
        "episodes": _of_types(near, MemoryType.EPISODE),
        **({} if request.task is None else {"of_task": [replace(near, task_id=request.task)]}),
    }
    return {name: (filters, request.limit) for name, filters in asked.items()}


def _of_types(near: Filters, *types: MemoryType) -> list[Filters]:
    """One type each: its index is in order of time, so that the newest are found without sorting all."""
    return [replace(near, types=(type,)) for type in types]


def _plain_lists(caller: Caller, *, now: datetime) -> _Lists:
    """Of the caller's own team, wherever the task is."""
    alive = Filters(alive_at=now)
    return {
        "team_context": ([replace(alive, path=_TEAM_CONTEXT_PATH)], TEAM_CONTEXT_MEMORIES),
        "by_caller": ([replace(alive, agent_id=caller.member_id)], _NEWEST_OF_THE_CALLER),
    }


def _own(memories: Sequence[Memory], request: _Request) -> list[Memory]:
    return [memory for memory in memories if memory.scope is Scope.AGENT][: request.limit]


def _moment(memory: Memory) -> tuple[datetime, str]:
    return memory.created_at, memory.id
