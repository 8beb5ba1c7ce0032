"""Consolidation: duplicates merged, contradictions shown, the grounded promoted; every run can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mycel.access.rules import may_curate, may_review
from mycel.access.scope import ReadScope, engine_scope, read_scope
from mycel.contracts.clock import Clock
from mycel.contracts.language_model import LanguageModel
from mycel.contracts.long_work import begin_to_change, prepare
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain import fields
from mycel.domain.fields import MAX_ITEMS
from mycel.domain.ids import EventId, MemberId, MemoryId, ReportId, new_id, parse_id
from mycel.domain.memory import Memory, Scope, Status
from mycel.domain.query import Filters, Order, OrderField, Page
from mycel.domain.report import Report
from mycel.domain.request_filters import read_limit
from mycel.domain.source import IngestionEvent, Step, Trigger
from mycel.domain.team import ENGINE, Caller, Trust
from mycel.engine.by_model.judging import with_second_opinion
from mycel.engine.consolidation import Judged, LinkKey, Plan, plan_consolidation
from mycel.engine.executor import Executor
from mycel.errors import AccessDenied, Conflict, NotFound, Unavailable
from mycel.services.apply_plan import carry_out, take_back
from mycel.services.attempts import Attempts
from mycel.services.embeddings import Embedding
from mycel.services.find_pairs import PairFinder
from mycel.services.maintenance import micros_of
from mycel.services.policies import Policies
from mycel.services.process_source import Applying
from mycel.services.rejudging import NOTHING_BEFORE, MadeBefore, list_made_before
from mycel.services.reversals import Decision, Reversals
from mycel.services.short_ids import find_id
from mycel.services.undo_writer import relink

# Of one run. What is left over is for the next, which follows at once.
BATCH = 500
# How often somebody may be faster before a run that was asked for gives up.
TRIES = 3
# The last change that a run of the engine has looked at.
CONSOLIDATED_TO = "consolidated_to"
# The same of runs that a reviewer asked for, one mark each: they do not all see the same.
ASKED_TO = "asked_to"
# And when that was, in microseconds.
CONSOLIDATED_AT = "consolidated_at"
_ANYTHING = Filters(statuses=())
_INBOX = Filters(statuses=(Status.INBOX,))
_OLDEST_FIRST = Order(OrderField.CREATED_AT, descending=False)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a run looks at, by number; `waiting` was compared before and may only have become fit for promotion."""

    fresh: Mapping[int, Memory]
    waiting: Sequence[Memory] = ()
    reached: int = 0
    more: bool = False
    made_before: MadeBefore = NOTHING_BEFORE


