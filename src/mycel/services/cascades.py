"""Between teams: a memory is cascaded down or escalated up, and every later version and its withdrawal follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mycel.access.rules import is_copy, may_curate
from mycel.access.scope import engine_scope, read_scope
from mycel.contracts.directory import Directory
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain.cascade import Cascade, Delivery, Direction, armed_again, copy_id
from mycel.domain.change import Operation
from mycel.domain.ids import EventId, MemoryId, TeamName, new_id, parse_id
from mycel.domain.marks import ORIGIN, with_marks, without_marks
from mycel.domain.memory import MadeBy, Memory, Scope, SourceKind, SourceRef, Status, Visibility
from mycel.domain.query import Page
from mycel.domain.request_filters import read_limit
from mycel.domain.source import EventState, IngestionEvent, Step, Trigger
from mycel.domain.team import ENGINE, Caller
from mycel.errors import AccessDenied, InvalidState, NotFound, ReferenceNotFound
from mycel.retrieval.terms import packed_terms
from mycel.services.organisation import descendants
from mycel.services.process_source import Applying
from mycel.services.short_ids import find_id

WITHDRAWN = 0


class Cascading:
    def __init__(self, stores: Stores, directory: Directory, *, wake: Callable[[TeamName], None]) -> None:
        self._stores = stores
        self._directory = directory
        self._wake = wake

    def cascade(self, caller: Caller, id: object) -> IngestionEvent:
        """To every team below. A lead or admin decides."""
        return self._send(caller, find_id(self._stores, caller, id), Direction.DOWN)

    def escalate(self, caller: Caller, id: object) -> IngestionEvent:
        """To the parent team."""
        if caller.parent_team is None:
            raise InvalidState("cannot be escalated: this team has no parent", field="id")
        return self._send(caller, find_id(self._stores, caller, id), Direction.UP)

    def withdraw(self, caller: Caller, id: object) -> IngestionEvent:
        """Takes every copy back; the memory itself stays."""
        memory_id = find_id(self._stores, caller, id)

        def work(transaction: Transaction) -> IngestionEvent:
            _get_own(transaction, caller, memory_id)
            cascade = transaction.cascades.find(memory_id=memory_id)
            if cascade is None:
                raise ReferenceNotFound(f"memory {memory_id} was not sent to other teams")
            transaction.cascades.put(replace(cascade, withdrawn_at=transaction.committed_at))
            return _arm(transaction, cascade, known=True)

        return self._armed(caller, work)

    def standing(self, caller: Caller, *, limit: object = None, cursor: object = None) -> Page[Cascade]:
        mark = None if cursor is None else parse_id(cursor, field="cursor")
        page = read_limit(limit)
        with self._stores.lease(caller.team) as store:
            return store.cascades.page(read_scope(caller), limit=page, cursor=mark)

    def reconcile(self) -> None:
        """The tree of teams has changed: new teams receive what is for them, moved ones lose what is not."""
        for team in self._stores.teams_with_store():
            with self._stores.lease(team) as store:
                armed = store.transact(_arm_all)
            if armed:
                self._wake(team)

    def prepare(self, store: Store, event: IngestionEvent) -> Applying:
        """Delivering twice is delivering once: a copy has an id of its own and knows the version it is of."""
        cascade = store.cascades.find(event_id=event.id)
        if cascade is None:
            raise NotFound("what was to be delivered is gone")
        memory = store.memories.find(engine_scope(store.team), cascade.memory_id)
        purged = memory is None and store.memories.find_receipt(cascade.memory_id) is not None
        sent = memory if memory is not None and cascade.withdrawn_at is None and _is_for_teams(memory) else None
        targets = self._targets(store.team, cascade.direction)
        known = {delivery.team: delivery.version for delivery in store.cascades.deliveries(cascade.memory_id)}
        reached: dict[TeamName, int] = {}
        for team in dict.fromkeys([*targets, *known]):
            if sent is not None and team in targets:
                reached[team] = self._deliver(team, sent, store.team)
            elif self._take_back(team, cascade.memory_id, purged=purged) or team in known:
                reached[team] = WITHDRAWN

        def apply(transaction: Transaction) -> str:
            for team, version in reached.items():
                transaction.cascades.put_delivery(cascade.memory_id, Delivery(team, version, transaction.committed_at))
            return f"version {sent.version} delivered to {', '.join(targets) or 'no team'}" if sent else "withdrawn"

        return apply

    def abandon(self, store: Store, event: IngestionEvent) -> None:
        """Somebody else has finished meanwhile, on another state of things: it is looked at once more."""

        def work(transaction: Transaction) -> None:
            known = transaction.queue.find(engine_scope(store.team), event.id)
            if known is not None and known.state is EventState.DONE:
                transaction.queue.replace(replace(known, state=EventState.PENDING, due_at=transaction.now))

        store.transact(work)

    def _deliver(self, team: TeamName, memory: Memory, sender: TeamName) -> int:
        copy = _copy(memory, team=team, sender=sender)

        def work(transaction: Transaction) -> int:
            standing = transaction.memories.find(engine_scope(team), copy.id, deleted=True)
            _put_copy(transaction, standing, copy)
            return memory.version

        with self._stores.lease(team) as store:
            return store.transact(work)

    def _take_back(self, team: TeamName, origin: MemoryId, *, purged: bool) -> bool:
        """Whether there was a copy. Every team is asked: a worker that died may have left one that nobody noted."""
        scope, id = engine_scope(team), copy_id(origin, team=team)

        from mycel.services.erasure import purge

        def work(transaction: Transaction) -> bool:
            standing = transaction.memories.find(scope, id, deleted=True)
            if standing is not None and purged:
                purge(transaction, standing, by=ENGINE)
            elif standing is not None and standing.deleted_at is None:
                gone = replace(standing, deleted_at=transaction.now, version=standing.version + 1)
                transaction.memories.replace(standing, gone, by=ENGINE, operation=Operation.DELETE, reason="withdrawn")
            return standing is not None

        with self._stores.lease(team) as store:
            # Looked at first, so that a team that never wrote anything gets no store by this.
            return (
                (purged or store.memories.find(scope, id) is not None)
                and store.log.last_sequence() > 0
                and store.transact(work)
            )

    def _targets(self, team: TeamName, direction: Direction) -> list[TeamName]:
        if direction is Direction.DOWN:
            return descendants(self._directory, team)
        found = self._directory.find_team(team)
        return [found.parent] if found is not None and found.parent is not None else []

    def _send(self, caller: Caller, id: MemoryId, direction: Direction) -> IngestionEvent:
        def work(transaction: Transaction) -> IngestionEvent:
            memory = _get_own(transaction, caller, id)
            if not _is_for_teams(memory):
                raise InvalidState("must be an active memory that its whole team may read", field="id")
            known = transaction.cascades.find(memory_id=id)
            if known is not None and known.direction is not direction and known.withdrawn_at is None:
                raise InvalidState(f"is already sent {known.direction}: withdraw it first", field="id")
            cascade = Cascade(
                memory_id=id,
                event_id=known.event_id if known else EventId(new_id()),
                direction=direction,
                started_by=caller.member_id,
                started_at=transaction.committed_at,
            )
            transaction.cascades.put(cascade)
            return _arm(transaction, cascade, known=known is not None)

        return self._armed(caller, work)

    def _armed(self, caller: Caller, work: Callable[[Transaction], IngestionEvent]) -> IngestionEvent:
        with self._stores.lease(caller.team) as store:
            event = store.transact(work)
        self._wake(caller.team)
        return event


def _arm_all(transaction: Transaction) -> bool:
    events = [armed_again(event, due_at=transaction.now) for event in transaction.cascades.events()]
    for event in events:
        transaction.queue.replace(event)
    return bool(events)


def _arm(transaction: Transaction, cascade: Cascade, *, known: bool) -> IngestionEvent:
    now = transaction.now
    event = IngestionEvent(
        id=cascade.event_id,
        trigger=Trigger.MANUAL_WRITE,
        source_id=None,
        scope=Scope.GLOBAL,
        agent_id=cascade.started_by,
        steps=(Step.DELIVER,),
        created_at=cascade.started_at,
        updated_at=now,
        due_at=now,
    )
    if known:
        transaction.queue.replace(event)
    else:
        transaction.queue.add(event)
    return event


def _get_own(transaction: Transaction, caller: Caller, id: MemoryId) -> Memory:
    memory = transaction.memories.get(read_scope(caller), id)
    if not may_curate(caller):
        raise AccessDenied("a lead or admin of the team sends memories to other teams")
    if is_copy(memory):
        raise AccessDenied("this is a copy of a memory of another team, which alone sends it on")
    return memory


def _is_for_teams(memory: Memory) -> bool:
    return memory.visibility is Visibility.TEAM and memory.status is Status.ACTIVE


def _copy(memory: Memory, *, team: TeamName, sender: TeamName) -> Memory:
    """All it says, but nothing that only means something in the sender's store."""
    origin = {"team": sender, "id": memory.id, "version": memory.version}
    return replace(
        memory,
        id=copy_id(memory.id, team=team),
        team=team,
        key=None,
        source_kind=SourceKind.IMPORT,
        made_by=MadeBy.IMPORT,
        source_ref=SourceRef(uri=f"mycel:{sender}/{memory.id}"),
        evidence_ref=None,
        metadata=with_marks(without_marks(memory.metadata), origin=origin),
        version=1,
    )


def _put_copy(transaction: Transaction, standing: Memory | None, copy: Memory) -> None:
    """Only if it is newer; an old delivery that comes late changes nothing, and what was purged stays so."""
    if standing is None:
        if transaction.memories.find_receipt(copy.id) is not None:
            return
        transaction.memories.insert([(copy, packed_terms(copy))], by=ENGINE)
        return
    known = standing.metadata.get(ORIGIN, {}).get("version", 0)
    if known < copy.metadata[ORIGIN]["version"] or standing.deleted_at is not None:
        renewed = replace(copy, created_at=standing.created_at, version=standing.version + 1)
        transaction.memories.replace(standing, renewed, by=ENGINE, reason="a newer version of the origin")
