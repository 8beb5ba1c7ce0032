"""The ledger: what was tried for a task, what worked on tasks like it, who is good at it, how often things work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

from mycel.access.rules import require_attribution
from mycel.access.scope import readable_scopes
from mycel.contracts.clock import Clock
from mycel.contracts.episode_store import TimeBucket
from mycel.contracts.parts_api import EpisodeFilterFields
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.draft import MAX_CONTENT_BYTES, MAX_NOTE_BYTES, new_memory, read_fields, read_value
from mycel.domain.episode import (
    COUNTS,
    EPISODE_WRITTEN,
    NO_WORDING,
    OF_AN_EPISODE,
    Action,
    Episode,
    EpisodeDetail,
    EpisodeFilters,
    RateBy,
    Record,
    SimilarEpisode,
    SuccessRate,
    Tally,
    episode_text,
)
from mycel.domain.fields import MAX_ITEMS
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory, MemoryType
from mycel.domain.names import read_names
from mycel.domain.query import Page
from mycel.domain.request_filters import read_limit, read_mark
from mycel.domain.team import Caller
from mycel.errors import InvalidInput, InvalidState, NotFound
from mycel.retrieval.wording import wording_of
from mycel.services.approach_groups import Grouping
from mycel.services.idempotency import Retry
from mycel.services.organisation import read_member_id
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory, unwritten
from mycel.services.read import named_scope
from mycel.services.screening import mark_masked, masked, screen
from mycel.services.search import Searching
from mycel.services.short_ids import find_id

MOST_BUCKETS = 400
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)
_LENGTHS = {RateBy.DAY: timedelta(days=1), RateBy.WEEK: timedelta(days=7)}


def time_buckets(since: datetime, until: datetime, way: RateBy) -> list[TimeBucket]:
    """Whole days, weeks or months in UTC, the first and last as far as asked for."""
    start = since.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if way is RateBy.MONTH:
        start = start.replace(day=1)
    elif way is RateBy.WEEK:
        start -= timedelta(days=start.weekday())
    found: list[TimeBucket] = []
    while start < until:
        end = _end_of(start, way)
        found.append((max(start, since), min(end, until)))
        if len(found) > MOST_BUCKETS:
            raise InvalidState(f"is more than {MOST_BUCKETS} {way.value}s back: ask for a shorter time", field="since")
        start = end
    return found


def _end_of(start: datetime, way: RateBy) -> datetime:
    try:
        return (start + timedelta(days=32)).replace(day=1) if way is RateBy.MONTH else start + _LENGTHS[way]
    except OverflowError:
        return _LAST_MOMENT


def stretch_name(start: datetime, way: RateBy) -> str:
    return f"{start:%Y-%m}" if way is RateBy.MONTH else f"{start:%Y-%m-%d}"


# One is its action.
MAX_TAGS = fields.MAX_TAGS - 1
USUAL_TIME = timedelta(days=30)
DEFAULT_RATES = 50
# What is known of an agent is weighed against one episode of each kind, so that one lucky run is no proof.
DOUBT = 1.0
LOOKED_AT_FOR_AGENTS = 100
_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)


class Episodes:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        policies: Policies,
        searching: Searching,
        grouping: Grouping,
        *,
        max_content: int = MAX_CONTENT_BYTES,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._searching = searching
        self._grouping = grouping
        self._max_content = max_content

    def log(self, caller: Caller, given: Mapping[str, object]) -> Episode:
        said = dict(given)
        key = said.pop("idempotency_key", None)
        one, detail = self._read_given(caller, said)
        retry = Retry.read(caller, "log_episode", key, one.values, str(detail))

        def work(transaction: Transaction) -> Memory:
            earlier = retry.earlier(transaction)
            if earlier is not None:
                return earlier
            memory = one.at(transaction)
            transaction.episodes.insert(memory, one.words, detail, by=caller.member_id)
            retry.remember(transaction, memory)
            return memory

        with self._stores.lease(caller.team) as store:
            return Episode(store.transact(work), detail)

    def log_many(self, caller: Caller, items: object) -> list[Episode]:
        """All of them, or none: one that is wrong names its place."""
        listed = fields.several(items, field="items", most=MAX_ITEMS)
        read = [self._read_item(caller, place, item) for place, item in enumerate(listed)]

        def work(transaction: Transaction) -> list[Episode]:
            logged = [Episode(one.at(transaction), detail) for one, detail in read]
            for episode, (one, detail) in zip(logged, read, strict=True):
                transaction.episodes.insert(episode.memory, one.words, detail, by=caller.member_id)
            return logged

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def _read_item(self, caller: Caller, place: int, item: object) -> tuple[PreparedMemory, EpisodeDetail]:
        try:
            if not isinstance(item, Mapping):
                raise InvalidInput("must be an object with action, approach and fields", field="item")
            said = dict(cast(Mapping[str, object], item))
            if "idempotency_key" in said:
                raise InvalidInput("is for single episodes", field="idempotency_key")
            return self._read_given(caller, said)
        except InvalidInput as error:
            raise type(error)(error.problem, field=f"items[{place}].{error.field}") from None

    def _read_given(self, caller: Caller, given: Mapping[str, object]) -> tuple[PreparedMemory, EpisodeDetail]:
        said = {name: value for name, value in given.items() if value is not None}
        parts = {name: said.pop(name, None) for name in ("approach", "action", "outcome")}
        if not said.keys() <= EPISODE_WRITTEN.keys():
            said = read_names(said, EPISODE_WRITTEN, kind="a field of an episode")
        kind = fields.choice(parts["action"], Action, field="action")
        return self._read(caller, kind, parts["approach"], parts["outcome"], said)

    def _read(
        self, caller: Caller, action: Action, approach: object, outcome: object, said: Mapping[str, object]
    ) -> tuple[PreparedMemory, EpisodeDetail]:
        policy = self._policies.of(caller.team)
        kinds: dict[str, None] = {}
        tried = fields.filled_text(approach, field="approach", max_bytes=MAX_NOTE_BYTES).strip()
        tried = masked(tried, policy, field="approach", kinds=kinds)
        ended = None
        if outcome is not None:
            ended = fields.filled_text(outcome, field="outcome", max_bytes=self._max_content).strip()
            ended = masked(ended, policy, field="outcome", kinds=kinds)
        text = episode_text(tried, action, ended)
        about = {name: value for name, value in said.items() if name not in OF_AN_EPISODE}
        tags = dict.fromkeys((action.value, *fields.tags(about.pop("tags", ()), most=MAX_TAGS)))
        fixed = {
            "type": MemoryType.EPISODE.value,
            "title": fields.one_line(text.title),
            "content": text.content,
            "tags": list(tags),
        }
        draft = screen(read_fields({**about, **fixed}, max_content=self._max_content + MAX_NOTE_BYTES), policy)
        values = new_memory(draft, caller=caller, policy=policy)
        mark_masked(values, kinds)
        detail = read_detail(caller, action, text.approach_end, text.outcome_start, said, approach=tried)
        return unwritten(values, ttl=policy.life_of(values["made_by"], MemoryType.EPISODE)), detail

    def get(self, caller: Caller, id: object) -> Episode:
        episode_id = find_id(self._stores, caller, id)
        for scope in readable_scopes(caller):
            with self._stores.lease(scope.team) as store:
                found = store.episodes.find(scope, episode_id)
                if found is not None:
                    return self._searching.freshness.of_entry(found)
        raise NotFound(f"no episode {episode_id}")

    def list(
        self,
        caller: Caller,
        given: Mapping[str, object],
        *,
        limit: object = None,
        cursor: object = None,
        team: object = None,
    ) -> Page[Episode]:
        filters = read_episode_filters(given)
        page = read_limit(limit)
        mark = read_mark(cursor)
        scope = named_scope(caller, team)
        with self._stores.lease(scope.team) as store:
            found = store.episodes.page(scope, filters, limit=page, cursor=mark)
        return self._searching.freshness.of_entries(found)

    def similar(
        self,
        caller: Caller,
        task: object,
        *,
        action: object = None,
        project: object = None,
        limit: object = None,
        every: bool = False,
    ) -> list[SimilarEpisode]:
        """By words and by meaning, the likeliest to be of use first; with `every`, also those that repeat others."""
        page = read_limit(limit, default=10)
        kind = None if action is None else fields.choice(action, Action, field="action")
        given: dict[str, object] = {"type": MemoryType.EPISODE.value, "project": project}
        if kind is not None:
            given["tags"] = [kind.value]
        # A finished task leaves the search before it leaves the ledger.
        recall = self._searching.search(caller, _read_task(task), given, limit=page, expired=True, every=every)
        details = self._details(caller, [hit.memory for hit in recall.hits])
        return [
            SimilarEpisode(Episode(hit.memory, detail), hit.relevance)
            for hit in recall.hits
            if (detail := details.get(hit.memory.id)) is not None and kind in {None, detail.action}
        ]

    def best_agents(
        self, caller: Caller, task: object, *, project: object = None, limit: object = None
    ) -> list[Record]:
        """Who has done well on tasks like this one, by how much each of their episodes is like it."""
        page = read_limit(limit, default=5)
        similar = self.similar(caller, task, project=project, limit=LOOKED_AT_FOR_AGENTS, every=True)
        return records_of(similar)[:page]

    def success_rates(
        self,
        caller: Caller,
        *,
        by: object = RateBy.APPROACH,
        given: Mapping[str, object],
        limit: object = None,
        team: object = None,
    ) -> list[SuccessRate]:
        """Of the last 30 days unless a time is given; the most frequent first, or in the order of time."""
        way = fields.choice(by, RateBy, field="by")
        page = read_limit(limit, default=DEFAULT_RATES)
        filters = read_episode_filters(given)
        # Beyond now where no end is given: a store's own clock may be ahead by a little.
        until = filters.until or self._clock.now() + timedelta(days=1)
        since = filters.since or max(until, _FIRST_MOMENT + USUAL_TIME) - USUAL_TIME
        filters = replace(filters, since=since)
        scope = named_scope(caller, team)
        with self._stores.lease(scope.team) as store:
            if way in {RateBy.AGENT, RateBy.APPROACH}:
                if way is RateBy.APPROACH:
                    self._grouping.catch_up(store)
                rates = store.rates.by(scope, filters, by=way).items()
                return [SuccessRate(name, tally) for name, tally in rates][:page]
            stretches = time_buckets(since, until, way)
            tallies = store.rates.over_time(scope, replace(filters, since=None, until=None), stretches)
        return [
            SuccessRate(stretch_name(start, way), tally)
            for (start, _), tally in zip(stretches, tallies, strict=True)
            if tally.episodes
        ]

    def outcomes_after(self, caller: Caller, episodes: Sequence[Episode]) -> dict[MemoryId, Tally]:
        """How often the approach of each was completed since, and how often it failed at any time."""
        found: dict[MemoryId, Tally] = {}
        for scope in readable_scopes(caller):
            ids = [episode.id for episode in episodes if episode.memory.team == scope.team]
            if ids:
                with self._stores.lease(scope.team) as store:
                    found.update(store.rates.outcomes_after(scope, ids))
        return found

    def _details(self, caller: Caller, memories: Sequence[Memory]) -> dict[MemoryId, EpisodeDetail]:
        found: dict[MemoryId, EpisodeDetail] = {}
        for scope in readable_scopes(caller):
            ids = [memory.id for memory in memories if memory.team == scope.team]
            if ids:
                with self._stores.lease(scope.team) as store:
                    found.update(store.episodes.details(ids))
        return found


def read_detail(
    caller: Caller,
    action: Action,
    approach_end: int,
    outcome_start: int | None,
    said: Mapping[str, object],
    *,
    approach: str | None,
) -> EpisodeDetail:
    """What the ledger keeps beside the text."""
    counts: dict[str, int] = {
        name: read_value(OF_AN_EPISODE[name], said[name]) for name in COUNTS if said.get(name) is not None
    }
    agent = caller.member_id
    if said.get("agent_id") is not None:
        agent = read_member_id(said["agent_id"], field="agent_id")
        require_attribution(caller, agent)
    return EpisodeDetail(
        agent_id=agent,
        action=action,
        approach_end=approach_end,
        outcome_start=outcome_start,
        wording=NO_WORDING if approach is None else wording_of(approach),
        **counts,
    )


def read_episode_filters(given: Mapping[str, object]) -> EpisodeFilters:
    if not given.keys() <= EpisodeFilterFields.__annotations__.keys():
        given = read_names(given, EpisodeFilterFields.__annotations__, kind="a filter of episodes")
    said = {name: value for name, value in given.items() if value is not None}
    return EpisodeFilters(
        task_id=fields.label(said["task_id"], field="task_id") if "task_id" in said else None,
        agent_id=MemberId(fields.label(said["agent_id"], field="agent_id")) if "agent_id" in said else None,
        action=fields.choice(said["action"], Action, field="action") if "action" in said else None,
        project_id=fields.label(said["project"], field="project") if "project" in said else None,
        since=fields.moment(said["since"], field="since") if "since" in said else None,
        until=fields.moment(said["until"], field="until") if "until" in said else None,
    )


def _read_task(task: object) -> str:
    return fields.filled_text(task, field="task", max_bytes=MAX_NOTE_BYTES)


def records_of(similar: Sequence[SimilarEpisode]) -> list[Record]:
    """The share of what worked, each episode weighed by how much it is like the task."""
    ended = [one for one in similar if one.episode.action in {Action.COMPLETED, Action.FAILED}]
    by_agent: dict[MemberId, list[SimilarEpisode]] = {}
    for one in ended:
        by_agent.setdefault(one.episode.agent_id, []).append(one)
    records: list[Record] = []
    for agent, theirs in by_agent.items():
        good = [one.relevance for one in theirs if one.episode.action is Action.COMPLETED]
        score = (sum(good) + DOUBT / 2) / (sum(one.relevance for one in theirs) + DOUBT)
        records.append(Record(agent, len(good), len(theirs) - len(good), round(score, 4)))
    return sorted(records, key=lambda record: (-record.score, record.agent_id))
