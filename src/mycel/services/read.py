"""Reading memories by id, by filter, by folder; how fresh each is by then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from mycel.access.rules import counts_as_use, may_curate
from mycel.access.scope import ReadScope, read_scope, readable_scopes, scope_of_team
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores
from mycel.domain import fields
from mycel.domain.artifact import Artifact
from mycel.domain.draft import checked_memory, contested
from mycel.domain.episode import Episode
from mycel.domain.ids import MemoryId, parse_id, parse_short
from mycel.domain.link import Link
from mycel.domain.memory import STANDING, Memory, Version
from mycel.domain.query import Filters, Order, Page, Statistics, Tree
from mycel.domain.receipt import Receipt
from mycel.domain.request_filters import read_filters, read_limit, read_mark, read_order
from mycel.domain.surroundings import Usage
from mycel.domain.team import Caller, Role
from mycel.domain.validity import validity_at
from mycel.errors import InvalidState, MemoryDamaged, NotFound, StoreDamaged
from mycel.retrieval.passages import embedded_text, text_hash
from mycel.retrieval.ranking import freshness
from mycel.services.callers import scopes_at_hand
from mycel.services.embeddings import Embedding
from mycel.services.short_ids import find_id, find_memories


def named_scope(caller: Caller, team: object) -> ReadScope:
    name = None if team is None else fields.label(team, field="team")
    scope = scope_of_team(caller, name)
    if scope is None:
        raise NotFound(f"no team {name}")
    return scope


def _with_contests(store: Store, scope: ReadScope, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Say of what others in sight contradict that it is contested: one query for all that is shown."""
    ids = [memory.id for memory in memories if memory.status in STANDING]
    counts = store.links.contests(scope, ids) if ids else {}
    return tuple(contested(memory) if memory.id in counts else memory for memory in memories)


# So that the same record is the same answer for a while, to whoever keeps it by its ETag.
DIGITS = 3
DetailedT = TypeVar("DetailedT", Episode, Artifact)


class Freshness:
    """How fresh a memory is and whether it holds, as it is read: the factors that its place in a search depends on."""

    def __init__(self, clock: Clock, *, half_life_days: float) -> None:
        self._clock = clock
        self._half_life = half_life_days

    def of(self, memory: Memory, *, at: datetime | None = None) -> Memory:
        now = at or self._clock.now()
        found = freshness(memory, now=now, half_life_days=self._half_life)
        held = validity_at(now, since=memory.valid_from, until=memory.valid_until)
        return checked_memory({**vars(memory), "freshness": round(found, DIGITS), "validity": held})

    def of_all(self, memories: Iterable[Memory]) -> tuple[Memory, ...]:
        return tuple(map(self.of, memories))

    def of_page(self, page: Page[Memory]) -> Page[Memory]:
        return Page(self.of_all(page), page.next_cursor)

    def of_entry(self, entry: DetailedT) -> DetailedT:
        return replace(entry, memory=self.of(entry.memory))

    def of_entries(self, page: Page[DetailedT]) -> Page[DetailedT]:
        return Page([self.of_entry(entry) for entry in page], page.next_cursor)


TREE_ITEMS = 100
# Vectors are kept with a seventh of a percent.
VECTOR_DIGITS = 5


def _hash_of(memory: Memory) -> bytes:
    """Name the text that a vector is made of: a past version, or one that waits for its vector, has another."""
    return text_hash(embedded_text(title=memory.title, content=memory.content, key=memory.key))


def newest_memories(
    stores: Stores, scopes: Iterable[ReadScope], freshness: Freshness, filters: Filters, *, limit: int
) -> list[Memory]:
    """Return the newest of all these scopes together, newest first, whoever wrote them."""
    found: list[Memory] = []
    for scope in scopes:
        with stores.lease(scope.team) as store:
            newest = freshness.of_page(store.memories.page(scope, filters, order=Order(), limit=limit))
            found += _with_contests(store, scope, newest)
    return sorted(found, key=lambda memory: (memory.created_at, memory.id), reverse=True)[:limit]


def absence(stores: Stores, caller: Caller, id: MemoryId) -> NotFound:
    """Return the error for a memory that none of the caller's scopes finds: it may be there and damaged."""
    for scope in readable_scopes(caller):
        with stores.lease(scope.team) as store:
            error = store.memories.absence(scope, id)
            if isinstance(error, MemoryDamaged):
                return error
    return NotFound(f"no memory {id}")


