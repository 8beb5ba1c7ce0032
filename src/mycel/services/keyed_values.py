"""One value stands per key: what a write does to it, and what becomes of the write if it does not replace it."""

from __future__ import annotations

from dataclasses import replace

from mycel.access.rules import ARBITERS, may_curate
from mycel.access.scope import ReadScope, engine_scope, read_scope
from mycel.contracts.store import Transaction
from mycel.domain.ids import MemoryId
from mycel.domain.knowledge import confirms, is_knowledge, is_over, replaces, same_value, says_the_same
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory, Status
from mycel.domain.surroundings import StandingValue
from mycel.domain.team import Caller
from mycel.errors import Conflict
from mycel.services.prepared import PreparedMemory
from mycel.services.reversals import STANDING, Decision, Reversals, is_same, reverted, taken_away

# Of one author's candidates against one value; whoever repeats itself mostly repeats what it said last.
LOOKED_AT = 20


def store_value(
    transaction: Transaction,
    caller: Caller,
    one: PreparedMemory,
    *,
    reversals: Reversals,
    expected: int | None = None,
) -> Memory:
    """Return the value as it stands or waits afterwards; a write that only repeats what is there changes nothing.

    A value that somebody of a higher rank has decided against waits, however sure its writer is of it.
    """
    memory = one.at(transaction)
    scope = read_scope(caller)
    standing = transaction.memories.find_by_key(scope, memory)
    if expected is not None:
        _require_version(transaction, standing, expected)
    if standing is None:
        transaction.memories.insert([(memory, one.words)], by=caller.member_id)
        return memory
    if memory.status is not Status.ACTIVE:
        return _wait(transaction, caller, one, memory, standing)
    over = is_over(standing, transaction.now)
    if not over and says_the_same(standing, memory, given=one.given):
        return standing
    if not over and confirms(caller, standing, memory):
        return _confirm(transaction, caller, one, memory, standing)
    renewed = replace(memory, id=standing.id, created_at=standing.created_at, version=standing.version + 1)
    if not replaces(caller, standing, memory, now=transaction.now) or not reversals.may(
        caller, decided_against(transaction, caller, renewed, standing)
    ):
        waiting = replace(memory, status=Status.INBOX)
        known = _waiting_already(transaction, scope, waiting, standing, one)
        return known or _wait(transaction, caller, one, waiting, standing)
    transaction.memories.replace(standing, renewed, by=caller.member_id)
    drop_confirmations(transaction, standing, renewed)
    return renewed


def _confirm(transaction: Transaction, caller: Caller, one: PreparedMemory, memory: Memory, standing: Memory) -> Memory:
    """Count another member's equal value for the standing one, which becomes as sure as the surer of the two."""
    earlier = _confirmations(transaction, standing)
    if all(known.agent_id != memory.agent_id for _, known in earlier):
        support = replace(memory, status=Status.SUPERSEDED)
        transaction.memories.insert([(support, one.words)], by=caller.member_id)
        link = Link(support.id, standing.id, Relation.SUPPORTS, caller.member_id, transaction.committed_at)
        transaction.links.add(link, origin=support)
    if memory.confidence <= standing.confidence:
        return standing
    surer = replace(
        standing, confidence=memory.confidence, version=standing.version + 1, updated_at=transaction.committed_at
    )
    transaction.memories.replace(standing, surer, by=caller.member_id, reason="confirmed by an equal value")
    return surer


def drop_confirmations(transaction: Transaction, before: Memory, after: Memory) -> None:
    """Take off the links of those who confirmed a value that is another now."""
    if after.key is None or same_value(before, after):
        return
    for link, origin in _confirmations(transaction, before):
        transaction.links.remove(link, origin=origin)


def _confirmations(transaction: Transaction, standing: Memory) -> list[tuple[Link, Memory]]:
    scope = engine_scope(standing.team)
    found: list[tuple[Link, Memory]] = []
    for link in transaction.links.of(scope, standing.id):
        if link.relation is Relation.SUPPORTS and link.to_id == standing.id:
            origin = transaction.memories.find(scope, link.from_id)
            if origin is not None and origin.key == standing.key and origin.status is Status.SUPERSEDED:
                found.append((link, origin))
    return sorted(found, key=lambda one: (one[1].created_at, one[1].id))


def with_standing(transaction: Transaction, caller: Caller, memory: Memory) -> Memory:
    """Say in the answer to a write that waits what stands under its key, if anything does, and who decides."""
    if memory.status is not Status.INBOX or not is_knowledge(memory):
        return memory
    standing = transaction.memories.find_by_key(read_scope(caller), memory)
    if standing is None or standing.id == memory.id:
        return replace(memory, decided_by=ARBITERS)
    stands = StandingValue(
        id=standing.id,
        value=standing.content,
        confidence=standing.confidence,
        agent_id=standing.agent_id,
        version=standing.version,
    )
    return replace(memory, standing=stands, decided_by=ARBITERS)


def decided_against(transaction: Transaction, caller: Caller, value: Memory, standing: Memory) -> list[Decision]:
    """Return the decisions by which this value was taken away, as a former text of what stands or as a rival of it."""
    if may_curate(caller):
        return []
    scope = engine_scope(caller.team)
    decided: list[Decision] = []
    if transaction.memories.was_changed_by_others(standing.id, caller.member_id):
        decided += reverted(transaction.memories.versions(scope, standing.id), standing, value, changed=("content",))
    for link in transaction.links.of(scope, standing.id):
        if link.relation is not Relation.CONTRADICTS:
            continue
        other_id = MemoryId(link.from_id if link.to_id == standing.id else link.to_id)
        rival = transaction.memories.find(scope, other_id)
        if rival is not None and rival.key == value.key and is_same(rival.content, value.content):
            decided += taken_away(transaction.memories.versions(scope, other_id), STANDING)
    return decided


def _require_version(transaction: Transaction, standing: Memory | None, expected: int) -> None:
    version = 0 if standing is None or is_over(standing, transaction.now) else standing.version
    if version == expected:
        return
    if not version:
        raise Conflict("no value stands under this key: read it again")
    stale = f"not {expected}" if expected else "and there should be none"
    raise Conflict(f"the standing value is at version {version}, {stale}: read it again")


def _waiting_already(
    transaction: Transaction, scope: ReadScope, waiting: Memory, standing: Memory, one: PreparedMemory
) -> Memory | None:
    """The same candidate of the same author against the same value."""
    own = [
        link
        for link in transaction.links.of(scope, standing.id)
        if (link.relation, link.to_id, link.created_by) == (Relation.CONTRADICTS, standing.id, waiting.agent_id)
    ]
    for link in sorted(own, key=lambda link: link.created_at)[-LOOKED_AT:]:
        known = transaction.memories.find(scope, MemoryId(link.from_id))
        if known is not None and known.status is Status.INBOX and says_the_same(known, waiting, given=one.given):
            return known
    return None


def _wait(transaction: Transaction, caller: Caller, one: PreparedMemory, waiting: Memory, standing: Memory) -> Memory:
    transaction.memories.insert([(waiting, one.words)], by=caller.member_id)
    if waiting.content != standing.content or waiting.status is not one.values["status"]:
        contradiction = Link(waiting.id, standing.id, Relation.CONTRADICTS, caller.member_id, transaction.committed_at)
        transaction.links.add(contradiction, origin=waiting)
    return waiting
