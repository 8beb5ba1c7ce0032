"""Relating memories: links between them and to places, and ratings by their readers."""

from __future__ import annotations

from mycel.access.rules import require_edit
from mycel.access.scope import read_scope
from mycel.contracts.memory_store import Rating
from mycel.contracts.store import Stores, Transaction
from mycel.domain import fields
from mycel.domain.ids import MemoryId, parse_id
from mycel.domain.link import PLACE_RELATIONS, PROJECT_PREFIX, REPO_PREFIX, Link, Relation
from mycel.domain.memory import Memory
from mycel.domain.policy import Policy
from mycel.domain.team import Caller
from mycel.errors import InvalidState, ReferenceNotFound
from mycel.services.reversals import Decision, Reversals
from mycel.services.screening import screen_at_once
from mycel.services.short_ids import find_id
from mycel.services.write import change_own

# The name of the action by which the link of somebody else's memory was taken away.
UNLINK = "unlink"


class Relating:
    def __init__(self, stores: Stores, reversals: Reversals) -> None:
        self._stores = stores
        self._reversals = reversals

    def link(self, caller: Caller, from_id: object, to_id: object, relation: object) -> Link:
        """Whoever may edit a memory says what it relates to, among what it can see."""
        start, target, kind = self._read_ends(caller, from_id, to_id, relation)
        # The name of a place comes in by this as well.
        screen_at_once({"name": target}, Policy())

        def work(transaction: Transaction) -> Link:
            origin, link = _between(transaction, caller, start, target, kind)
            for action in transaction.activity.actions_on(start, UNLINK):
                if action.before == _named(link):
                    self._reversals.require(caller, [Decision(action.by, action.at, "took this link away")])
            return transaction.links.add(link, origin=origin)

        return change_own(self._stores, caller, start, work)

    def unlink(self, caller: Caller, from_id: object, to_id: object, relation: object) -> None:
        start, target, kind = self._read_ends(caller, from_id, to_id, relation)

        def work(transaction: Transaction) -> None:
            origin, link = _between(transaction, caller, start, target, kind)
            made = transaction.links.find_same(link)
            if made is None:
                return
            self._reversals.require(caller, [Decision(made.created_by, made.created_at, "made this link")])
            transaction.links.remove(link, origin=origin)
            if caller.member_id != origin.agent_id:
                # The log does not say which relation it was.
                transaction.activity.note(
                    UNLINK, by=caller.member_id, subject=start, memory_id=start, before=_named(link)
                )

        change_own(self._stores, caller, start, work)

    def rate(self, caller: Caller, id: object, *, useful: object, recall_id: object = None) -> None:
        rating = Rating(
            memory_id=find_id(self._stores, caller, id),
            member_id=caller.member_id,
            useful=fields.flag(useful, field="useful"),
            recall_id=None if recall_id is None else parse_id(recall_id, field="recall_id"),
        )

        def work(transaction: Transaction) -> None:
            transaction.memories.get(read_scope(caller), rating.memory_id)
            before = transaction.memories.rate(rating)
            transaction.activity.note(
                "rate",
                by=caller.member_id,
                subject=rating.memory_id,
                memory_id=rating.memory_id,
                before={} if before is None else {"useful": before},
                after={"useful": rating.useful},
            )

        change_own(self._stores, caller, rating.memory_id, work)

    def _read_ends(
        self, caller: Caller, from_id: object, to_id: object, relation: object
    ) -> tuple[MemoryId, str, Relation]:
        kind = fields.choice(relation, Relation, field="relation")
        start = find_id(self._stores, caller, from_id, field="from_id")
        target = _read_place(to_id, kind) or find_id(self._stores, caller, to_id, field="to_id")
        if start == target:
            raise InvalidState("a memory cannot be linked to itself", field="to_id")
        return start, target, kind


def _between(
    transaction: Transaction, caller: Caller, start: MemoryId, target: str, relation: Relation
) -> tuple[Memory, Link]:
    origin = transaction.memories.get(read_scope(caller), start)
    require_edit(caller, origin)
    link = Link(start, target, relation, caller.member_id, transaction.committed_at)
    if not link.to_place and transaction.memories.find(read_scope(caller), MemoryId(target)) is None:
        raise ReferenceNotFound(f"no memory {target}")
    return origin, link


def _named(link: Link) -> dict[str, str]:
    return {"to_id": link.to_id, "relation": link.relation.value}


def _read_place(value: object, relation: Relation) -> str | None:
    """`project:NAME` or `repo:NAME`; None of anything else."""
    for prefix in (PROJECT_PREFIX, REPO_PREFIX):
        if isinstance(value, str) and value.startswith(prefix):
            if relation not in PLACE_RELATIONS:
                raise InvalidState("to a project or repo must be applies_to or related_to", field="relation")
            return prefix + fields.place(value.removeprefix(prefix), field="to_id")
    return None
