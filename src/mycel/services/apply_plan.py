"""Carrying out the plan of a consolidation in one transaction, and taking it back in another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mycel.access.scope import ReadScope
from mycel.contracts.engine_store import Footprint
from mycel.contracts.store import Store, Transaction
from mycel.domain.change import Operation
from mycel.domain.ids import MemberId, MemoryId, ReportId, new_id
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Status
from mycel.domain.report import ActionKind, Report
from mycel.domain.team import ENGINE
from mycel.engine.consolidation import Plan
from mycel.errors import Conflict
from mycel.services.reversals import Decision


def carry_out(transaction: Transaction, scope: ReadScope, plan: Plan, *, by: MemberId) -> Report:
    """All of it, or `Conflict` when a memory has moved on since it was planned."""
    reasons = _reasons(plan)
    changed: list[tuple[MemoryId, int, int]] = []
    for id, before in plan.before.items():
        _require_unchanged(transaction, scope, before)
        after = replace(plan.after[id], version=before.version + 1, updated_at=transaction.committed_at)
        transaction.memories.replace(before, after, by=by, reason=reasons.get(id))
        changed.append((id, before.version, after.version))
    for start, end, relation in plan.links:
        origin, target = transaction.memories.find(scope, start), transaction.memories.find(scope, end)
        if origin is None or target is None:
            raise Conflict("a memory went away while it was being consolidated: try again")
        transaction.links.add(Link(start, end, relation, by, transaction.committed_at), origin=origin)
    take_links(
        transaction, scope, [Link(*key, created_by=by, created_at=transaction.committed_at) for key in plan.unlinked]
    )
    report = Report(
        id=ReportId(new_id()), actions=tuple(plan.actions), dry_run=False, made_by=by, made_at=transaction.committed_at
    )
    # The engine runs every hour, mostly for nothing; whoever asked for a run can also undo one that did nothing.
    if plan.actions or plan.links or by != ENGINE:
        transaction.reports.add(report, Footprint(tuple(changed), tuple(plan.links)))
    return report


def take_back(
    transaction: Transaction,
    scope: ReadScope,
    report: Report,
    *,
    id: ReportId,
    by: MemberId,
    may_take_back: Callable[[Sequence[Decision]], bool],
) -> Report:
    """Put each memory back as it was before the run; leave and name those that somebody has changed since.

    The same holds for one about which somebody has decided since whom the caller must not overrule.
    """
    footprint = transaction.reports.find_footprint(id)
    left: list[MemoryId] = []
    for memory_id, before_version, after_version in footprint.changed:
        current = transaction.memories.find(scope, memory_id, deleted=True)
        if current is None:
            continue
        before = version_of(transaction, scope, memory_id, before_version)
        after = version_of(transaction, scope, memory_id, after_version)
        later = [
            Decision(version.changed_by, version.believed_from, "changed it since")
            for version in transaction.memories.versions(scope, memory_id, deleted=True)
            if version.memory.version > after_version
        ]
        if (
            before is None
            or after is None
            or not is_as(current, after)
            or is_taken(transaction, scope, before)
            or not may_take_back(later)
        ):
            left.append(memory_id)
            continue
        restored = replace(before, version=current.version + 1)
        returns = current.deleted_at is not None and restored.deleted_at is None
        operation = Operation.RESTORE if returns else Operation.UPDATE
        transaction.memories.replace(current, restored, by=by, operation=operation, reason=f"undone: report {id}")
    made = [Link(start, end, relation, by, transaction.committed_at) for start, end, relation in footprint.linked]
    take_links(transaction, scope, made)
    undone = replace(report, undone_by=by, undone_at=transaction.committed_at, left=tuple(left))
    transaction.reports.mark_undone(undone)
    return undone


def take_links(transaction: Transaction, scope: ReadScope, links: Sequence[Link]) -> None:
    for link in links:
        origin = transaction.memories.find(scope, link.from_id, deleted=True)
        if origin is not None:
            transaction.links.remove(link, origin=origin)


def version_of(store: Store | Transaction, scope: ReadScope, id: MemoryId, number: int) -> Memory | None:
    """Also of a memory that is deleted by now."""
    found = (one.memory for one in store.memories.versions(scope, id, deleted=True) if one.memory.version == number)
    return next(found, None)


def is_as(current: Memory, after: Memory) -> bool:
    """Whatever its version is by now: a later run that was undone has left it as it was."""
    return replace(current, version=after.version, updated_at=after.updated_at) == after


def is_taken(store: Store | Transaction, scope: ReadScope, before: Memory) -> bool:
    """Its key has another value by now."""
    if before.key is None or before.status is not Status.ACTIVE:
        return False
    standing = store.memories.find_by_key(scope, before)
    return standing is not None and standing.id != before.id


def _require_unchanged(transaction: Transaction, scope: ReadScope, before: Memory) -> None:
    current = transaction.memories.find(scope, before.id)
    if current is None or current.version != before.version:
        raise Conflict("a memory changed while it was being consolidated: try again")


def _reasons(plan: Plan) -> dict[MemoryId, str]:
    """What stands in the history of each memory: the last thing that was done with it."""
    reasons: dict[MemoryId, str] = {}
    for action in plan.actions:
        if action.kind in {ActionKind.LINK, ActionKind.SUGGEST, ActionKind.UNLINK}:
            # They change neither of the two.
            continue
        for id in (action.memory_id, action.other_id):
            if id is not None:
                # Not the words of the action: they may quote a memory, and outlive it in the history of the other.
                reasons[id] = f"consolidation: {action.kind}"
    return reasons
