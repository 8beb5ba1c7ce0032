"""The engine: notices what is due in which team, without asking each one again and again, and has it done."""

from __future__ import annotations

import logging
import sys
import threading
import time
from datetime import datetime, timedelta

from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Stores, Transaction
from mycel.domain.ids import TeamName
from mycel.domain.source import Step
from mycel.errors import MycelError
from mycel.services.attempts import Attempts
from mycel.services.consolidation import CONSOLIDATED_AT, CONSOLIDATED_TO, team_event
from mycel.services.maintenance import MAINTAINED_AT, is_due, moment_of, next_night
from mycel.services.policies import Policies
from mycel.services.queue_worker import Budget, Working

# How soon a write of another process is noticed; looking at the times of the files costs microseconds.
LOOK_SECONDS = 2.0
# A team is looked at this often even if nobody writes, for what the clock makes due.
IDLE = timedelta(hours=1)
CLOSING_SECONDS = 5.0
# More than this between two looks at both clocks, and somebody has set one of them.
JUMP = timedelta(days=1)
# No machine is switched off for so long: rather its clock is wrong.
LONGEST_GAP = timedelta(days=366)
RETRY_SECONDS = 30.0
LEAST_PAUSE_SECONDS = 0.05
FOREVER = float("inf")
LONG_AGO = moment_of(0)

_log = logging.getLogger("mycel.engine")


class Engine:
    """`run_pending` works here and now; `start` works beside, in a thread of its own, until it is closed."""

    def __init__(self, stores: Stores, clock: Clock, policies: Policies, working: Working) -> None:
        self._stores = stores
        self._clock = clock
        self._policies = policies
        self._working = working
        self._jumps = _Jumps(clock)
        self._due: dict[TeamName, float] = {}
        self._seen: dict[TeamName, int] = {}
        self._looked_at: dict[TeamName, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    def run_pending(self) -> int:
        """Does what is due in every team, and what that makes due; returns how many events were finished."""
        finished, attempts, budget = 0, Attempts(), Budget()
        while done := sum(
            attempts.run(lambda team=team: self._run(team, budget)) for team in self._stores.teams_with_store()
        ):
            finished += done
        attempts.end()
        return finished

    def maintain(self) -> int:
        """The nightly work now, whatever the clock says; returns how many events were finished."""
        self._jumps.forgive()
        attempts = Attempts()
        for team in self._stores.teams_with_store():
            attempts.run(lambda team=team: self._ask(team, [Step.MAINTAIN]))
        finished = attempts.run(self.run_pending)
        attempts.end()
        return finished

    def clock_has_jumped(self) -> bool:
        """Whether nothing is to expire until maintenance is asked for."""
        return self._jumps.happened()

    def start(self) -> None:
        with self._changed:
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._serve, name="mycel-engine", daemon=True)
                self._thread.start()

    def wake(self, team: TeamName) -> None:
        """A team has new work; nothing happens where the engine does not run beside."""
        with self._changed:
            if self._thread is not None:
                self._due[team] = time.monotonic()
                self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._working.stop()
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)

    def _serve(self) -> None:
        while (team := self._next_team()) is not None:
            try:
                self._run(team, Budget())
                wait = self._until_next(team)
            except MycelError as error:
                if not self._closing:
                    _log.warning("team %s: %s", team, error)
                wait = RETRY_SECONDS
            except Exception:  # noqa: BLE001 - the other teams must not wait for this one
                _log.error("team %s: the engine failed", team)
                wait = RETRY_SECONDS
            with self._changed:
                self._looked_at[team] = time.monotonic()
                self._due[team] = min(self._due.get(team, FOREVER), self._looked_at[team] + wait)

    def _next_team(self) -> TeamName | None:
        while True:
            try:
                self._notice_writes()
            except OSError as error:
                _log.warning("the data folder cannot be looked at: %s", error.strerror)
            with self._changed:
                if self._closing:
                    return None
                now = time.monotonic()
                due = min(self._due.items(), key=lambda item: item[1], default=None)
                if due is not None and due[1] <= now:
                    del self._due[due[0]]
                    return due[0]
                self._changed.wait(LOOK_SECONDS if due is None else min(LOOK_SECONDS, due[1] - now))

    def _notice_writes(self) -> None:
        """Whichever process wrote: the time of a team's files tells.

        A team that is written to all the time is not looked at all the time, by every node.
        """
        written = self._stores.written()
        with self._changed:
            for team, stamp in written.items():
                if self._seen.get(team) != stamp:
                    soon = self._looked_at.get(team, -FOREVER) + LOOK_SECONDS
                    self._due[team] = min(self._due.get(team, FOREVER), max(time.monotonic(), soon))
            self._seen = dict(written)

    def _run(self, team: TeamName, budget: Budget) -> int:
        with self._stores.lease(team) as store:
            steps = self._due_steps(store)
        if steps:
            self._ask(team, steps)
        return self._working.run_due(team, budget)

    def _ask(self, team: TeamName, steps: list[Step]) -> int:
        with self._stores.lease(team) as store:
            store.transact(lambda transaction: _ask_for(transaction, steps))
        return len(steps)

    def _due_steps(self, store: Store) -> list[Step]:
        now = self._clock.now()
        steps: list[Step] = []
        consolidation = self._consolidation_at(store)
        if consolidation is not None and consolidation <= now:
            steps.append(Step.CONSOLIDATE)
        if not self._jumps.happened() and _needs_maintenance(store, now):
            steps.append(Step.MAINTAIN)
        return steps

    def _consolidation_at(self, store: Store) -> datetime | None:
        """So long after the last run or, if later, after the first change that it has not seen."""
        every = self._policies.of(store.team).consolidate_every
        first = store.log.first_moment_after(store.queue.progress(CONSOLIDATED_TO))
        if every is None or first is None:
            return None
        now, last = self._clock.now(), moment_of(store.queue.progress(CONSOLIDATED_AT))
        return max(_known(first, now), _known(last, now)) + every

    def _until_next(self, team: TeamName) -> float:
        now = self._clock.now()
        with self._stores.lease(team) as store:
            due_at, consolidation = store.queue.next_due(), self._consolidation_at(store)
        moments = [next_night(now), now + IDLE, *([due_at] if due_at is not None else [])]
        # What should have run by now has its event in the queue, or was given up a while ago.
        if consolidation is not None and consolidation > now:
            moments.append(consolidation)
        return max(LEAST_PAUSE_SECONDS, (min(moments) - now).total_seconds())


