"""Writing memories: save, update, delete, restore, purge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar, cast

from mycel.access.rules import (
    may_edit,
    may_review,
    require_delete,
    require_edit,
    require_purge,
    require_reviewer,
    require_transition,
)
from mycel.access.scope import ReadScope, purge_scope, read_scope, scopes_above
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.change import Operation
from mycel.domain.draft import CLAIM, MAX_CONTENT_BYTES, Draft, changed_memory, new_memory, read_fields
from mycel.domain.fields import MAX_COUNT, MAX_ITEMS
from mycel.domain.ids import MemoryId, parse_id
from mycel.domain.link import Link, Relation
from mycel.domain.marks import REJECTED, with_marks
from mycel.domain.memory import Memory, MemoryType, Status
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.policy import Policy
from mycel.domain.receipt import Receipt
from mycel.domain.team import Caller
from mycel.errors import AccessDenied, Conflict, InvalidInput, InvalidState, NotFound, ReferenceNotFound
from mycel.services.idempotency import Retry
from mycel.services.keyed_values import drop_confirmations, store_value, with_standing
from mycel.services.policies import Policies
from mycel.services.prepared import PreparedMemory, unwritten, with_period
from mycel.services.proposals import is_proposal, must_wait, propose, with_edits
from mycel.services.reversals import Reversals
from mycel.services.screening import read_reason, screen
from mycel.services.second_person import SecondPerson
from mycel.services.short_ids import find_id

# The row points into the content; a key would let the next value take the memory's place.
_BOUND = ("content", "type", "key")


def require_free_of_details(transaction: Transaction, before: Memory, draft: Draft) -> None:
    values = draft.values
    changed = [name for name in _BOUND if name in values and values[name] != getattr(before, name)]
    if changed and transaction.memories.has_detail(before.id):
        again = "log another one" if before.type is MemoryType.EPISODE else "register it again"
        raise InvalidState(f"of an {before.type} stays as it was written down: {again}", field=changed[0])


ResultT = TypeVar("ResultT")


def change_own(stores: Stores, caller: Caller, id: MemoryId, work: Callable[[Transaction], ResultT]) -> ResultT:
    """Run the work in the caller's team. A lead sees memories of the teams above too, but may not change them."""
    try:
        with stores.lease(caller.team) as store:
            return store.transact(work)
    except NotFound:
        for above in scopes_above(caller):
            with stores.lease(above.team) as store:
                if store.memories.find(above, id) is not None:
                    raise AccessDenied(f"this memory is for team {above.team} to change") from None
        raise


_NOT_FIELDS = frozenset({"idempotency_key", "expected_version", "reason"})
_BESIDE_DRAFT = frozenset({"content", "idempotency_key"})
# Most drafts of a team have the same few fields; what is kept of them then shares these.
_names = lru_cache(maxsize=256)(frozenset[str])


