"""Changes that wait: what would change a memory that stands is a candidate of its own until somebody approves it.

The memory itself stays as it is, so that nobody loses it by an edit that others have to look at first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from mycel.access.rules import require_reviewer
from mycel.access.scope import ReadScope, engine_scope
from mycel.contracts.store import Transaction
from mycel.domain.ids import MemberId, MemoryId, new_id
from mycel.domain.link import Link, Relation
from mycel.domain.marks import CHANGE, marks_of, with_marks, without_marks
from mycel.domain.memory import FIELDS, Memory, Status, Visibility
from mycel.domain.team import Caller, Trust
from mycel.errors import Conflict
from mycel.retrieval.terms import packed_terms

# What a version has by itself, and what an approval decides.
_OWN = frozenset({"id", "team", "agent_id", "status", "trust", "version", "created_at", "updated_at", "deleted_at"})
_CHANGEABLE = tuple(row.name for row in FIELDS.values() if row.written and row.name not in _OWN)


def is_proposal(memory: Memory) -> bool:
    """Tell whether a memory is a change of another that waits, or has waited, for a reviewer."""
    return CHANGE in memory.metadata


def must_wait(before: Memory, after: Memory, asked: Collection[str]) -> bool:
    """Tell whether an edit of these fields would take what stands out of everybody's sight until it is approved.

    Who sends a memory to the inbox by its status, or asks for a review and changes nothing, means just that.
    """
    is_held = before.status is Status.ACTIVE and after.status is Status.INBOX
    return is_held and "status" not in asked and bool(changed_fields(before, after))


def changed_fields(before: Memory, after: Memory) -> list[str]:
    """Return the names of the fields that a writer can set and that differ, marks aside."""
    values = [(name, getattr(before, name), getattr(after, name)) for name in _CHANGEABLE]
    return [
        name
        for name, old, new in values
        if (without_marks(old) != without_marks(new) if name == "metadata" else old != new)
    ]


def propose(transaction: Transaction, before: Memory, after: Memory, *, by: MemberId) -> Memory:
    """Put a change into the inbox, together with the one of the same member that waits there already."""
    names = changed_fields(before, after)
    waiting = _own_waiting(transaction, before, by)
    at = transaction.committed_at
    if waiting is not None:
        # What was asked for before and is not asked for otherwise now still waits.
        earlier = [name for name in _fields_of(waiting) if name not in names]
        after = replace(after, **{name: getattr(waiting, name) for name in earlier if name != "metadata"})
        names = [*earlier, *names]
    change: dict[str, Any] = {"id": before.id, "fields": names}
    if after.visibility is Visibility.PRIVATE is not before.visibility:
        # Those who read it now decide whether they go without it.
        change["visibility"] = Visibility.PRIVATE.value
        after = replace(after, visibility=before.visibility, allowed_roles=before.allowed_roles)
    proposal = replace(
        after,
        id=MemoryId(new_id()) if waiting is None else waiting.id,
        agent_id=by,
        status=Status.INBOX,
        metadata=with_marks(after.metadata, change=change, contested=None),
        version=1 if waiting is None else waiting.version + 1,
        created_at=at if waiting is None else waiting.created_at,
        updated_at=at,
    )
    if waiting is None:
        transaction.memories.insert([(proposal, packed_terms(proposal))], by=by)
        transaction.links.add(Link(proposal.id, before.id, Relation.SUPERSEDES, by, at), origin=proposal)
    else:
        transaction.memories.replace(waiting, proposal, by=by)
    return proposal


def with_edits(before: Memory, after: Memory) -> Memory:
    """Return an edited proposal that also knows which fields the edit has added to the change."""
    change = dict(cast("Mapping[str, Any]", before.metadata[CHANGE]))
    names = dict.fromkeys([*_fields_of(before), *changed_fields(before, after)])
    return replace(after, metadata=with_marks(after.metadata, change={**change, "fields": list(names)}))


def waiting_for(transaction: Transaction, scope: ReadScope, id: MemoryId) -> list[Memory]:
    """Return the changes of a memory that wait and that the scope sees."""
    found = (transaction.memories.find(scope, one) for one in transaction.links.pointing_at(id, Relation.SUPERSEDES))
    return [one for one in found if one is not None and _is_waiting(one, id)]


def texts_about(transaction: Transaction, memory: Memory) -> list[Memory]:
    """Return every proposal there was about a memory: each holds a copy of it."""
    scope = engine_scope(memory.team)
    ids = transaction.links.pointing_at(memory.id, Relation.SUPERSEDES)
    found = (transaction.memories.find(scope, one, deleted=True) for one in ids)
    return [one for one in found if one is not None and _target_of(one) == memory.id]


def changed_by_proposal(
    transaction: Transaction, caller: Caller, scope: ReadScope, proposal: Memory, edited: Memory
) -> tuple[Memory, Memory]:
    """Return the memory that a proposal is about, as it stands and as it will be; `Conflict` where it is gone."""
    require_reviewer(caller, proposal)
    id = _target_of(proposal)
    standing = None if id is None else transaction.memories.find(scope, MemoryId(id))
    if standing is None or standing.status is not Status.ACTIVE:
        raise Conflict("what this would change stands no longer: reject it, or save what it says as a new memory")
    marks = cast("Mapping[str, Any]", proposal.metadata[CHANGE])
    names = dict.fromkeys([*_fields_of(proposal), *changed_fields(proposal, edited)])
    values = {name: getattr(edited, name) for name in names if name in _CHANGEABLE}
    if "metadata" in values:
        values["metadata"] = {**without_marks(edited.metadata), **marks_of(standing.metadata)}
    if marks.get("visibility"):
        values |= {"visibility": Visibility(marks["visibility"]), "allowed_roles": ()}
    changed = replace(
        standing,
        **values,
        trust=min(standing.trust, edited.trust, key=list(Trust).index),
        version=standing.version + 1,
        updated_at=transaction.committed_at,
    )
    return standing, changed


def _fields_of(proposal: Memory) -> list[str]:
    return [str(name) for name in cast("Mapping[str, Any]", proposal.metadata[CHANGE]).get("fields", ())]


def _target_of(memory: Memory) -> str | None:
    change = memory.metadata.get(CHANGE)
    return str(cast("Mapping[str, Any]", change).get("id")) if isinstance(change, Mapping) else None


def _is_waiting(memory: Memory, id: MemoryId) -> bool:
    return memory.status is Status.INBOX and _target_of(memory) == id


def _own_waiting(transaction: Transaction, before: Memory, by: MemberId) -> Memory | None:
    waiting = waiting_for(transaction, engine_scope(before.team), before.id)
    return next((one for one in waiting if one.agent_id == by), None)
