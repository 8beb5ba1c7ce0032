"""Memories, readers and single steps for the store suites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mycel.access.scope import ReadScope
from mycel.contracts.search_store import IndexQuery
from mycel.contracts.store import Store, Transaction
from mycel.domain.change import ChangeFilter, Operation
from mycel.domain.ids import EventId, MemberId, MemoryId, SourceId, TeamName, new_id
from mycel.domain.memory import MadeBy, Memory, MemoryType, Scope, SourceKind, Status, Visibility
from mycel.domain.query import Filters, Order
from mycel.domain.source import IngestionEvent, Source, Trigger
from mycel.domain.team import Role, Trust
from mycel.retrieval.terms import packed_terms
from mycel.services import erasure

TEAM = TeamName("squad")
AUTHOR = MemberId("swe-1")
TEAMMATE = MemberId("swe-2")
NEWEST = Order()
ANY_STATUS = Filters(statuses=())
EVERY_CHANGE = ChangeFilter()
EVERYTHING = ReadScope(team=TEAM, member_id=None, role=None, everything=True)
START = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)


def reader(member_id: str = AUTHOR, role: Role = Role.AGENT) -> ReadScope:
    return ReadScope(team=TEAM, member_id=MemberId(member_id), role=role, every_role=role is Role.ADMIN)


def sample(content: str = "The build needs Node 22.", **fields: Any) -> Memory:
    """A first version by the author; whatever is given replaces the plain value."""
    at = fields.pop("at", START)
    plain: dict[str, Any] = {
        "id": MemoryId(new_id()),
        "team": TEAM,
        "type": MemoryType.FACT,
        "title": content,
        "content": content,
        "path": "/notes",
        "scope": Scope.GLOBAL,
        "agent_id": AUTHOR,
        "visibility": Visibility.TEAM,
        "status": Status.ACTIVE,
        "confidence": 1.0,
        "trust": Trust.NORMAL,
        "source_kind": SourceKind.MANUAL,
        "made_by": MadeBy.MANUAL,
        "created_at": at,
        "updated_at": at,
        "version": 1,
    }
    return Memory(**{**plain, **fields})


def insert(transaction: Transaction, memory: Memory) -> None:
    transaction.memories.insert([(memory, packed_terms(memory))], by=memory.agent_id)


def put(store: Store, content: str = "The build needs Node 22.", **fields: Any) -> Memory:
    """Stores one memory in a transaction of its own."""

    def work(transaction: Transaction) -> Memory:
        memory = sample(content, **{"at": transaction.committed_at, **fields})
        insert(transaction, memory)
        return memory

    return store.transact(work)


def change(
    store: Store,
    id: MemoryId,
    *,
    by: MemberId = AUTHOR,
    operation: Operation = Operation.UPDATE,
    reason: str | None = None,
    **fields: Any,
) -> Memory:
    """The next version, in a transaction of its own."""

    def work(transaction: Transaction) -> Memory:
        before = transaction.memories.get(EVERYTHING, id, deleted=True)
        after = replace(before, version=before.version + 1, updated_at=transaction.committed_at, **fields)
        transaction.memories.replace(before, after, by=by, operation=operation, reason=reason)
        return after

    return store.transact(work)


def delete(store: Store, id: MemoryId) -> Memory:
    return change(store, id, operation=Operation.DELETE, deleted_at=START)


def restore(store: Store, id: MemoryId) -> Memory:
    return change(store, id, operation=Operation.RESTORE, deleted_at=None)


def purge(store: Store, id: MemoryId, *, by: MemberId = AUTHOR) -> None:
    store.transact(
        lambda transaction: erasure.purge(transaction, transaction.memories.get(EVERYTHING, id, deleted=True), by=by)
    )


def found_by_word(
    store: Store, word: str, scope: ReadScope | None = None, *, filters: Filters = ANY_STATUS
) -> set[MemoryId]:
    """The ids that one indexed term finds."""
    return set(found_by_terms(store, [word], scope, filters=filters))


def matches_of(
    store: Store, terms: Sequence[str], scope: ReadScope, *, filters: Filters = ANY_STATUS, limit: int = 100
) -> list[tuple[int, float]]:
    """The numbers and scores of what these terms find, best first."""
    found = store.index.candidates(scope, IndexQuery(filters, limit, tuple(terms)))
    return sorted(
        zip(found.numbers.tolist(), found.bm25.tolist(), strict=True), key=lambda match: (-match[1], -match[0])
    )


def found_by_terms(
    store: Store,
    terms: Sequence[str],
    scope: ReadScope | None = None,
    *,
    filters: Filters = ANY_STATUS,
    limit: int = 100,
) -> list[MemoryId]:
    """The ids that indexed terms find, best first."""
    numbers = [number for number, _ in matches_of(store, terms, scope or reader(), filters=filters, limit=limit)]
    loaded = store.index.load(scope or reader(), numbers, filters=filters)
    return [loaded[number].id for number in numbers]


def quoting(store: Store, phrase: Sequence[str], scope: ReadScope | None = None) -> frozenset[int] | None:
    """The numbers of what holds these terms one after another."""
    asked = IndexQuery(ANY_STATUS, 9, tuple(phrase), (tuple(phrase),))
    return store.index.candidates(scope or reader(), asked).quoted


def listed(store: Store, scope: ReadScope | None = None, filters: Filters = ANY_STATUS) -> set[MemoryId]:
    return {memory.id for memory in store.memories.page(scope or reader(), filters, order=NEWEST, limit=1000)}


def a_source(text: str = "We agreed on Node 22.", **fields: Any) -> Source:
    plain: dict[str, Any] = {
        "id": SourceId(new_id()),
        "kind": SourceKind.CONVERSATION,
        "agent_id": AUTHOR,
        "text": text,
        "sha256": "0" * 64,
        "created_at": START,
    }
    return Source(**{**plain, **fields})


def an_event(source: Source | None, **fields: Any) -> IngestionEvent:
    plain: dict[str, Any] = {
        "id": EventId(new_id()),
        "trigger": Trigger.CONVERSATION_CAPTURE,
        "source_id": source.id if source else None,
        "scope": Scope.GLOBAL,
        "agent_id": AUTHOR,
        "created_at": START,
        "updated_at": START,
    }
    return IngestionEvent(**{**plain, **fields})
