"""Nodes that share one database: each hears of what the others write, and none does another's work again."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from mycel.contracts.engine_store import LeaseLost
from mycel.domain.source import EventState
from mycel.errors import Misconfigured
from mycel.stores.postgres import notifications
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.pool import PostgresStores
from mycel.stores.postgres.schema import SCHEMA, steps
from mycel.testing.clock import ManualClock
from mycel.testing.store_queue import MINUTE, claim, enqueue, settle
from mycel.testing.store_samples import TEAM, insert, put, sample
from tests.patience import PATIENCE_SECONDS
from tests.postgres import emptied, server
from tests.service_process import eventually

ROOT = Path(__file__).parents[2]
PAGE_BYTES = 8192


@contextmanager
def node(clock: ManualClock | None = None) -> Iterator[PostgresStores]:
    """With connections of its own, as another machine has."""
    database = Database(server().service)
    database.open()
    with closing(database), closing(PostgresStores(database, clock=clock or ManualClock())) as stores:
        yield stores


@pytest.fixture
def nodes() -> Iterator[tuple[PostgresStores, PostgresStores]]:
    emptied()
    with node() as one, node() as other:
        yield one, other


def hearing(stores: PostgresStores) -> None:
    with closing(stores.watch(TEAM)) as watch:
        watch.wait(0)
    eventually(lambda: stores._nodes.hears)


def test_a_watch_on_another_node_is_told_without_asking(
    nodes: tuple[PostgresStores, PostgresStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "HEARING_POLL_SECONDS", 10 * PATIENCE_SECONDS)
    one, other = nodes
    hearing(other)
    heard: list[str] = []
    other.listen(heard.append)
    with closing(other.watch(TEAM)) as watch:
        while watch.wait(0.1):
            pass
        heard.clear()
        for _ in range(3):
            with one.lease(TEAM) as store:
                put(store)
            assert watch.wait(PATIENCE_SECONDS)
        assert TEAM in heard


def test_whoever_waits_for_the_log_is_told_of_what_another_node_writes(
    nodes: tuple[PostgresStores, PostgresStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "HEARING_POLL_SECONDS", 10 * PATIENCE_SECONDS)
    one, other = nodes
    hearing(other)
    with one.lease(TEAM) as writing, other.lease(TEAM) as reading:
        writer = threading.Timer(0.2, put, (writing,))
        writer.start()
        assert reading.log.wait(after=0, timeout=PATIENCE_SECONDS)
        writer.join()


def test_a_node_that_hears_nothing_asks(
    nodes: tuple[PostgresStores, PostgresStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a pooler that passes no notifications on."""
    monkeypatch.setattr(notifications.Notifications, "_take", lambda *_: None)
    one, other = nodes
    with closing(other.watch(TEAM)) as watch, one.lease(TEAM) as store:
        watch.wait(0)
        put(store)
        assert watch.wait(PATIENCE_SECONDS)
        assert not other._nodes.hears


