"""Knowledge: the values that stand under keys, what waits against them, and who decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from mycel.access.rules import require_arbiter, require_reviewer
from mycel.access.scope import ReadScope, read_scope
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.ids import MemoryId
from mycel.domain.knowledge import is_knowledge, is_rival
from mycel.domain.memory import WRITTEN, Category, Memory, MemoryType, Status, Version, Visibility
from mycel.domain.names import read_names
from mycel.domain.query import Filters, Order, Page
from mycel.domain.recall import Recall
from mycel.domain.team import Caller
from mycel.errors import Conflict, NotFound, ReferenceNotFound
from mycel.services.keyed_values import decided_against
from mycel.services.proposals import is_proposal
from mycel.services.read import Reading, named_scope
from mycel.services.review import approve_one, clear_opponents, lose, reject_one
from mycel.services.search import Searching
from mycel.services.second_person import SecondPerson
from mycel.services.short_ids import find_id
from mycel.services.write import Writing, change_own

_HOLDS = "another value holds"
# The widest audience first: it is what most readers mean by the value of a key.
_BY_AUDIENCE = list(Visibility)
_ARGUMENTS = ("project", "category", "key", "confidence", "idempotency_key")
_SAID = frozenset({*_ARGUMENTS, *(row.request for row in WRITTEN.values() if row.of_values)})


class Knowledge:
    def __init__(
        self, stores: Stores, writing: Writing, reading: Reading, searching: Searching, second_person: SecondPerson
    ) -> None:
        self._stores = stores
        self._second_person = second_person
        self._writing = writing
        self._reading = reading
        self._searching = searching

    def upsert(
        self, caller: Caller, value: object, given: Mapping[str, object], *, expected_version: object = None
    ) -> Memory:
        said = {name: one for name, one in given.items() if one is not None}
        if not said.keys() <= _SAID:
            said = read_names(said, sorted(_SAID), kind="a field of knowledge")
        for name in ("key", "category"):
            said[name] = fields.label(given.get(name), field=name)
        text = fields.filled_text(value, field="value", max_bytes=self._writing.max_content)
        stored = self._writing.save(
            caller, text, {**said, "type": type_of(said["category"])}, expected_version=expected_version
        )
        if not stored.applied or (stored.version == 1 and stored.agent_id == caller.member_id):
            return stored
        with self._stores.lease(caller.team) as store:
            return _with_confirmations(store, read_scope(caller), [stored])[0]

    def get(self, caller: Caller, key: object, *, project: object, category: object, team: object = None) -> Memory:
        name, label = fields.label(key, field="key"), fields.label(category, field="category")
        place = None if project is None else fields.place(project, field="project")
        wanted = {"knowledge": True, "key": name, "category": label, "project": place}
        found: list[Memory] = []
        cursor: str | None = None
        while True:
            page = self._reading.list(caller, wanted, limit=fields.MAX_PAGE, cursor=cursor, team=team)
            # "Of no project" cannot be asked for.
            found += [one for one in page if one.project_id == place]
            cursor = page.next_cursor
            if cursor is None:
                break
        if not found:
            raise NotFound(f"no knowledge {name!r} in {label!r} of {'no project' if place is None else repr(place)}")
        chosen = min(found, key=lambda one: (_BY_AUDIENCE.index(one.visibility), one.agent_id != caller.member_id))
        scope = named_scope(caller, team)
        with self._stores.lease(scope.team) as store:
            return _with_confirmations(store, scope, [chosen])[0]

    def list(
        self,
        caller: Caller,
        given: Mapping[str, object],
        *,
        limit: object = None,
        cursor: object = None,
        team: object = None,
    ) -> Page[Memory]:
        page = self._reading.list(caller, {**given, "knowledge": True}, limit=limit, cursor=cursor, team=team)
        scope = named_scope(caller, team)
        with self._stores.lease(scope.team) as store:
            return Page(_with_confirmations(store, scope, page), page.next_cursor)

    def candidates(
        self, caller: Caller, given: Mapping[str, object], *, limit: object = None, cursor: object = None
    ) -> Page[Memory]:
        asked = {**given, "knowledge": True, "status": Status.INBOX.value}
        return self._reading.list(caller, asked, limit=limit, cursor=cursor)

    def search(self, caller: Caller, query: object, given: Mapping[str, object], *, limit: object) -> Recall:
        return self._searching.search(caller, query, {**given, "knowledge": True}, limit=limit)

    def history(self, caller: Caller, id: object) -> Sequence[Version]:
        versions = self._reading.history(caller, id)
        _require_knowledge(versions[-1].memory)
        return versions

    def delete(self, caller: Caller, id: object) -> Memory:
        _require_knowledge(self._reading.get(caller, id))
        return self._writing.delete(caller, id)

    def arbitrate(self, caller: Caller, id: object, *, reason: object = None) -> Memory:
        """Candidates that come in while this is decided wait for the next decision."""
        memory_id = find_id(self._stores, caller, id)
        why = self._writing.read_reason(caller, reason)
        with self._stores.lease(caller.team) as store:
            scope = read_scope(caller)
            chosen = store.memories.find(scope, memory_id)
            rivals = [] if chosen is None or chosen.key is None else _rivals(store, scope, chosen)
        decide = partial(
            _decide, caller=caller, id=memory_id, rivals=rivals, why=why, second_person=self._second_person
        )
        return change_own(self._stores, caller, memory_id, decide)


def _with_confirmations(store: Store, scope: ReadScope, memories: Sequence[Memory]) -> list[Memory]:
    counts = store.links.confirmations(scope, [one.id for one in memories]) if memories else {}
    return [replace(one, confirmations=counts[one.id]) if one.id in counts else one for one in memories]


def type_of(category: object) -> str:
    return (MemoryType.DECISION if category == Category.DECISION else MemoryType.FACT).value


def _require_knowledge(memory: Memory) -> None:
    if not is_knowledge(memory):
        raise ReferenceNotFound(f"no knowledge {memory.id}")


def _rivals(store: Store, scope: ReadScope, chosen: Memory) -> list[MemoryId]:
    filters = Filters(knowledge=True, key=chosen.key, statuses=(Status.ACTIVE, Status.INBOX))
    found: list[MemoryId] = []
    cursor: str | None = None
    while True:
        page = store.memories.page(scope, filters, order=Order(), limit=fields.MAX_PAGE, cursor=cursor)
        found += [one.id for one in page if one.id != chosen.id and is_rival(one, chosen)]
        cursor = page.next_cursor
        if cursor is None:
            return found


def _decide(
    transaction: Transaction,
    *,
    caller: Caller,
    id: MemoryId,
    rivals: Sequence[MemoryId],
    why: str | None,
    second_person: SecondPerson,
) -> Memory:
    scope = read_scope(caller)
    chosen = transaction.memories.get(scope, id)
    _require_knowledge(chosen)
    require_arbiter(caller)
    require_reviewer(caller, chosen)
    if chosen.status not in (Status.ACTIVE, Status.INBOX):
        raise Conflict(f"this value is {chosen.status}: write it again to have it decided")
    if is_proposal(chosen) and chosen.status is Status.INBOX:
        return approve_one(transaction, caller, id, None, why=why, second_person=second_person)
    standing = transaction.memories.find_by_key(scope, chosen)
    others = [] if standing is None else [standing.id]
    if standing is not None and standing.id != id:
        second_person.reversals.require(caller, decided_against(transaction, caller, chosen, standing))
    for other_id in dict.fromkeys([*others, *rivals]):
        other = transaction.memories.find(scope, other_id)
        if other is None or other.id == id or not is_rival(other, chosen):
            continue
        if other.status is Status.ACTIVE:
            lost = lose(transaction, caller, other, loss=Status.CONTRADICTED, why=why or _HOLDS)
            clear_opponents(transaction, caller, scope, lost)
        elif other.status is Status.INBOX:
            reject_one(transaction, caller, other.id, why=why or _HOLDS)
    winner = transaction.memories.get(scope, id)
    if winner.status is Status.ACTIVE:
        return winner
    return approve_one(transaction, caller, id, None, why=why, second_person=second_person)