class Writing:
    """Every write is stored with its change before the caller hears of it."""

    def __init__(
        self,
        stores: Stores,
        policies: Policies,
        second_person: SecondPerson,
        reversals: Reversals,
        *,
        max_content: int = MAX_CONTENT_BYTES,
    ) -> None:
        self._stores = stores
        self._second_person = second_person
        self.reversals = reversals
        self._policies = policies
        self.max_content = max_content

    def save(
        self,
        caller: Caller,
        content: object,
        given: Mapping[str, object],
        *,
        expected_version: object = None,
        supersedes: object = None,
    ) -> Memory:
        """With `expected_version`, `Conflict` unless the value that stands under its key is at that one; 0 is none.

        What it `supersedes` gives way at once, or when it is approved.
        """
        new = self.read_new(caller, content, given)
        expected = _expected_version(expected_version, least=0)
        replaced = None if supersedes is None else find_id(self._stores, caller, supersedes, field="supersedes")
        read = tuple(one for one in (expected, replaced) if one is not None)
        retry = Retry.read(caller, "save", given.get("idempotency_key"), new.values, new.ttl, *read)

        def work(transaction: Transaction) -> Memory:
            earlier = retry.earlier(transaction)
            if earlier is not None:
                return with_standing(transaction, caller, earlier)
            (stored,) = _store(transaction, caller, [new], reversals=self.reversals, expected=expected)
            if replaced is not None:
                _supersede(transaction, caller, stored, replaced)
            retry.remember(transaction, stored)
            return with_standing(transaction, caller, stored)

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def save_many(self, caller: Caller, items: object) -> list[Memory]:
        """All of them, or none: one that is wrong names its place."""
        listed = fields.several(items, field="items", most=MAX_ITEMS)
        new = [self._read_item(caller, place, item) for place, item in enumerate(listed)]
        with self._stores.lease(caller.team) as store:

            def work(transaction: Transaction) -> list[Memory]:
                stored = _store(transaction, caller, new, reversals=self.reversals)
                return [with_standing(transaction, caller, memory) for memory in stored]

            return store.transact(work)

    def update(self, caller: Caller, id: object, given: Mapping[str, object]) -> Memory:
        memory_id = find_id(self._stores, caller, id)
        changed = {name: value for name, value in given.items() if name not in _NOT_FIELDS}
        expected = _expected_version(given.get("expected_version"))
        reason = self.read_reason(caller, given.get("reason"))
        policy = self._policies.of(caller.team)
        draft = screen(read_fields(changed, max_content=self.max_content), policy)
        if not changed:
            wrong = InvalidState if given else InvalidInput
            raise wrong("give at least one field to change", field="fields")
        request = (memory_id, expected, reason, draft.values, draft.ttl, draft.needs_review)
        retry = Retry.read(caller, "update", given.get("idempotency_key"), *request)

        def work(transaction: Transaction) -> Memory:
            earlier = retry.earlier(transaction)
            if earlier is not None:
                return earlier
            before = transaction.memories.get(read_scope(caller), memory_id)
            # A reviewer's word about what becomes of a memory is the review that the policy asks for.
            decides = may_review(caller) and draft.values.keys() <= {"status"}
            rules = replace(policy, review=(), decisions_need_rationale=False) if decides else policy
            after = _changed(transaction, caller, before, draft, expected=expected, policy=rules)
            changed = (draft.values.keys() if draft.ttl is None else {*draft.values, "expires_at"}) - {CLAIM}
            self.reversals.require_change(transaction, caller, before, after, changed=changed)
            if must_wait(before, after, draft.values):
                proposal = propose(transaction, before, after, by=caller.member_id)
                retry.remember(transaction, proposal)
                return proposal
            if is_proposal(before):
                after = with_edits(before, after)
            self._second_person.require(transaction, caller, before, after)
            transaction.memories.replace(before, after, by=caller.member_id, reason=reason)
            drop_confirmations(transaction, before, after)
            retry.remember(transaction, after)
            return after

        return change_own(self._stores, caller, memory_id, work)

    def delete(self, caller: Caller, id: object) -> Memory:
        memory_id = find_id(self._stores, caller, id)

        def work(transaction: Transaction) -> Memory:
            before = transaction.memories.get_mended(read_scope(caller), memory_id)
            require_delete(caller, before)
            after = replace(before, deleted_at=transaction.now, version=before.version + 1)
            transaction.memories.replace(before, after, by=caller.member_id, operation=Operation.DELETE)
            return after

        return change_own(self._stores, caller, memory_id, work)

    def restore(self, caller: Caller, id: object) -> Memory:
        """Undoes a deletion; a memory that is not deleted stays as it is."""
        memory_id = find_id(self._stores, caller, id, deleted=True)

        def work(transaction: Transaction) -> Memory:
            before = transaction.memories.get(read_scope(caller), memory_id, deleted=True)
            require_delete(caller, before)
            if before.deleted_at is None:
                return before
            after = replace(before, deleted_at=None, version=before.version + 1)
            self.reversals.require_return(transaction, caller, before, after)
            policy = self._policies.of(caller.team)
            left = policy.review_reason(after.type, after.rationale)
            if after.status is Status.ACTIVE and left is not None and not may_review(caller):
                waits = with_marks(after.metadata, review=left)
                after = replace(after, status=Status.INBOX, metadata=waits)
            transaction.memories.replace(before, after, by=caller.member_id, operation=Operation.RESTORE)
            return after

        return change_own(self._stores, caller, memory_id, work)

    def purge(self, caller: Caller, id: object) -> Receipt:
        # Here, since it loads what splits sentences, which few processes need.
        from mycel.services.erasure import purge

        # What cannot be undone takes the whole id.
        memory_id = parse_id(id)

        def work(transaction: Transaction) -> Receipt:
            memory = transaction.memories.get_mended(purge_scope(caller), memory_id, deleted=True)
            require_purge(caller, memory)
            return purge(transaction, memory, by=caller.member_id)

        return change_own(self._stores, caller, memory_id, work)

    def read_new(
        self, caller: Caller, content: object, given: Mapping[str, object], *, id: MemoryId | None = None
    ) -> PreparedMemory:
        said = {"content": content}
        for name, value in given.items():
            if value is not None and name not in _BESIDE_DRAFT:
                said[name] = value
        policy = self._policies.of(caller.team)
        draft = screen(read_fields(said, max_content=self.max_content), policy)
        values = new_memory(draft, caller=caller, policy=policy)
        lasts = draft.ttl is not None or "expires_at" in values
        named = tuple(name for name in draft.values if name != CLAIM)
        given_names = _names(named if draft.ttl is None else (*named, "expires_at"))
        life = draft.ttl if lasts else policy.life_of(values["made_by"], values["type"])
        return unwritten(values, ttl=life, id=id, given=given_names)

    def read_reason(self, caller: Caller, value: object) -> str | None:
        return None if value is None else read_reason(value, self._policies.of(caller.team))

    def _read_item(self, caller: Caller, place: int, item: object) -> PreparedMemory:
        try:
            if not isinstance(item, Mapping):
                raise InvalidInput("must be an object with content and fields", field="item")
            given = cast(Mapping[str, object], item)
            if "idempotency_key" in given:
                raise InvalidInput("is for single saves", field="idempotency_key")
            return self.read_new(caller, given.get("content"), given)
        except InvalidInput as error:
            raise type(error)(error.problem, field=f"items[{place}].{error.field}") from None


