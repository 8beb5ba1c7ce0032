"""Taking back what a writer did since a moment, and what came of it; the report of it is undone like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from mycel.access.rules import is_copy, may_curate, may_delete
from mycel.access.scope import engine_scope, read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.engine_store import Footprint
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.change import Operation
from mycel.domain.ids import MemberId, MemoryId, ReportId, new_id
from mycel.domain.link import Link, Relation
from mycel.domain.memory import Memory, Version
from mycel.domain.report import Action, ActionKind, Report
from mycel.domain.team import ENGINE, Caller, Role
from mycel.errors import AccessDenied
from mycel.services.apply_plan import is_as, is_taken, take_links, version_of
from mycel.services.organisation import read_member_id
from mycel.services.reversals import Decision, Reversals

# Of one run, which is one transaction: others wait for it. What is left over is for the next.
MOST = 1000


@dataclass(slots=True)
class _Plan:
    """Each memory as it is and as it will be."""

    changes: dict[MemoryId, tuple[Memory, Memory]] = field(default_factory=dict[MemoryId, tuple[Memory, Memory]])
    actions: list[Action] = field(default_factory=list[Action])
    links: list[Link] = field(default_factory=list[Link])
    left: list[MemoryId] = field(default_factory=list[MemoryId])
    more: bool = False

    def add(self, before: Memory, after: Memory, kind: ActionKind, why: str, *, cause: MemoryId | None = None) -> None:
        self.changes[before.id] = (before, after)
        self.actions.append(Action(kind=kind, memory_id=before.id, other_id=cause, why=why))


class UndoingWriters:
    def __init__(self, stores: Stores, clock: Clock, reversals: Reversals) -> None:
        self._stores = stores
        self._clock = clock
        self._reversals = reversals

    def undo(self, caller: Caller, agent_id: object, *, since: object, dry_run: object = False) -> Report:
        """Of one writer or, without one, of everybody."""
        writer = None if agent_id is None else read_member_id(agent_id, field="agent_id")
        moment = fields.moment(since, field="since")
        planned_only = fields.flag(dry_run, field="dry_run")
        _require_undoer(caller, writer)
        with self._stores.lease(caller.team) as store:
            if not planned_only:
                return store.transact(
                    lambda transaction: _carry_out(transaction, caller, writer, moment, self._reversals)
                )
            plan = _Planning(store, caller, writer, moment, self._reversals, now=self._clock.now()).run()
        return _report(plan, caller, made_at=self._clock.now())


def _require_undoer(caller: Caller, writer: MemberId | None) -> None:
    if writer == caller.member_id or (writer is None and caller.role is Role.ADMIN):
        return
    if writer is None or not may_curate(caller):
        raise AccessDenied("a lead or admin undoes what a member did, an admin what everybody did")


def _carry_out(
    transaction: Transaction, caller: Caller, writer: MemberId | None, since: datetime, reversals: Reversals
) -> Report:
    plan = _Planning(transaction, caller, writer, since, reversals, now=transaction.now).run()
    who = "everybody" if writer is None else writer
    for before, after in plan.changes.values():
        stored = replace(after, version=before.version + 1, updated_at=transaction.committed_at)
        operation = Operation.DELETE if after.deleted_at is not None else Operation.UPDATE
        reason = f"undone: what {who} did"
        transaction.memories.replace(before, stored, by=caller.member_id, operation=operation, reason=reason)
    take_links(transaction, read_scope(caller), plan.links)
    report = _report(plan, caller, made_at=transaction.committed_at, id=ReportId(new_id()))
    changed = tuple((id, before.version, before.version + 1) for id, (before, _) in plan.changes.items())
    transaction.reports.add(report, Footprint(changed, ()))
    return report


def _report(plan: _Plan, caller: Caller, *, made_at: datetime, id: ReportId | None = None) -> Report:
    unlinked = [
        Action(kind=ActionKind.UNLINK, memory_id=link.from_id, other_id=MemoryId(link.to_id), why=link.relation.value)
        for link in plan.links
    ]
    return Report(
        id=id,
        actions=(*plan.actions, *unlinked),
        dry_run=id is None,
        made_by=caller.member_id,
        made_at=made_at,
        left=tuple(plan.left),
        more=plan.more,
    )


class _Planning:
    """Stores nothing: a dry run is the real one without its last step."""

    def __init__(
        self,
        store: Store | Transaction,
        caller: Caller,
        writer: MemberId | None,
        since: datetime,
        reversals: Reversals,
        *,
        now: datetime,
    ) -> None:
        self._reversals = reversals
        self._store = store
        self._caller = caller
        self._scope = read_scope(caller)
        self._writer = writer
        self._since = since
        self._now = now
        self._plan = _Plan()

    def run(self) -> _Plan:
        store, by = self._store, self._writer
        for id in store.memories.written_since(self._scope, self._since, by=by):
            if self._is_full():
                return self._plan
            self._take_back(id)
        for id in store.memories.drawn_since(self._scope, self._since, by=by):
            self._withdraw(id, "drawn from what it captured")
        for id in self._withdrawn():
            self._follow(id)
        self._plan.links = [
            link for link in store.links.made_since(self._scope, self._since, by=by) if not self._hides(link)
        ]
        return self._plan

    def _is_full(self) -> bool:
        self._plan.more = len(self._plan.changes) >= MOST
        return self._plan.more

    def _take_back(self, id: MemoryId) -> None:
        versions = self._store.memories.versions(self._scope, id, deleted=True)
        first = next((place for place, version in enumerate(versions) if self._is_meant(version)), None)
        if first is None:
            return
        if versions[first].memory.version == 1:
            self._withdraw(id, "written since")
            return
        current, target = versions[-1].memory, versions[first - 1].memory if first else None
        if target is not None and is_as(current, target):
            return
        meant = max(place for place, version in enumerate(versions) if self._is_meant(version))
        others = {version.changed_by for version in versions[meant + 1 :]} - {ENGINE}
        # What somebody of a higher rank has done between two changes of the writer is not taken back with them.
        between = [
            Decision(version.changed_by, version.believed_from, "changed it since")
            for version in versions[first:]
            if not self._is_meant(version)
        ]
        stays = bool(others) or not self._reversals.may(self._caller, between)
        if target is None or stays or is_copy(current) or is_taken(self._store, self._scope, target):
            self._plan.left.append(id)
            return
        self._plan.add(current, target, ActionKind.REVERT, "as it was before")

    def _is_meant(self, version: Version) -> bool:
        by_writer = self._writer is None or version.changed_by == self._writer
        return by_writer and version.believed_from >= self._since

    def _withdraw(self, id: MemoryId, why: str, *, cause: MemoryId | None = None) -> None:
        memory = self._store.memories.find(self._scope, id)
        if memory is None or id in self._plan.changes:
            return
        if not may_delete(self._caller, memory):
            self._plan.left.append(id)
            return
        self._plan.add(memory, replace(memory, deleted_at=self._now), ActionKind.WITHDRAW, why, cause=cause)

    def _withdrawn(self) -> list[MemoryId]:
        """Grows while it is gone through: what comes of one may be where another comes from."""
        return [action.memory_id for action in self._plan.actions if action.kind is ActionKind.WITHDRAW]

    def _follow(self, id: MemoryId) -> None:
        for link in self._store.links.of(self._scope, id):
            if link.relation is Relation.DERIVED_FROM and link.to_id == id:
                known = link.from_id in self._plan.changes
                self._withdraw(link.from_id, "derived from it", cause=id)
                if not known and link.from_id in self._plan.changes:
                    self._follow(link.from_id)
        for report_id, other in self._store.reports.partners(id, since=self._since):
            self._bring_back(report_id, other, cause=id)

    def _bring_back(self, report_id: ReportId, other: MemoryId, *, cause: MemoryId) -> None:
        """What gave way to it in a consolidation, or took something over from it, as it was before that."""
        if other in self._plan.changes:
            return
        current = self._store.memories.find(self._scope, other)
        found = self._store.reports.change_of(report_id, other)
        if current is None or found is None:
            return
        before, after = (version_of(self._store, self._scope, other, number) for number in found)
        report = self._store.reports.find(engine_scope(self._caller.team), report_id)
        run = [Decision(report.made_by, report.made_at, "made this run")] if report is not None else []
        is_free = self._reversals.may(self._caller, run)
        if before is None or after is None or not is_as(current, after) or not is_free:
            self._plan.left.append(other)
            return
        self._plan.add(current, before, ActionKind.REVERT, "as it was before it was consolidated", cause=cause)

    def _hides(self, link: Link) -> bool:
        """A link of what is withdrawn goes and comes with it."""
        withdrawn = {id for id, (_, after) in self._plan.changes.items() if after.deleted_at is not None}
        return link.from_id in withdrawn or link.to_id in withdrawn


def relink(transaction: Transaction, caller: Caller, actions: Sequence[Action]) -> None:
    """The links that undoing has taken away, back again."""
    for action in actions:
        if action.kind is not ActionKind.UNLINK or action.other_id is None or action.why not in set(Relation):
            continue
        origin = transaction.memories.find(read_scope(caller), action.memory_id)
        if origin is not None:
            link = Link(
                action.memory_id, action.other_id, Relation(action.why), caller.member_id, transaction.committed_at
            )
            transaction.links.add(link, origin=origin)
