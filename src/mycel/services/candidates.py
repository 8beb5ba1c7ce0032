"""One candidate of the inbox: look at it, put it off, merge it into what stands, or take its decision back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from mycel.access.rules import require_arbiter, require_reviewer
from mycel.access.scope import ReadScope, read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.draft import Draft, changed_memory
from mycel.domain.ids import MemoryId
from mycel.domain.inbox import Claim, InboxItem
from mycel.domain.link import Link, Relation
from mycel.domain.marks import CONTESTED, with_marks
from mycel.domain.memory import STANDING, Memory, Status
from mycel.domain.query import Filters, Order
from mycel.domain.team import Caller
from mycel.engine.consolidation import merged, same_readers
from mycel.errors import Conflict, InvalidInput, InvalidState, ReferenceNotFound
from mycel.services.prepared import with_period
from mycel.services.reversals import Decision, Reversals
from mycel.services.review import (
    ANYONE,
    Reviewing,
    clear_opponents,
    read_expected,
    require_version,
    waiting,
)
from mycel.services.second_person import SecondPerson
from mycel.services.short_ids import find_id
from mycel.services.similar import Comparing
from mycel.services.write import lose, require_free_of_details

# Long enough to read a talk and to think; whoever goes home keeps nothing from the others.
CLAIMED_FOR = timedelta(minutes=5)
LONGEST_SNOOZE = timedelta(days=366)


class Candidates:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        reviewing: Reviewing,
        comparing: Comparing,
        second_person: SecondPerson,
        reversals: Reversals,
    ) -> None:
        self._reversals = reversals
        self._stores = stores
        self._clock = clock
        self._reviewing = reviewing
        self._comparing = comparing
        self._second_person = second_person

    def get(self, caller: Caller, id: object) -> InboxItem:
        """With what stands near it, as `similar` of its memory."""
        wanted, now = find_id(self._stores, caller, id), self._clock.now()
        with self._stores.lease(caller.team) as store:
            memory = store.memories.get(read_scope(caller), wanted)
            if not self._waits(caller, memory):
                raise Conflict(f"this memory is {memory.status} and no longer in the inbox")
            (item,) = self._reviewing.items_of(store, caller, [memory], now=now)
        # What waits because of its wording is compared with nothing by itself; whoever looks at it wants to know.
        plain = replace(memory, metadata=with_marks(memory.metadata, review=None))
        similar = self._comparing.with_similar(caller, plain).similar
        return replace(item, memory=replace(memory, similar=similar))

    def claim(self, caller: Caller, id: object) -> Claim:
        """Tells others who look at it; whoever is first keeps it until its time is up, and stops nobody."""
        wanted = self._require_waiting(caller, id)
        now = self._clock.now()
        claim = Claim(wanted, caller.member_id, now + CLAIMED_FOR)
        with self._stores.lease(caller.team) as store:
            standing = store.reviews.claims([wanted], at=now).get(wanted)
            if standing is not None and standing.member_id != caller.member_id:
                return standing
            return store.transact(lambda transaction: transaction.reviews.claim(claim, at=now))

    def snooze(self, caller: Caller, id: object, *, until: object) -> InboxItem:
        """For the caller alone: others go on to see it."""
        wanted = self._require_waiting(caller, id)
        now = self._clock.now()
        moment = None if until is None else fields.moment(until, field="until")
        if moment is not None and not now < moment <= now + LONGEST_SNOOZE:
            raise InvalidInput(f"must be a moment of the next {LONGEST_SNOOZE.days} days", field="until")

        def work(transaction: Transaction) -> None:
            transaction.reviews.snooze(caller.member_id, wanted, until=moment)
            after = {"until": None if moment is None else moment.isoformat()}
            transaction.activity.note(
                "reviews.snooze", by=caller.member_id, subject=wanted, memory_id=wanted, after=after, own=True
            )

        with self._stores.lease(caller.team) as store:
            store.transact(work)
            memory = store.memories.get(read_scope(caller), wanted)
            return self._reviewing.items_of(store, caller, [memory], now=now)[0]

    def merge(
        self, caller: Caller, id: object, *, into: object, content: object = None, expected_version: object = None
    ) -> Memory:
        """The candidate gives way to a memory that says the same, or with `content` what both say."""
        wanted = find_id(self._stores, caller, id)
        kept = find_id(self._stores, caller, into, field="into")
        if wanted == kept:
            raise InvalidInput("must name another memory", field="into")
        expected = read_expected(expected_version)
        draft = None if content is None else self._reviewing.read_edits(caller, {"content": content})

        def work(transaction: Transaction) -> Memory:
            require_version(transaction, caller, wanted, expected)
            return self._merge(transaction, caller, wanted, kept, draft)

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def reopen(self, caller: Caller, id: object) -> Memory:
        """Takes the last decision back, with all that followed from it."""
        wanted = find_id(self._stores, caller, id)
        with self._stores.lease(caller.team) as store:
            return store.transact(lambda transaction: _reopen(transaction, caller, wanted, self._reversals))

    def _waits(self, caller: Caller, memory: Memory) -> bool:
        if memory.status is Status.INBOX:
            return True
        with self._stores.lease(caller.team) as store:
            at = memory.created_at
            only = replace(_asked(caller, self._clock), since=at, until=at + timedelta.resolution)
            found = store.memories.page(read_scope(caller), only, order=Order(), limit=fields.MAX_PAGE)
        return any(one.id == memory.id for one in found)

    def _require_waiting(self, caller: Caller, id: object) -> MemoryId:
        wanted = find_id(self._stores, caller, id)
        with self._stores.lease(caller.team) as store:
            memory = store.memories.get(read_scope(caller), wanted)
        require_reviewer(caller, memory)
        if not self._waits(caller, memory):
            raise Conflict(f"this memory is {memory.status} and no longer in the inbox")
        return wanted

    def _merge(
        self, transaction: Transaction, caller: Caller, id: MemoryId, kept_id: MemoryId, draft: Draft | None
    ) -> Memory:
        scope, at = read_scope(caller), transaction.committed_at
        candidate = transaction.memories.get(scope, id)
        require_reviewer(caller, candidate)
        if candidate.status is not Status.INBOX:
            raise Conflict(f"this memory is {candidate.status} and no longer in the inbox")
        kept = transaction.memories.find(scope, kept_id)
        if kept is None:
            raise ReferenceNotFound(f"no memory {kept_id}")
        require_reviewer(caller, kept)
        _require_mergeable(caller, candidate, kept)
        after = merged(kept, candidate)
        if draft is not None:
            require_free_of_details(transaction, kept, draft)
            changes = with_period(draft, kept, now=transaction.now)
            after = changed_memory(after, changes, caller=caller, at=at, now=transaction.now, policy=ANYONE)
            self._second_person.require(transaction, caller, kept, after)
        after = replace(after, version=kept.version + 1, updated_at=at)
        transaction.memories.replace(kept, after, by=caller.member_id, reason="merged with another")
        lost = lose(transaction, caller, candidate, loss=Status.SUPERSEDED, why="merged into another")
        transaction.links.add(Link(kept.id, id, Relation.SUPERSEDES, caller.member_id, at), origin=after)
        clear_opponents(transaction, caller, scope, lost)
        transaction.reviews.forget(id)
        return after


def _asked(caller: Caller, clock: Clock) -> Filters:
    return replace(waiting(caller, {}, now=clock.now()), snoozes=None)


def _require_mergeable(caller: Caller, candidate: Memory, kept: Memory) -> None:
    if kept.status not in STANDING:
        raise InvalidState(f"names a memory that is {kept.status} and stands no longer", field="into")
    if not same_readers(candidate, kept):
        raise InvalidState("names a memory that others read: approve this one, or edit that one", field="into")
    if candidate.key is not None or kept.key is not None:
        require_arbiter(caller)


def _reopen(transaction: Transaction, caller: Caller, id: MemoryId, reversals: Reversals) -> Memory:
    """Everything that was done at the same moment to it and to what it is linked with, is as it was before."""
    scope = read_scope(caller)
    decided = transaction.memories.get(scope, id)
    require_reviewer(caller, decided)
    if decided.key is not None:
        require_arbiter(caller)
    before = transaction.memories.find_version(scope, id, decided.version - 1)
    if before is None or before.status not in STANDING or decided.status is before.status:
        raise Conflict("nothing has been decided about it since it was last changed")
    moment = decided.updated_at
    for link in transaction.links.of(scope, id):
        other_id = link.to_id if link.from_id == id else link.from_id
        other = None if link.to_place else transaction.memories.find(scope, MemoryId(other_id))
        if other is None:
            continue
        if other.updated_at == moment and (
            earlier := transaction.memories.find_version(scope, other.id, other.version - 1)
        ):
            _put_back(transaction, caller, scope, other, earlier, reversals)
        if link.created_at == moment:
            transaction.links.remove(link, origin=decided)
        elif link.relation is Relation.CONTRADICTS and CONTESTED in before.metadata:
            _contest(transaction, caller, scope, other.id)
    return _put_back(transaction, caller, scope, decided, before, reversals)


def _put_back(
    transaction: Transaction, caller: Caller, scope: ReadScope, now: Memory, before: Memory, reversals: Reversals
) -> Memory:
    last = transaction.memories.versions(scope, now.id)[-1]
    reversals.require(caller, [Decision(last.changed_by, last.believed_from, f"made it {now.status}")])
    reversals.require_return(transaction, caller, now, before)
    standing = None if before.key is None else transaction.memories.find_by_key(scope, before)
    if before.status is Status.ACTIVE and standing is not None and standing.id not in {before.id, now.id}:
        raise Conflict("its key has another value by now")
    restored = replace(before, version=now.version + 1, updated_at=transaction.committed_at)
    transaction.memories.replace(now, restored, by=caller.member_id, reason="the decision was taken back")
    return restored


def _contest(transaction: Transaction, caller: Caller, scope: ReadScope, id: MemoryId) -> None:
    """Whoever was cleared when this one went away is contested again."""
    other = transaction.memories.find(scope, id)
    if other is not None and other.status in STANDING and CONTESTED not in other.metadata:
        marked = with_marks(other.metadata, contested=True)
        after = replace(other, metadata=marked, version=other.version + 1, updated_at=transaction.committed_at)
        transaction.memories.replace(other, after, by=caller.member_id, reason="contradicted again")