class Reading:
    """What the caller may not see looks exactly like what is not there."""

    def __init__(self, stores: Stores, clock: Clock, freshness: Freshness, embedding: Embedding) -> None:
        self._stores = stores
        self._clock = clock
        self._freshness = freshness
        self._embedding = embedding

    def get(self, caller: Caller, id: object, *, as_of: object = None, for_use: object = True) -> Memory:
        memory_id = find_id(self._stores, caller, id)
        counts = counts_as_use(caller, for_use=fields.flag(for_use, field="for_use"))
        at = None if as_of is None else fields.moment(as_of, field="as_of")
        for scope in readable_scopes(caller):
            with self._stores.lease(scope.team) as store:
                found = (
                    store.memories.find(scope, memory_id)
                    if at is None
                    else store.memories.find_as_of(scope, memory_id, at)
                )
                if found is not None:
                    if at is None and counts:
                        store.recalls.count_access((memory_id,), by=caller.member_id, at=self._clock.now())
                    fresh = self._freshness.of(found)
                    return fresh if at is not None else _with_contests(store, scope, [fresh])[0]
        raise absence(self._stores, caller, memory_id)

    def with_embeddings(self, caller: Caller, memories: Sequence[Memory]) -> list[Memory]:
        """Return the memories with the vectors of their texts, as far as there are any by now."""
        embedder = self._embedding.embedder
        if embedder is None or not memories:
            return list(memories)
        found: dict[tuple[MemoryId, bytes], tuple[float, ...]] = {}
        for team in {memory.team for memory in memories}:
            scope = named_scope(caller, team)
            with self._stores.lease(team) as store:
                self._embedding.catch_up(store, sequence=store.index.standing(scope, self._clock.now()).sequence)
                ids = [memory.id for memory in memories if memory.team == team]
                for id, (made_of, vector) in store.embeddings.of(scope, ids, model=embedder.model).items():
                    unit = vector / max(float(vector @ vector) ** 0.5, 1.0)
                    found[id, made_of] = tuple(round(float(one), VECTOR_DIGITS) for one in unit)
        return [checked_memory({**vars(one), "embedding": found.get((one.id, _hash_of(one)), ())}) for one in memories]

    def history(self, caller: Caller, id: object) -> list[Version]:
        memory_id = find_id(self._stores, caller, id)
        with self._stores.lease((scope := self._scope_with(caller, memory_id)).team) as store:
            return store.memories.versions(scope, memory_id)

    def links(self, caller: Caller, id: object) -> list[Link]:
        memory_id = find_id(self._stores, caller, id)
        with self._stores.lease((scope := self._scope_with(caller, memory_id)).team) as store:
            return store.links.of(scope, memory_id)

    def usage(self, caller: Caller, id: object) -> Usage:
        memory_id = find_id(self._stores, caller, id)
        with self._stores.lease((scope := self._scope_with(caller, memory_id)).team) as store:
            return store.memories.usage(scope, memory_id)

    def list(
        self,
        caller: Caller,
        given: Mapping[str, object],
        *,
        order_by: object = None,
        limit: object = None,
        cursor: object = None,
        team: object = None,
        deleted: object = False,
        as_of: object = None,
    ) -> Page[Memory]:
        """With `deleted`, what the caller may restore, whatever its status."""
        at = None if as_of is None else fields.moment(as_of, field="as_of")
        filters = replace(read_filters(given, now=at or self._clock.now()), believed_at=at)
        if fields.flag(deleted, field="deleted"):
            if at is not None:
                raise InvalidState("cannot be asked of what is deleted", field="as_of")
            filters = replace(filters, deleted=True, statuses=(), alive_at=None, expired_at=None)
            if not may_curate(caller):
                if filters.agent_id not in {None, caller.member_id}:
                    return Page(())
                filters = replace(filters, agent_id=caller.member_id)
        order, page = read_order(order_by), read_limit(limit)
        mark = read_mark(cursor)
        scope = named_scope(caller, team)
        with self._stores.lease(scope.team) as store:
            found = self._freshness.of_page(store.memories.page(scope, filters, order=order, limit=page, cursor=mark))
            return found if at is not None else Page(_with_contests(store, scope, found), found.next_cursor)

    def tree(self, caller: Caller, path: object = "/", *, team: object = None) -> Tree:
        """The memories right at a path, newest first, and the folders below it."""
        folder = fields.path(path)
        filters = read_filters({}, now=self._clock.now())
        scope = named_scope(caller, team)
        with self._stores.lease(scope.team) as store:
            here = replace(filters, at_path=folder)
            items = store.memories.page(scope, here, order=Order(), limit=TREE_ITEMS)
            shown = Page(_with_contests(store, scope, self._freshness.of_page(items)), items.next_cursor)
            return Tree(folder, shown, tuple(store.memories.folders(scope, folder, filters)))

    def recent(self, caller: Caller, *, limit: object = 10) -> Page[Memory]:
        """List the newest that the caller may read, in every team that it reads."""
        filters = read_filters({}, now=self._clock.now())
        most, scopes = read_limit(limit, default=10), scopes_at_hand(self._stores, caller)
        return Page(newest_memories(self._stores, scopes, self._freshness, filters, limit=most))

    def statistics(self, caller: Caller, *, with_tags: object = False) -> Statistics:
        wanted = fields.flag(with_tags, field="with_tags")
        filters = read_filters({"status": "any"}, now=self._clock.now())
        scope = read_scope(caller)
        with self._stores.lease(caller.team) as store:
            counted = replace(store.memories.statistics(scope, filters), events=store.queue.count(scope))
            return replace(counted, by_tag=store.memories.count_tags(scope, filters)) if wanted else counted

    def locate(self, in_each_team: Iterable[Caller], id: object, *, deleted: object = False) -> list[Memory]:
        """Return what an id, or a part of one, may mean in any of these teams, for somebody who may act in all."""
        part, with_deleted = parse_short(id), fields.flag(deleted, field="deleted")
        found: list[Memory] = []
        damage: StoreDamaged | None = None
        for caller in in_each_team:
            try:
                found += find_memories(self._stores, [read_scope(caller)], [part], deleted=with_deleted)
            except StoreDamaged as error:
                damage = error
        if damage is not None and not found:
            # It may have been in the store that is damaged.
            raise damage
        return found

    def receipt(self, caller: Caller, id: object) -> Receipt:
        """For whoever purged the memory, and for admins."""
        memory_id = parse_id(id)
        with self._stores.lease(caller.team) as store:
            found = store.memories.find_receipt(memory_id)
        if found is None or (found.purged_by != caller.member_id and caller.role is not Role.ADMIN):
            raise NotFound(f"no receipt for {memory_id}")
        return found

    def _scope_with(self, caller: Caller, id: MemoryId) -> ReadScope:
        for scope in readable_scopes(caller):
            with self._stores.lease(scope.team) as store:
                if store.memories.find(scope, id) is not None:
                    return scope
        raise absence(self._stores, caller, id)
