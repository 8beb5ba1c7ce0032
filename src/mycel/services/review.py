"""Review: people and leads decide what leaves the inbox, and which of two contradicting memories holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import cast

from mycel.access.rules import is_copy, require_arbiter, require_reviewer, require_transition
from mycel.access.scope import ReadScope, read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.draft import Draft, changed_memory, read_fields
from mycel.domain.fields import MAX_ITEMS
from mycel.domain.ids import MemoryId, parse_id
from mycel.domain.inbox import GivesWay, InboxItem, Snoozes
from mycel.domain.link import Link, Relation
from mycel.domain.marks import CONTESTED, with_marks
from mycel.domain.memory import STANDING, Memory, MemoryType, Status
from mycel.domain.policy import Policy
from mycel.domain.query import Filters, Order, OrderField, Page
from mycel.domain.request_filters import read_filters, read_limit, read_mark
from mycel.domain.team import Caller, Trust
from mycel.errors import Conflict, InvalidInput, InvalidState, ReferenceNotFound
from mycel.services.keyed_values import decided_against
from mycel.services.policies import Policies
from mycel.services.prepared import with_period
from mycel.services.proposals import changed_by_proposal, is_proposal, waiting_for
from mycel.services.read import Freshness
from mycel.services.reversals import Reversals
from mycel.services.screening import read_reason, screen, warning_of
from mycel.services.second_person import ACKNOWLEDGE_WARNING, SecondPerson
from mycel.services.short_ids import find_id
from mycel.services.waiting_reason import waiting_reason
from mycel.services.write import lose, require_free_of_details

# How much of what was said before and after helps to judge a quote.
AROUND = 240
# A reviewer has seen the text: neither its wording nor anybody's trust holds it back any more.
ANYONE = Policy(least_trust=Trust.LOW)
_SUREST_FIRST = Order(OrderField.CONFIDENCE)
_LOSSES = (Status.CONTRADICTED, Status.SUPERSEDED)


class Reviewing:
    def __init__(
        self, stores: Stores, clock: Clock, policies: Policies, second_person: SecondPerson, freshness: Freshness
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._freshness = freshness
        self._policies = policies
        self._second_person = second_person

    def inbox(
        self, caller: Caller, given: Mapping[str, object], *, limit: object = None, cursor: object = None
    ) -> Page[InboxItem]:
        """The surest first, the newest of those as sure, each with its evidence where it was said."""
        if given.get("status") is not None:
            raise InvalidInput("of what waits is known", field="status")
        now = self._clock.now()
        filters = waiting(caller, given, now=now)
        page = read_limit(limit)
        mark = read_mark(cursor)
        scope = read_scope(caller)
        with self._stores.lease(caller.team) as store:
            found = store.memories.page(scope, filters, order=_SUREST_FIRST, limit=page, cursor=mark)
            fresh = self._freshness.of_all(found)
            return Page(self.items_of(store, caller, fresh, now=now), found.next_cursor)

    def items_of(self, store: Store, caller: Caller, memories: Sequence[Memory], *, now: datetime) -> list[InboxItem]:
        scope, ids = read_scope(caller), [memory.id for memory in memories]
        claims = store.reviews.claims(ids, at=now)
        snoozes = store.reviews.snoozes(caller.member_id, ids, at=now)
        policy = self._policies.of(caller.team)
        items: list[InboxItem] = []
        for memory in memories:
            links = tuple(store.links.of(scope, memory.id))
            others = _replaceable(store, scope, memory, links)
            items.append(
                InboxItem(
                    memory,
                    waiting_reason(memory, policy, replaces=[other.title for other in others]),
                    memory.evidence_ref and store.sources.find_surroundings(scope, memory.evidence_ref, around=AROUND),
                    links,
                    claims.get(memory.id),
                    snoozes.get(memory.id),
                    warning_of(memory) if memory.status is Status.INBOX else None,
                    tuple(GivesWay(other.id, other.title) for other in others),
                )
            )
        return items

    def count_waiting(self, caller: Caller, given: Mapping[str, object]) -> int:
        """How many items the inbox has for this caller."""
        filters = waiting(caller, given, now=self._clock.now())
        with self._stores.lease(caller.team) as store:
            return store.memories.count(read_scope(caller), filters)

    def approve(
        self,
        caller: Caller,
        ids: Sequence[object],
        *,
        edits: object = None,
        expected_version: object = None,
        acknowledge_warning: object = False,
    ) -> list[Memory]:
        """Make all of them active, or none; with `edits`, changed first."""
        acknowledged = fields.flag(acknowledge_warning, field=ACKNOWLEDGE_WARNING)
        wanted = self._read_ids(caller, ids)
        draft = self.read_edits(caller, edits)
        expected = read_expected(expected_version)

        def approve(transaction: Transaction, id: MemoryId) -> Memory:
            require_version(transaction, caller, id, expected)
            return approve_one(
                transaction, caller, id, draft, second_person=self._second_person, acknowledged=acknowledged
            )

        return self._decide(caller, lambda transaction: [approve(transaction, id) for id in wanted])

    def reject(
        self, caller: Caller, ids: Sequence[object], *, reason: object, expected_version: object = None
    ) -> list[Memory]:
        """Archived, with who said why; all of them, or none."""
        wanted = self._read_ids(caller, ids)
        why = None if reason is None else read_reason(reason, self._policies.of(caller.team))
        expected = read_expected(expected_version)

        def reject(transaction: Transaction, id: MemoryId) -> Memory:
            require_version(transaction, caller, id, expected)
            return reject_one(transaction, caller, id, why=why)

        return self._decide(caller, lambda transaction: [reject(transaction, id) for id in wanted])

    def settle(
        self, caller: Caller, id: object, *, over: object, status: object = Status.CONTRADICTED, reason: object = None
    ) -> Memory:
        """Decides a contradiction: this memory holds, the others are `contradicted` or `superseded`."""
        winner = find_id(self._stores, caller, id)
        losers = [
            find_id(self._stores, caller, one, field="over")
            for one in fields.several(over, field="over", most=MAX_ITEMS)
        ]
        loss = fields.choice(status, Status, field="status")
        if loss not in _LOSSES:
            raise InvalidInput("must be contradicted or superseded", field="status")
        if not losers:
            raise InvalidInput("must name other memories", field="over")
        if winner in losers:
            raise InvalidState("must name other memories", field="over")
        why = None if reason is None else read_reason(reason, self._policies.of(caller.team))
        settle = partial(_settle, loss=loss, why=why, second_person=self._second_person)
        (settled,) = self._decide(caller, lambda transaction: [settle(transaction, caller, winner, losers)])
        return settled

    def read_edits(self, caller: Caller, edits: object) -> Draft | None:
        if edits is None:
            return None
        if not isinstance(edits, Mapping):
            raise InvalidInput("must be an object of fields and values", field="edits")
        changes = dict(cast(Mapping[str, object], edits))
        if "status" in changes or "needs_review" in changes:
            raise InvalidInput("follows from the approval", field="status")
        draft = screen(read_fields(changes), self._policies.of(caller.team))
        if draft.suspicion is not None:
            # Nobody vouches for their own words: what they change has to wait for somebody else.
            why = draft.suspicion.partition(":")[0]
            raise InvalidState(f"would have to wait: it {why}; update the memory instead", field="edits")
        return draft

    def _read_ids(self, caller: Caller, ids: Sequence[object]) -> list[MemoryId]:
        listed = fields.several(ids, field="ids", most=MAX_ITEMS)
        return list(dict.fromkeys(find_id(self._stores, caller, id) for id in listed))

    def _decide(self, caller: Caller, work: Callable[[Transaction], list[Memory]]) -> list[Memory]:
        def decided(transaction: Transaction) -> list[Memory]:
            found = work(transaction)
            for memory in found:
                transaction.reviews.forget(memory.id)
            return found

        with self._stores.lease(caller.team) as store:
            return store.transact(decided)


def waiting(caller: Caller, given: Mapping[str, object], *, now: datetime) -> Filters:
    """What somebody should decide about: without what the caller has put off, or that alone."""
    usual = {name: value for name, value in given.items() if name not in {"source", "snoozed"}}
    source, snoozed = given.get("source"), given.get("snoozed")
    is_asked_for = snoozed is not None and fields.flag(snoozed, field="snoozed")
    return replace(
        read_filters(usual, now=now),
        statuses=(),
        waiting=True,
        snoozes=Snoozes(caller.member_id, now, are_left_out=not is_asked_for),
        source_id=None if source is None else parse_id(source, field="source"),
    )


def read_expected(given: object) -> int | None:
    return None if given is None else fields.whole(given, field="expected_version", least=1, most=fields.MAX_COUNT)


def require_version(transaction: Transaction, caller: Caller, id: MemoryId, expected: int | None) -> None:
    """Nobody decides about a text that is no longer the one that was read."""
    if expected is None:
        return
    standing = transaction.memories.get(read_scope(caller), id)
    if standing.version != expected:
        raise Conflict(f"version {standing.version} of this memory stands by now: look at it first")


def approve_one(
    transaction: Transaction,
    caller: Caller,
    id: MemoryId,
    draft: Draft | None,
    *,
    second_person: SecondPerson,
    why: str | None = None,
    acknowledged: bool = False,
) -> Memory:
    scope = read_scope(caller)
    before = transaction.memories.get(scope, id)
    require_reviewer(caller, before)
    if before.status is Status.ACTIVE and draft is None:
        waiting = waiting_for(transaction, scope, id)
        if len(waiting) == 1:
            return _make_change(
                transaction, caller, waiting[0], waiting[0], second_person=second_person, acknowledged=acknowledged
            )
        _replace_superseded(transaction, caller, scope, before)
        return before
    if before.status is not Status.INBOX:
        raise Conflict(f"this memory is {before.status} and no longer in the inbox")
    if draft is not None:
        require_free_of_details(transaction, before, draft)
    at, now = transaction.committed_at, transaction.now
    edited = before
    if draft is not None:
        changes = with_period(draft, before, now=now)
        edited = changed_memory(before, changes, caller=caller, at=at, now=now, policy=ANYONE)
    if is_proposal(before):
        return _make_change(transaction, caller, before, edited, second_person=second_person, acknowledged=acknowledged)
    require_transition(caller, before, edited)
    lasts = draft is not None and (draft.ttl is not None or "expires_at" in draft.values)
    kept_until = edited.expires_at if lasts else None
    approved = replace(
        edited,
        status=Status.ACTIVE,
        expires_at=kept_until,
        metadata=with_marks(edited.metadata, review=None),
        version=before.version + 1,
        updated_at=at,
    )
    second_person.require(transaction, caller, before, approved, acknowledged=acknowledged)
    _make_room(transaction, caller, scope, approved, second_person.reversals)
    transaction.memories.replace(
        before, approved, by=caller.member_id, reason=f"approved: {why}" if why else "approved"
    )
    _replace_superseded(transaction, caller, scope, approved)
    return approved


def _make_change(
    transaction: Transaction,
    caller: Caller,
    proposal: Memory,
    edited: Memory,
    *,
    second_person: SecondPerson,
    acknowledged: bool,
) -> Memory:
    """Give the memory that stands the next version that was proposed; the proposal has served."""
    standing, changed = changed_by_proposal(transaction, caller, read_scope(caller), proposal, edited)
    approved = replace(changed, id=proposal.id, status=Status.ACTIVE)
    second_person.require(transaction, caller, proposal, approved, acknowledged=acknowledged)
    reason = f"approved: a change by {proposal.agent_id}"
    transaction.memories.replace(standing, changed, by=caller.member_id, reason=reason)
    lose(transaction, caller, proposal, loss=Status.SUPERSEDED, why="approved: the change is made")
    transaction.reviews.forget(proposal.id)
    return changed


def _make_room(
    transaction: Transaction, caller: Caller, scope: ReadScope, approved: Memory, reversals: Reversals
) -> None:
    """Of knowledge one value stands: approving another decides against it."""
    standing = None if approved.key is None else transaction.memories.find_by_key(scope, approved)
    if standing is not None and standing.id != approved.id:
        if approved.type is not MemoryType.PROFILE:
            require_arbiter(caller)
        reversals.require(caller, decided_against(transaction, caller, approved, standing))
        lose(transaction, caller, standing, loss=Status.CONTRADICTED, why="another value was approved")


def _replace_superseded(transaction: Transaction, caller: Caller, scope: ReadScope, approved: Memory) -> None:
    for other in _replaceable(transaction, scope, approved, transaction.links.of(scope, approved.id)):
        if is_copy(other):
            continue
        if other.key is not None:
            require_arbiter(caller)
        lose(transaction, caller, other, loss=Status.SUPERSEDED, why="replaced by another")


def _replaceable(store: Store | Transaction, scope: ReadScope, memory: Memory, links: Sequence[Link]) -> list[Memory]:
    """What stands, and this memory is said to replace by one of its links."""
    said = [link for link in links if link.relation is Relation.SUPERSEDES and link.from_id == memory.id]
    others = [store.memories.find(scope, MemoryId(link.to_id)) for link in said]
    return [other for other in others if other is not None and other.status is Status.ACTIVE]


def reject_one(transaction: Transaction, caller: Caller, id: MemoryId, *, why: str | None) -> Memory:
    """Archive a candidate; its history has a reason only where somebody gave one."""
    scope = read_scope(caller)
    before = transaction.memories.get(scope, id)
    require_reviewer(caller, before)
    if before.status is Status.ACTIVE and (
        others := _replaceable(transaction, scope, before, transaction.links.of(scope, id))
    ):
        return _keep_both(transaction, caller, before, others, why=why)
    if before.status is not Status.INBOX:
        raise Conflict(f"this memory is {before.status} and no longer in the inbox")
    rejected = replace(
        before,
        status=Status.ARCHIVED,
        metadata=with_marks(before.metadata, review=None, contested=None, rejected=True),
        version=before.version + 1,
        updated_at=transaction.committed_at,
    )
    transaction.memories.replace(
        before, rejected, by=caller.member_id, reason=f"rejected: {why}" if why else "rejected"
    )
    clear_opponents(transaction, caller, scope, rejected)
    return rejected


def _keep_both(
    transaction: Transaction, caller: Caller, memory: Memory, others: Sequence[Memory], *, why: str | None
) -> Memory:
    """It replaces none of them: they are related, and no run of consolidation says otherwise again."""
    by, at = caller.member_id, transaction.committed_at
    kept = replace(memory, version=memory.version + 1, updated_at=at)
    transaction.memories.replace(memory, kept, by=by, reason=f"replaces nothing: {why}" if why else "replaces nothing")
    for other in others:
        transaction.links.remove(Link(memory.id, other.id, Relation.SUPERSEDES, by, at), origin=kept)
        transaction.links.add(Link(memory.id, other.id, Relation.RELATED_TO, by, at), origin=kept)
    return kept


def _settle(
    transaction: Transaction,
    caller: Caller,
    winner_id: MemoryId,
    loser_ids: Sequence[MemoryId],
    *,
    loss: Status,
    why: str | None,
    second_person: SecondPerson,
) -> Memory:
    scope = read_scope(caller)
    chosen = transaction.memories.get(scope, winner_id)
    _require_decider(caller, chosen)
    if chosen.status not in STANDING:
        raise Conflict(f"this memory is {chosen.status}: it cannot hold against another")
    opponents = _opponents(transaction, scope, winner_id)
    for id in loser_ids:
        loser = transaction.memories.find(scope, id)
        if loser is None:
            raise ReferenceNotFound(f"no memory {id}")
        _require_decider(caller, loser)
        if id not in opponents:
            raise InvalidState(f"nothing says that {id} contradicts it: link them as contradicts first", field="over")
        if loser.status in STANDING:
            lost = lose(transaction, caller, loser, loss=loss, why=why or "decided in favour of another")
            clear_opponents(transaction, caller, scope, lost)
    winner = transaction.memories.get(scope, winner_id)
    if winner.status is Status.INBOX:
        return approve_one(transaction, caller, winner_id, None, second_person=second_person)
    return winner


def _require_decider(caller: Caller, memory: Memory) -> None:
    if memory.key is not None:
        require_arbiter(caller)
    else:
        require_reviewer(caller, memory)


def clear_opponents(transaction: Transaction, caller: Caller, scope: ReadScope, gone: Memory) -> None:
    """Whoever was contested by this memory alone is so no longer."""
    for id in _opponents(transaction, scope, gone.id):
        memory = transaction.memories.find(scope, id)
        if memory is None or CONTESTED not in memory.metadata:
            continue
        others = [transaction.memories.find(scope, other) for other in _opponents(transaction, scope, id)]
        if not any(other is not None and other.status in STANDING for other in others):
            cleared = replace(memory, metadata=with_marks(memory.metadata, contested=None), version=memory.version + 1)
            transaction.memories.replace(memory, cleared, by=caller.member_id, reason="no longer contradicted")


def _opponents(transaction: Transaction, scope: ReadScope, id: MemoryId) -> list[MemoryId]:
    links = [link for link in transaction.links.of(scope, id) if link.relation is Relation.CONTRADICTS]
    return [MemoryId(link.to_id if link.from_id == id else link.from_id) for link in links]