class _Jumps:
    """A clock that has moved by more than a day against the time that passed makes nothing expire by itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._happened = False
        self._last = (clock.now(), _passed())

    def happened(self) -> bool:
        before, then = self._last
        self._last = now, passed = self._clock.now(), _passed()
        if abs((now - before) - timedelta(seconds=passed - then)) > JUMP and not self._happened:
            self._happened = True
            _log.warning("the clock jumped by more than a day: nothing expires until maintenance is asked for")
        return self._happened

    def forgive(self) -> None:
        self._happened = False
        self._last = (self._clock.now(), _passed())


def _passed() -> float:
    """Seconds that go on while the machine sleeps, where it tells them."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def _needs_maintenance(store: Store, now: datetime) -> bool:
    maintained_at = moment_of(store.queue.progress(MAINTAINED_AT))
    if LONG_AGO < maintained_at <= now:
        return is_due(maintained_at, now) and now - maintained_at < LONGEST_GAP
    first = store.log.first_moment_after(0)
    return first is not None and is_due(_known(first, now), now)


def _known(moment: datetime, now: datetime) -> datetime:
    """A moment after now was noted by a clock that has been set back since: it was at some time before."""
    return moment if moment <= now else LONG_AGO


def _ask_for(transaction: Transaction, steps: list[Step]) -> None:
    for step in steps:
        given_up = transaction.queue.gave_up_since(step, transaction.now - IDLE)
        if not given_up and transaction.queue.find_waiting(None, step) is None:
            transaction.queue.add(team_event(transaction, step))