def test_a_node_whose_connection_is_cut_hears_again_and_looks_at_what_it_missed(
    nodes: tuple[PostgresStores, PostgresStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = nodes
    hearing(other)
    monkeypatch.setattr(notifications, "_RETRY_SECONDS", (0.05,))
    with other._database._pool.lend() as raw:
        raw.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE query LIKE 'LISTEN%' AND datname = current_database() AND usename = session_user"
        )
    with one.lease(TEAM) as store:
        put(store)
    with closing(other.watch(TEAM)) as watch:
        assert watch.wait(PATIENCE_SECONDS)
    eventually(lambda: other._nodes.hears)


def test_many_rows_in_one_transaction_leave_one_version_of_the_counter(
    nodes: tuple[PostgresStores, PostgresStores],
) -> None:
    """The database keeps all of them until it ends, and looks through them for each row."""
    one, other = nodes
    before = _size_of_heads()
    with one.lease(TEAM) as store, other.lease(TEAM) as elsewhere:
        store.transact(lambda transaction: [insert(transaction, sample()) for _ in range(500)])
        put(elsewhere)
        assert store.log.last_sequence() == 501
    assert _size_of_heads() <= before + PAGE_BYTES


def _size_of_heads() -> int:
    with psycopg.connect(server().owner) as owner:
        row = owner.execute("SELECT pg_relation_size(%s)", (f"{SCHEMA}.heads",)).fetchone()
        assert row is not None
        return row[0]


def test_many_commits_are_told_in_few_messages(nodes: tuple[PostgresStores, PostgresStores]) -> None:
    one, _ = nodes
    sent: list[str] = []
    one._nodes._notify = sent.append
    with one.lease(TEAM) as store:
        began_at = time.monotonic()
        for _ in range(30):
            put(store)
        took = time.monotonic() - began_at
    assert 1 <= len(sent) <= took / notifications.TELL_SECONDS + 1
    assert {payload.split("\n")[1] for payload in sent} == {TEAM}


def test_stamps_of_writes_change_whichever_node_wrote(nodes: tuple[PostgresStores, PostgresStores]) -> None:
    one, other = nodes
    hearing(other)
    for writing in (one, other, one):
        before = other.written().get(TEAM)
        with writing.lease(TEAM) as store:
            put(store)
        eventually(lambda: other.written().get(TEAM) != before)  # noqa: B023 - waited for at once


def test_a_watch_is_told_of_what_another_process_writes(nodes: tuple[PostgresStores, PostgresStores]) -> None:
    _, other = nodes
    hearing(other)
    program = f"""
from mycel.stores.postgres.database import Database
from mycel.stores.postgres.schema import SCHEMA, steps
from mycel.stores.postgres.pool import PostgresStores
from mycel.testing.clock import ManualClock
from mycel.testing.store_queue import MINUTE, claim, enqueue, settle
from mycel.testing.store_samples import TEAM, insert, put, sample
database = Database({server().service!r})
database.open()
stores = PostgresStores(database, clock=ManualClock())
with stores.lease(TEAM) as store:
    put(store)
stores.close()
database.close()
"""
    with closing(other.watch(TEAM)) as watch:
        while watch.wait(0.1):
            pass
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
        assert watch.wait(PATIENCE_SECONDS)
        with other.lease(TEAM) as store:
            assert store.log.last_sequence() == 1


def test_two_nodes_racing_for_the_queue_handle_each_event_once(nodes: tuple[PostgresStores, PostgresStores]) -> None:
    events, workers = 40, 4
    handled: Counter[str] = Counter()
    by_node: Counter[int] = Counter()
    with nodes[0].lease(TEAM) as store:
        for _ in range(events):
            enqueue(store)

    def work(place: int, name: str) -> None:
        with nodes[place].lease(TEAM) as store:
            while (event := claim(store, lease=name)) is not None:
                settle(store, event)
                handled[event.id] += 1
                by_node[place] += 1

    threads = [
        threading.Thread(target=work, args=(place, f"{place}-{number}"))
        for place in (0, 1)
        for number in range(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert len(handled) == events
    assert set(handled.values()) == {1}
    assert set(by_node) == {0, 1}


def test_the_lease_of_a_dead_node_is_taken_over_and_it_cannot_settle_any_more() -> None:
    emptied()
    clock = ManualClock()
    with node(clock) as survivor:
        with node(clock) as dead, dead.lease(TEAM) as store:
            enqueue(store)
            lost = claim(store, lease="dead")
        assert lost is not None
        with survivor.lease(TEAM) as store:
            assert claim(store, lease="survivor") is None
            clock.move(2 * MINUTE)
            taken = claim(store, lease="survivor")
            assert taken is not None
            assert (taken.id, taken.takeovers, taken.state) == (lost.id, 1, EventState.RUNNING)
            with pytest.raises(LeaseLost):
                settle(store, lost)
            settle(store, taken)


def upgraded(**columns: int) -> None:
    with psycopg.connect(server().owner, autocommit=True) as owner:
        for name, number in columns.items():
            owner.execute(f"UPDATE {SCHEMA}.schema_version SET {name} = {number}".encode())


@pytest.fixture
def upgradable() -> Iterator[int]:
    """The schema that nodes of this version know."""
    known = len(steps())
    emptied()
    yield known
    upgraded(version=known, oldest_writer=0)


def test_an_old_node_goes_on_beside_new_ones_while_the_schema_only_grows(upgradable: int) -> None:
    with node() as running, running.lease(TEAM) as store:
        upgraded(version=upgradable + 2)
        put(store)
        with node() as started, started.lease(TEAM) as other:
            put(other)
            assert other.log.last_sequence() == 2


def test_a_node_too_old_for_the_schema_says_so_and_stores_nothing_more(upgradable: int) -> None:
    with node() as running, running.lease(TEAM) as store:
        put(store)
        upgraded(version=upgradable + 2, oldest_writer=upgradable + 1)
        for _ in range(2):
            with pytest.raises(Misconfigured, match="newer Mycel"):
                put(store)
        assert store.log.last_sequence() == 1
        with pytest.raises(Misconfigured, match="newer Mycel"), node():
            pass
        upgraded(oldest_writer=upgradable)
        put(store)
