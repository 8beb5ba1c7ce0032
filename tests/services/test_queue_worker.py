"""The worker: retries, gives up with the error kept, takes over from the dead, and does everything once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from mycel.access.scope import engine_scope
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import TeamName
from mycel.domain.source import EventState, IngestionEvent, Step
from mycel.errors import NotFound, Unavailable
from mycel.services.queue_worker import MOST_TAKEOVERS, MOST_TRIES, Working
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import SqliteStores
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import an_event, put

pytestmark = pytest.mark.each_database(slow=True)


TEAM = TeamName("squad")


class Scripted:
    """Performs events as told, and counts what was stored."""

    def __init__(self) -> None:
        self.act: Callable[[Store, IngestionEvent], None] = lambda store, event: None
        self.prepared = 0

    def prepare(self, store: Store, event: IngestionEvent) -> Callable[[Transaction], str]:
        self.prepared += 1
        self.act(store, event)

        def apply(transaction: Transaction) -> str:
            transaction.queue.set_progress("effects", transaction.queue.progress("effects") + 1)
            return "done well"

        return apply


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def stores(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteStores]:
    stores = SqliteStores(tmp_path / "teams", clock=clock, disk=Disk(synchronous="OFF"))
    yield stores
    stores.close()


@pytest.fixture
def performer() -> Scripted:
    return Scripted()


@pytest.fixture
def working(stores: SqliteStores, clock: ManualClock, performer: Scripted) -> Working:
    return Working(stores, clock, {Step.EXTRACT: performer})


@pytest.fixture
def store(stores: SqliteStores) -> Iterator[Store]:
    with stores.lease(TEAM) as store:
        yield store


def enqueue(store: Store, clock: ManualClock) -> IngestionEvent:
    event = an_event(None, steps=(Step.EXTRACT,), due_at=clock.now())
    store.transact(lambda transaction: transaction.queue.add(event))
    return event


def look(store: Store, event: IngestionEvent) -> IngestionEvent:
    found = store.transact(lambda transaction: transaction.queue.find(engine_scope(TEAM), event.id))
    assert found is not None
    return found


def test_an_event_is_performed_and_its_outcome_kept(
    working: Working, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    event = enqueue(store, clock)
    assert working.run_due(TEAM) == 1
    done = look(store, event)
    assert (done.state, done.outcome, done.error, done.lease) == (EventState.DONE, "done well", None, None)
    assert store.queue.progress("effects") == 1
    assert working.run_due(TEAM) == 0
    assert performer.prepared == 1


def test_a_failure_is_tried_again_later_and_in_the_end_given_up_with_its_error(
    working: Working, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    def fail(store: Store, event: IngestionEvent) -> None:
        raise Unavailable("the endpoint is away")

    performer.act = fail
    event = enqueue(store, clock)
    for tries in range(1, MOST_TRIES):
        assert working.run_due(TEAM) == 0
        failed = look(store, event)
        assert (failed.state, failed.tries) == (EventState.FAILED, tries)
        assert failed.error == "unavailable: the endpoint is away"
        assert failed.due_at is not None
        assert failed.due_at > clock.now()
        clock.move(failed.due_at - clock.now())
    working.run_due(TEAM)
    dead = look(store, event)
    assert (dead.state, dead.tries, dead.error) == (EventState.DEAD, MOST_TRIES, "unavailable: the endpoint is away")
    clock.move(timedelta(days=30))
    assert working.run_due(TEAM) == 0
    assert performer.prepared == MOST_TRIES


def test_an_unforeseen_error_is_told_by_its_kind_alone(
    working: Working, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    def fail(store: Store, event: IngestionEvent) -> None:
        raise RuntimeError("text of a memory")

    performer.act = fail
    event = enqueue(store, clock)
    working.run_due(TEAM)
    assert look(store, event).error == "RuntimeError"


def test_one_failure_does_not_hold_up_the_next_event(
    working: Working, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    bad = enqueue(store, clock)

    def fail(store: Store, event: IngestionEvent) -> None:
        if event.id == bad.id:
            raise NotFound("gone")

    performer.act = fail
    good = enqueue(store, clock)
    assert working.run_due(TEAM) == 1
    assert look(store, good).state is EventState.DONE
    assert look(store, bad).state is EventState.FAILED


def test_a_worker_that_lost_its_lease_stores_nothing(
    working: Working, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    event = enqueue(store, clock)

    def lose_it(store: Store, claimed: IngestionEvent) -> None:
        stolen = replace(claimed, lease="another")
        store.transact(lambda transaction: transaction.queue.replace(stolen))

    performer.act = lose_it
    assert working.run_due(TEAM) == 0
    assert store.queue.progress("effects") == 0
    assert look(store, event).lease == "another"


def test_an_event_whose_worker_vanished_is_done_by_the_next(
    working: Working, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    event = enqueue(store, clock)
    store.transact(lambda transaction: transaction.queue.claim(lease="dead", until=clock.now() + timedelta(seconds=30)))
    assert working.run_due(TEAM) == 0
    clock.move(timedelta(seconds=31))
    assert working.run_due(TEAM) == 1
    assert (look(store, event).takeovers, store.queue.progress("effects")) == (1, 1)


def test_an_event_that_kills_every_worker_is_given_up(working: Working, store: Store, clock: ManualClock) -> None:
    event = enqueue(store, clock)
    store.transact(lambda transaction: transaction.queue.replace(replace(event, takeovers=MOST_TAKEOVERS + 1)))
    working.run_due(TEAM)
    dead = look(store, event)
    assert dead.state is EventState.DEAD
    assert dead.error is not None
    assert "vanished" in dead.error


def test_the_lease_is_extended_while_the_work_goes_on(
    stores: SqliteStores, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    working = Working(stores, clock, {Step.EXTRACT: performer}, lease=timedelta(seconds=0.15))
    extended = threading.Event()

    def work(store: Store, event: IngestionEvent) -> None:
        first = look(store, event).lease_until
        assert first is not None
        clock.move(timedelta(seconds=0.1))
        for _ in range(200):
            now = look(store, event).lease_until
            if now is not None and now > first:
                extended.set()
                return
            threading.Event().wait(0.02)

    performer.act = work
    enqueue(store, clock)
    assert working.run_due(TEAM) == 1
    assert extended.is_set()


def test_two_workers_never_do_the_same_event(
    stores: SqliteStores, store: Store, clock: ManualClock, performer: Scripted
) -> None:
    put(store)
    for _ in range(20):
        enqueue(store, clock)
    workers = [Working(stores, clock, {Step.EXTRACT: performer}) for _ in range(3)]
    done: list[int] = []
    threads = [threading.Thread(target=lambda w=w: done.append(w.run_due(TEAM))) for w in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) == store.queue.progress("effects") == 20