class Consolidating:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        policies: Policies,
        embedding: Embedding,
        reversals: Reversals,
        *,
        executor: Executor,
        model: LanguageModel | None = None,
    ) -> None:
        self._language_model = model
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._embedding = embedding
        self._reversals = reversals
        self._executor = executor

    def consolidate(self, caller: Caller, *, ids: object = None, dry_run: object = False) -> Report:
        """Of what the caller sees: these memories, or the inbox and all that changed since the engine's last run."""
        _require_reviewer(caller)
        planned_only = fields.flag(dry_run, field="dry_run")
        named = None if ids is None else fields.several(ids, field="ids", most=MAX_ITEMS)
        wanted = None if named is None else [find_id(self._stores, caller, id, field="ids") for id in named]
        scope, mark = read_scope(caller), f"{ASKED_TO}:{caller.member_id}"
        prepare()
        with self._stores.lease(caller.team) as store:
            for _ in range(TRIES):
                chosen = self._changed(store, scope, mark) if wanted is None else _named(store, scope, wanted)
                plan = self._plan(store, scope, chosen)
                if planned_only:
                    return Report(
                        id=None,
                        actions=tuple(plan.actions),
                        dry_run=True,
                        made_by=caller.member_id,
                        made_at=self._clock.now(),
                    )
                begin_to_change()
                try:
                    return store.transact(
                        lambda transaction, plan=plan, chosen=chosen: _carry_out_asked(
                            transaction, scope, plan, chosen, by=caller.member_id, mark=mark
                        )
                    )
                except Conflict:
                    prepare()
        raise Unavailable("the memories keep changing while they are being consolidated: try again", retry_after=1.0)

    def undo(self, caller: Caller, id: object) -> Report:
        _require_reviewer(caller)
        report_id = ReportId(parse_id(id))
        scope = read_scope(caller)

        def work(transaction: Transaction) -> Report:
            report = transaction.reports.find(scope, report_id)
            if report is None:
                raise NotFound(f"no report {report_id}")
            if report.undone_at is not None:
                return report
            if report.made_by == ENGINE and not may_curate(caller):
                raise AccessDenied("what the engine did may touch what you cannot see: a lead or admin undoes it")
            self._reversals.require(caller, [Decision(report.made_by, report.made_at, "made this run")])
            take_back(
                transaction,
                engine_scope(caller.team),
                report,
                id=report_id,
                by=caller.member_id,
                may_take_back=lambda decided: self._reversals.may(caller, decided),
            )
            relink(transaction, caller, report.actions)
            return transaction.reports.find(scope, report_id) or report

        with self._stores.lease(caller.team) as store:
            return store.transact(work)

    def reports(self, caller: Caller, *, limit: object = None, cursor: object = None) -> Page[Report]:
        mark = None if cursor is None else parse_id(cursor, field="cursor")
        page = read_limit(limit)
        with self._stores.lease(caller.team) as store:
            return store.reports.page(read_scope(caller), limit=page, cursor=mark)

    def report(self, caller: Caller, id: object) -> Report:
        report_id = ReportId(parse_id(id))
        with self._stores.lease(caller.team) as store:
            found = store.reports.find(read_scope(caller), report_id)
        if found is None:
            raise NotFound(f"no report {report_id}")
        return found

    def prepare(self, store: Store, event: IngestionEvent) -> Applying:
        """The engine's own run, over everything that is new to it."""
        scope = engine_scope(store.team)
        chosen = self._changed(store, scope)
        plan = self._plan(store, scope, chosen)

        def apply(transaction: Transaction) -> str:
            carry_out(transaction, scope, plan, by=ENGINE)
            _keep_progress(transaction, chosen.made_before)
            transaction.queue.set_progress(CONSOLIDATED_TO, chosen.reached)
            transaction.queue.set_progress(CONSOLIDATED_AT, micros_of(transaction.now))
            if chosen.more:
                transaction.queue.add(team_event(transaction, Step.CONSOLIDATE))
            # What was done is in the report, as far as its reader may see it; a count here would tell more.
            return "consolidated"

        return apply

    def _changed(self, store: Store, scope: ReadScope, mark: str = CONSOLIDATED_TO) -> _Chosen:
        """What neither the engine nor, by its own mark, this reviewer has looked at."""
        after = max(store.queue.progress(CONSOLIDATED_TO), store.queue.progress(mark))
        numbers, reached = store.log.changed_memories(after=after, limit=BATCH)
        fresh = store.index.load(scope, numbers, filters=_ANYTHING)
        waiting = store.memories.page(scope, _INBOX, order=_OLDEST_FIRST, limit=BATCH)
        made_before = list_made_before(store, scope, reader=mark.removeprefix(CONSOLIDATED_TO))
        # A run that came no further would be followed by others like it.
        more = after < reached < store.log.last_sequence() or made_before.more
        return _Chosen(fresh, waiting=waiting, reached=reached, more=more, made_before=made_before)

    def _plan(self, store: Store, scope: ReadScope, chosen: _Chosen) -> Plan:
        now = self._clock.now()
        if chosen.fresh:
            # While it starts, what is to be compared is looked for.
            self._executor.begin()
        compare = PairFinder(store, scope, self._executor, model=self._model(store), now=now)
        pairs = {_ids(pair): pair for pair in compare.judge(chosen.fresh.items())}
        pairs |= {_ids(pair): pair for pair in compare.judge_again(chosen.made_before.pairs)}
        judged = with_second_opinion(list(pairs.values()), self._language_model)
        met = {memory.id for pair in judged for memory in (pair.earlier, pair.later)}
        looked_at = {memory.id: memory for memory in (*chosen.fresh.values(), *chosen.waiting)}
        return plan_consolidation(
            [memory for memory in looked_at.values() if memory.expires_at is None or memory.expires_at > now],
            judged,
            policy=self._policies.of(store.team),
            links=_links(store, scope, met),
            settled=store.memories.settled(scope, limit=BATCH),
            undone=store.reports.undone_actions([*looked_at, *met]),
            made_before=frozenset(chosen.made_before.links),
        )

    def _model(self, store: Store) -> str | None:
        """Vectors help, and their absence stops nothing."""
        embedder = self._embedding.embedder
        if embedder is None:
            return None
        Attempts().run(lambda: self._embedding.finish(store.team))
        return embedder.model


def _ids(pair: Judged) -> frozenset[MemoryId]:
    return frozenset((pair.earlier.id, pair.later.id))


def _keep_progress(transaction: Transaction, made_before: MadeBefore) -> None:
    if made_before.mark:
        transaction.queue.set_progress(made_before.mark, made_before.progress)


def _carry_out_asked(
    transaction: Transaction, scope: ReadScope, plan: Plan, chosen: _Chosen, *, by: MemberId, mark: str
) -> Report:
    if chosen.reached:
        transaction.queue.set_progress(mark, chosen.reached)
    _keep_progress(transaction, chosen.made_before)
    return carry_out(transaction, scope, plan, by=by)


def team_event(transaction: Transaction, step: Step) -> IngestionEvent:
    """Work on a team as a whole, due now."""
    return IngestionEvent(
        id=EventId(new_id()),
        trigger=Trigger.MAINTENANCE,
        source_id=None,
        scope=Scope.GLOBAL,
        agent_id=ENGINE,
        steps=(step,),
        created_at=transaction.now,
        updated_at=transaction.now,
        due_at=transaction.now,
    )


def _named(store: Store, scope: ReadScope, ids: Iterable[MemoryId]) -> _Chosen:
    numbers = {id: store.index.find_number(scope, id) for id in ids}
    for id, number in numbers.items():
        if number is None:
            raise NotFound(f"no memory {id}")
    found = [number for number in numbers.values() if number is not None]
    return _Chosen(store.index.load(scope, found, filters=_ANYTHING))


def _links(store: Store, scope: ReadScope, memories: Iterable[MemoryId]) -> set[LinkKey]:
    return {
        (link.from_id, MemoryId(link.to_id), link.relation)
        for id in memories
        for link in store.links.of(scope, id)
        if not link.to_place
    }


def _require_reviewer(caller: Caller) -> None:
    if not may_review(caller) or caller.trust is Trust.LOW:
        raise AccessDenied("people, leads and admins consolidate; the engine does by itself")
