"""Postgres keeps every promise of a store."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import MemoryId, TeamName, new_id
from mycel.stores.postgres.store import PostgresStore
from mycel.testing.clock import ManualClock
from mycel.testing.store_conformance import StoreConformance
from mycel.testing.store_samples import TEAM, insert, listed, put, reader, sample
from tests.postgres import LOGIN, database, emptied, server


class TestPostgresStore(StoreConformance):
    @pytest.fixture
    def store(self, clock: ManualClock) -> Iterator[Store]:
        with closing(PostgresStore(emptied(), team=TEAM, clock=clock)) as store:
            yield store

    @pytest.fixture
    def second(self, store: Store, clock: ManualClock) -> Iterator[Store]:
        with closing(PostgresStore(database(), team=TEAM, clock=clock)) as store:
            yield store


def end_connections() -> None:
    """As a server that is started anew would."""
    with psycopg.connect(server().admin, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (LOGIN,))


def test_what_the_server_ended_is_connected_again_unnoticed() -> None:
    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        first = put(store)
        end_connections()
        assert store.memories.find(reader(), first.id) == first
        end_connections()
        second = put(store)
        assert listed(store) == {first.id, second.id}
        assert store.log.last_sequence() == 2


def test_work_whose_connection_is_lost_is_begun_again_and_stored_once() -> None:
    tries: list[int] = []

    def work(transaction: Transaction) -> None:
        tries.append(1)
        insert(transaction, sample(at=transaction.committed_at))
        if len(tries) == 1:
            end_connections()
            transaction.memories.find(reader(), MemoryId(new_id()))

    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        store.transact(work)
        assert len(tries) == 2
        assert len(listed(store)) == 1
        assert store.log.last_sequence() == 1


def test_writers_of_one_team_hold_up_neither_another_nor_claims_of_other_nodes() -> None:
    inside, done = threading.Event(), threading.Event()

    def slow(transaction: Transaction) -> None:
        insert(transaction, sample(at=transaction.committed_at))
        inside.set()
        assert done.wait(10)

    one = PostgresStore(emptied(), team=TEAM, clock=ManualClock())
    elsewhere = PostgresStore(database(), team=TEAM, clock=ManualClock())
    other = PostgresStore(database(), team=TeamName("other"), clock=ManualClock())
    with closing(one), closing(elsewhere), closing(other), ThreadPoolExecutor(1) as pool:
        holding = pool.submit(one.transact, slow)
        assert inside.wait(10)
        put(other, team=TeamName("other"))
        assert elsewhere.transact(lambda transaction: transaction.queue.claim(lease="w", until=transaction.now)) is None
        done.set()
        holding.result()