def _expected_version(value: object, *, least: int = 1) -> int | None:
    return None if value is None else fields.whole(value, field="expected_version", least=least, most=MAX_COUNT)


def _store(
    transaction: Transaction,
    caller: Caller,
    new: Sequence[PreparedMemory],
    *,
    reversals: Reversals,
    expected: int | None = None,
) -> list[Memory]:
    stored: list[Memory] = []
    plain: list[tuple[Memory, PackedTerms]] = []
    for one in new:
        memory = one.at(transaction)
        _require_source(transaction, read_scope(caller), memory)
        if _takes_a_place(memory):
            if plain:
                # Before the next, so that the change log has them in the order given.
                transaction.memories.insert(plain, by=caller.member_id)
                plain = []
            memory = store_value(transaction, caller, one, reversals=reversals, expected=expected)
        else:
            plain.append((memory, one.words))
        stored.append(memory)
    if plain:
        transaction.memories.insert(plain, by=caller.member_id)
    return stored


def lose(transaction: Transaction, caller: Caller, memory: Memory, *, loss: Status, why: str) -> Memory:
    lost = replace(
        memory,
        status=loss,
        metadata=with_marks(memory.metadata, contested=None),
        version=memory.version + 1,
        updated_at=transaction.committed_at,
    )
    transaction.memories.replace(memory, lost, by=caller.member_id, reason=why)
    return lost


def _supersede(transaction: Transaction, caller: Caller, later: Memory, id: MemoryId) -> None:
    before = transaction.memories.find(read_scope(caller), id)
    if before is None:
        raise ReferenceNotFound(f"no memory {id}")
    if before.status is not Status.ACTIVE:
        raise InvalidState(f"names a memory that is {before.status} and stands no longer", field="supersedes")
    if before.key is not None or later.key is not None:
        raise InvalidState("is for memories without a key: a value takes its place by the key", field="supersedes")
    link = Link(later.id, before.id, Relation.SUPERSEDES, caller.member_id, transaction.committed_at)
    transaction.links.add(link, origin=later)
    # What somebody else wrote gives way when a reviewer says so: until then the link suggests it.
    if later.status is Status.ACTIVE and may_edit(caller, before):
        lose(transaction, caller, before, loss=Status.SUPERSEDED, why="replaced by a later one")


def _takes_a_place(memory: Memory) -> bool:
    """A profile that waits stands against nothing: the person it is about decides."""
    return memory.key is not None and (memory.status is Status.ACTIVE or memory.type is not MemoryType.PROFILE)


def _changed(
    transaction: Transaction, caller: Caller, before: Memory, draft: Draft, *, expected: int | None, policy: Policy
) -> Memory:
    require_edit(caller, before)
    require_free_of_details(transaction, before, draft)
    if expected is not None and expected != before.version:
        raise Conflict(f"the memory is at version {before.version}, not {expected}: read it again")
    changes = with_period(draft, before, now=transaction.now)
    after = changed_memory(
        before, changes, caller=caller, at=transaction.committed_at, now=transaction.now, policy=policy
    )
    require_transition(caller, before, after)
    left_inbox = before.status is Status.INBOX and after.status is not Status.INBOX
    comes_back = REJECTED in before.metadata and after.status is Status.ACTIVE
    if left_inbox or comes_back:
        require_reviewer(caller, before)
    _require_source(transaction, read_scope(caller), after)
    return after


def _require_source(transaction: Transaction, scope: ReadScope, memory: Memory) -> None:
    stored = memory.source_ref and memory.source_ref.source_id
    if stored and transaction.sources.find(scope, stored) is None:
        raise NotFound(f"no source {stored}")
