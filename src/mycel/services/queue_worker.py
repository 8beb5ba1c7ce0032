"""The queue's worker: claims an event, has it performed, and settles it. Whatever dies on the way, it is done once."""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import traceback
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Protocol, Self, cast

from mycel.access.scope import engine_scope
from mycel.contracts.clock import Clock
from mycel.contracts.engine_store import LeaseLost
from mycel.contracts.long_work import LongWork, doing, require_wanted
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain.ids import TeamName, new_id
from mycel.domain.source import UNFINISHED, EventState, IngestionEvent, Step
from mycel.errors import MycelError, Unavailable
from mycel.services.process_source import Applying

# Whoever has not extended its lease for so long is taken for dead.
LEASE = timedelta(seconds=30)
MOST_TRIES = 5
# A worker that vanishes is seldom the event's fault; one that kills every worker must end somewhere.
MOST_TAKEOVERS = 20
FIRST_PAUSE = timedelta(seconds=5)
MAX_ERROR = 500
AHEAD = timedelta(seconds=1)
# The longest chain is that of consolidation, an event for some hundred changes.
EVENT_CHANGES = 100
SPARE_EVENTS = 1000

_log = logging.getLogger("mycel.engine")


class Performer(Protocol):
    """One kind of work. What takes long happens here; what it returns stores the result in a given transaction.

    Both may happen more than once, and only one of the transactions is kept.
    """

    def prepare(self, store: Store, event: IngestionEvent) -> Applying: ...


class Reaching(Performer, Protocol):
    """Work that acts outside its own store, so that losing the lease leaves something to be looked at again."""

    def abandon(self, store: Store, event: IngestionEvent) -> None: ...


class Budget:
    """How many events one run performs in each team: those that wait when it begins, and what these may lead to.

    An event that leaves another one like itself behind, and comes no further by it, would never let a run end.
    """

    def __init__(self) -> None:
        self._left: dict[TeamName, int] = {}

    def require(self, store: Store) -> None:
        """Before an event is claimed: `Unavailable` when there were too many."""
        if store.team not in self._left:
            counts = store.queue.count(engine_scope(store.team))
            waiting = sum(counts.get(state, 0) for state in UNFINISHED)
            self._left[store.team] = waiting + store.log.last_sequence() // EVENT_CHANGES + SPARE_EVENTS
        if not self._left[store.team]:
            raise Unavailable(f"team {store.team} has no end of events: the rest waits for the next run")
        self._left[store.team] -= 1


class Working:
    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        performers: Mapping[Step, Performer],
        *,
        lease: timedelta = LEASE,
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._performers = performers
        self._lease = lease
        self._stopping = False

    def stop(self) -> None:
        """What is cut short from now on is given back, for the next worker to begin at once."""
        self._stopping = True

    def run_due(self, team: TeamName, budget: Budget | None = None) -> int:
        """Performs what is due in a team until nothing is; returns how many events were finished."""
        budget, finished = budget or Budget(), 0
        # Leased per event: a long queue must not keep a store open that others have more use for.
        while not self._stopping:
            require_wanted()
            with self._stores.lease(team) as store:
                if not self._is_due(store):
                    return finished
                budget.require(store)
                event = self._claim(store)
                if event is None:
                    return finished
                finished += self._perform(store, event)
        return finished

    def _is_due(self, store: Store) -> bool:
        """Whether it really is, the claim decides."""
        due_at = store.queue.next_due()
        return due_at is not None and due_at <= self._clock.now() + AHEAD

    def _claim(self, store: Store) -> IngestionEvent | None:
        token = new_id()
        return store.transact(
            lambda transaction: transaction.queue.claim(lease=token, until=transaction.now + self._lease)
        )

    def _perform(self, store: Store, event: IngestionEvent) -> bool:
        performer = self._performers[event.steps[0]]
        try:
            if event.takeovers > MOST_TAKEOVERS:
                raise MycelError(f"its worker vanished {event.takeovers} times")
            # Whoever asked for it may leave: what has begun is the queue's, and its tries are counted.
            of_the_engine = LongWork(event.steps[0], team=store.team)
            with _Heartbeat(store, event, lease=self._lease), doing(of_the_engine):
                apply = performer.prepare(store, event)
            store.transact(lambda transaction: _settle(transaction, event, apply))
        except LeaseLost:
            if event.steps[0] is Step.DELIVER:
                cast(Reaching, performer).abandon(store, event)
            return False
        except Exception as error:  # noqa: BLE001 - kept with the event; the next one must be done
            self._fail(store, event, error)
            return False
        return True

    def _fail(self, store: Store, event: IngestionEvent, error: Exception) -> None:
        if not isinstance(error, MycelError):
            # What an unforeseen error says may quote a memory; where it happened does not.
            _log.error("event %s failed at %s", event.id, _place_of(error))
        put = _give_back if self._stopping else _put_failure
        with contextlib.suppress(LeaseLost):
            store.transact(lambda transaction: put(transaction, event, error))


def _settle(transaction: Transaction, event: IngestionEvent, apply: Applying) -> None:
    transaction.queue.require_lease(event)
    outcome = apply(transaction)
    transaction.queue.replace(
        replace(
            event,
            state=EventState.DONE,
            outcome=outcome,
            error=None,
            due_at=None,
            lease=None,
            lease_until=None,
            updated_at=transaction.now,
        )
    )


def _give_back(transaction: Transaction, event: IngestionEvent, error: Exception) -> None:
    transaction.queue.require_lease(event)
    transaction.queue.replace(
        replace(event, state=EventState.PENDING, lease=None, lease_until=None, due_at=transaction.now)
    )


def _put_failure(transaction: Transaction, event: IngestionEvent, error: Exception) -> None:
    transaction.queue.require_lease(event)
    tries = event.tries + 1
    dead = tries >= MOST_TRIES or event.takeovers > MOST_TAKEOVERS
    pause = FIRST_PAUSE * 2 ** (tries - 1) * random.uniform(1.0, 1.5)  # noqa: S311 - spreads retries, guards nothing
    if isinstance(error, Unavailable):
        pause = max(pause, timedelta(seconds=error.retry_after))
    transaction.queue.replace(
        replace(
            event,
            state=EventState.DEAD if dead else EventState.FAILED,
            tries=tries,
            error=said_of(error),
            due_at=None if dead else transaction.now + pause,
            lease=None,
            lease_until=None,
            updated_at=transaction.now,
        )
    )


def said_of(error: Exception) -> str:
    """Our own errors hold no text of a memory; of others only the kind is told."""
    said = f"{error.code}: {error}" if isinstance(error, MycelError) else type(error).__name__
    return said[:MAX_ERROR]


def _place_of(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} in {frames[-1].name}, line {frames[-1].lineno}" if frames else type(error).__name__


class _Heartbeat:
    """Extends the lease while the work goes on, in a thread of its own."""

    def __init__(self, store: Store, event: IngestionEvent, *, lease: timedelta) -> None:
        self._store = store
        self._event = event
        self._lease = lease
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._beat, name="mycel-heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _beat(self) -> None:
        while not self._done.wait(self._lease.total_seconds() / 3):
            try:
                held = self._store.transact(
                    lambda transaction: transaction.queue.extend_lease(self._event, until=transaction.now + self._lease)
                )
            except Unavailable:
                continue
            if not held:
                return
