"""Maintenance: every night at three, what has expired is archived, and what a policy wants gone is purged."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo

from mycel.access.scope import engine_scope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import MemoryId, TeamName
from mycel.domain.policy import Policy
from mycel.domain.source import IngestionEvent
from mycel.domain.team import ENGINE
from mycel.errors import StoreDamaged
from mycel.services.attempts import in_batches
from mycel.services.episode_pruning import Pruning, archive
from mycel.services.policies import Policies
from mycel.services.process_source import Applying

AT = time(3, 0)
# One transaction each, so that writers never wait long.
BATCH = 200
# Long enough to ask why an agent did what it did last month.
RECALLS_KEPT = timedelta(days=30)
# The moment of the last finished maintenance, in microseconds.
MAINTAINED_AT = "maintained_at"


def last_night(now: datetime, zone: tzinfo | None = None) -> datetime:
    """The latest three o'clock, local time, that has passed."""
    local = now.astimezone(zone)
    tonight = local.replace(hour=AT.hour, minute=AT.minute, second=0, microsecond=0)
    night = tonight if tonight <= local else tonight - timedelta(days=1)
    return night.astimezone(UTC)


def next_night(now: datetime, zone: tzinfo | None = None) -> datetime:
    return last_night(now + timedelta(days=1), zone)


def is_due(maintained_at: datetime, now: datetime) -> bool:
    """Also when the machine slept through the night, or through several."""
    return last_night(now) > maintained_at


def moment_of(micros: int) -> datetime:
    """A moment as it is kept among the engine's progress."""
    return datetime.fromtimestamp(micros / 1_000_000, UTC)


def micros_of(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


class Maintaining:
    def __init__(self, clock: Clock, policies: Policies, pruning: Pruning) -> None:
        self._clock = clock
        self._policies = policies
        self._pruning = pruning

    def prepare(self, store: Store, event: IngestionEvent) -> Applying:
        """Each batch is stored by itself: what was archived stays archived, and the rest follows on the next try.

        Nothing is pruned from a store that is damaged.
        """
        _require_sound(store)
        # Those found are left out of what follows, and named in the log.
        store.files.find_damaged_rows()
        policy = self._policies.of(store.team)
        in_batches(lambda: store.transact(lambda transaction: _archive_expired(transaction, store.team)))
        self._pruning.prune(store, policy)
        in_batches(lambda: store.transact(lambda transaction: _purge_forgotten(transaction, store.team, policy)))
        forget_recalls(store, before=self._clock.now() - RECALLS_KEPT)
        store.files.scrub()

        def apply(transaction: Transaction) -> str:
            transaction.queue.set_progress(MAINTAINED_AT, micros_of(transaction.now))
            return "maintained"

        return apply


def forget_recalls(store: Store, *, before: datetime) -> int:
    if store.activity.has_older(before):
        store.transact(lambda transaction: transaction.activity.forget_injections(before=before))
    if not store.recalls.has_older(before):
        return 0
    return store.transact(lambda transaction: transaction.recalls.forget(before=before))


def _archive_expired(transaction: Transaction, team: TeamName) -> list[MemoryId]:
    expired = transaction.memories.expired(engine_scope(team), limit=BATCH)
    archive(transaction, expired, reason="its time was up")
    return [memory.id for memory in expired]


def _purge_forgotten(transaction: Transaction, team: TeamName, policy: Policy) -> list[MemoryId]:
    """Only where the policy says so: by default nothing is ever lost."""
    if policy.purge_after is None:
        return []
    from mycel.services.erasure import purge

    before = transaction.now - policy.purge_after
    forgotten = transaction.memories.forgotten(engine_scope(team), before=before, limit=BATCH)
    for memory in forgotten:
        purge(transaction, memory, by=ENGINE)
    return [memory.id for memory in forgotten]


def _require_sound(store: Store) -> None:
    problems = store.files.check()
    if problems:
        damage = store.files.damage()
        raise StoreDamaged(damage.message if damage is not None else problems[0])
