"""What every store promises to several threads and clients at once, and when things go wrong in between."""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from mycel.contracts.memory_store import Rating, Request
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import MemoryId, RecallId, new_id
from mycel.domain.memory import Memory
from mycel.domain.query import Filters
from mycel.domain.recall import Recall
from mycel.errors import Conflict
from mycel.testing.clock import ManualClock
from mycel.testing.store_samples import (
    AUTHOR,
    EVERY_CHANGE,
    EVERYTHING,
    NEWEST,
    START,
    TEAMMATE,
    change,
    insert,
    listed,
    purge,
    put,
    reader,
    sample,
)

ResultT = TypeVar("ResultT")

# Stored within a second is the promise; the rest is for a slow machine.
SOON_SECONDS = 3.0


class StoreRacing:
    """Needs the fixtures `store`, `second` (another client of the same store) and `clock`."""

    def test_one_client_sees_what_another_wrote(self, store: Store, second: Store) -> None:
        memory = put(store)
        assert second.memories.find(reader(), memory.id) == memory
        later = change(second, memory.id, content="changed")
        assert store.memories.find(reader(), memory.id) == later

    def test_a_raised_error_stores_nothing(self, store: Store) -> None:
        def work(transaction: Transaction) -> None:
            memory = sample(at=transaction.committed_at)
            insert(transaction, memory)
            raise ValueError("changed my mind")

        with pytest.raises(ValueError, match="changed my mind"):
            store.transact(work)
        assert listed(store) == set()
        assert store.log.last_sequence() == 0
        put(store)
        assert store.log.last_sequence() == 1

    def test_an_error_in_one_operation_leaves_its_neighbours_alone(self, store: Store) -> None:
        standing = put(store, "standing", key="k")
        started = threading.Event()

        def slow(transaction: Transaction) -> None:
            started.set()
            time.sleep(0.2)

        def colliding(transaction: Transaction) -> None:
            good = sample("half of it", at=transaction.committed_at)
            insert(transaction, good)
            bad = sample("the other half", at=transaction.committed_at, key="k")
            insert(transaction, bad)

        with ThreadPoolExecutor(12) as pool:
            first = pool.submit(store.transact, slow)
            started.wait()
            # These gather behind the slow one and are likely to share one commit.
            kept = [pool.submit(put, store, f"kept {index}") for index in range(5)]
            refused = [pool.submit(store.transact, colliding) for _ in range(3)]
            kept += [pool.submit(put, store, f"kept too {index}") for index in range(3)]
            first.result()
            stored = {future.result().id for future in kept}
            assert [type(future.exception()) for future in refused] == [Conflict] * 3
        assert listed(store) == {standing.id} | stored
        found, _ = store.log.changes(reader(), after=0, wanted=EVERY_CHANGE, limit=100)
        assert [entry.sequence for entry in found] == list(range(1, 10))

    def test_readers_never_see_half_a_transaction(self, store: Store, second: Store) -> None:
        accounts = [put(store, "account", metadata={"amount": 50}) for _ in range(2)]
        stop = threading.Event()

        def move(amount: int) -> None:
            def work(transaction: Transaction) -> None:
                for account, step in zip(accounts, (amount, -amount), strict=True):
                    before = transaction.memories.get(EVERYTHING, account.id)
                    moved = {"amount": before.metadata["amount"] + step}
                    after = replace(before, version=before.version + 1, metadata=moved)
                    transaction.memories.replace(before, after, by=AUTHOR)

            store.transact(work)

        def write() -> None:
            for index in range(60):
                move(1 if index % 3 else -2)
            stop.set()

        def read(client: Store) -> set[int]:
            sums: set[int] = set()
            while not stop.is_set():
                page = client.memories.page(reader(), Filters(), order=NEWEST, limit=9)
                sums.add(sum(memory.metadata["amount"] for memory in page))
            return sums

        with ThreadPoolExecutor(5) as pool:
            readers = [pool.submit(read, client) for client in (store, second, store, second)]
            pool.submit(write).result()
            assert [future.result() for future in readers] == [{100}] * 4

    def test_of_two_writers_with_the_same_version_exactly_one_is_refused(self, store: Store, second: Store) -> None:
        for attempt in range(10):
            memory = put(store, f"attempt {attempt}")

            def compare_and_set(client: Store, memory: Memory = memory) -> None:
                def work(transaction: Transaction) -> None:
                    before = transaction.memories.get(reader(), memory.id)
                    if before.version != memory.version:
                        raise Conflict("moved on")
                    after = replace(before, version=before.version + 1, content="won")
                    transaction.memories.replace(before, after, by=AUTHOR)

                client.transact(work)

            futures = together([lambda: compare_and_set(store), lambda: compare_and_set(second)])
            outcomes = [type(future.exception()) for future in futures]
            assert sorted(outcomes, key=str) == sorted([Conflict, type(None)], key=str)
            assert len(store.memories.versions(reader(), memory.id)) == 2

    def test_a_retry_raced_from_many_threads_stores_one_record(self, store: Store, second: Store) -> None:
        def save(client: Store) -> MemoryId:
            memory_id = MemoryId(new_id())

            def work(transaction: Transaction) -> MemoryId:
                known = transaction.requests.find(AUTHOR, "save", "the-key")
                if known is not None:
                    return known.memory_id
                memory = sample(at=transaction.committed_at, id=memory_id)
                insert(transaction, memory)
                transaction.requests.remember(Request(AUTHOR, "save", "the-key", "hash", memory_id, 1))
                return memory_id

            return client.transact(work)

        futures = together([lambda client=client: save(client) for client in (store, second) * 4])
        assert {future.result() for future in futures} == listed(store)
        assert store.log.last_sequence() == 1

    def test_many_writers_of_two_clients_make_one_gapless_log(self, store: Store, second: Store) -> None:
        def save_fifty(client: Store, name: int) -> list[MemoryId]:
            return [put(client, f"writer {name} note {index}").id for index in range(50)]

        clients = (store, second) * 4
        futures = together(
            [lambda name=name, client=client: save_fifty(client, name) for name, client in enumerate(clients)]
        )
        saved = [id for future in futures for id in future.result()]
        found, reached = store.log.changes(reader(), after=0, wanted=EVERY_CHANGE, limit=1000)
        assert [entry.sequence for entry in found] == list(range(1, 401))
        assert reached == 400
        assert sorted(entry.memory_id for entry in found) == sorted(saved)
        moments = [entry.committed_at for entry in found]
        assert moments == sorted(moments)
        assert len(listed(second)) == 400
        assert store.files.check() == []

    def test_time_goes_forward_though_the_clock_steps_back(
        self, store: Store, second: Store, clock: ManualClock
    ) -> None:
        moments = [put(store).created_at]
        clock.move(timedelta(days=-3))
        moments += [put(client).created_at for client in (store, second, store)]
        clock.move(timedelta(days=4))
        moments.append(put(second).created_at)
        assert moments == sorted(set(moments))
        found, _ = store.log.changes(reader(), after=0, wanted=EVERY_CHANGE, limit=9)
        assert [entry.committed_at for entry in found] == moments

    def test_versions_stay_in_order_though_the_clock_steps_back(self, store: Store, clock: ManualClock) -> None:
        memory = put(store, "one")
        clock.move(timedelta(days=-3))
        later = change(store, memory.id, content="two")
        versions = store.memories.versions(reader(), memory.id)
        assert versions[0].believed_from < versions[1].believed_from == versions[0].believed_until
        assert store.memories.find_as_of(reader(), memory.id, later.updated_at) == later

    def test_counters_are_stored_soon_and_add_up(self, store: Store, second: Store) -> None:
        memory = put(store)
        for client in (store, second):
            client.recalls.count_access([memory.id], by=TEAMMATE, at=START)
            client.recalls.count_access([memory.id, MemoryId(new_id())], by=TEAMMATE, at=START)
        soon(lambda: store.memories.usage(reader(), memory.id).access_count == 4)
        assert store.memories.usage(reader(), memory.id).last_accessed_at == START
        assert len(store.memories.versions(reader(), memory.id)) == 1

    def test_counters_and_recalls_of_what_is_purged_meanwhile_are_dropped(self, store: Store) -> None:
        memory = put(store)
        store.recalls.count_access([memory.id], by=TEAMMATE, at=START)
        store.recalls.log(Recall(id=RecallId(new_id()), query="node", hits=()), request={}, by=AUTHOR, at=START)
        purge(store, memory.id)
        time.sleep(0.8)
        assert store.memories.usage(EVERYTHING, memory.id).access_count == 0
        assert store.files.check() == []

    def test_a_later_rating_takes_the_place_of_an_earlier_one(self, store: Store) -> None:
        memory = put(store)
        for useful in (True, False):
            rating = Rating(memory.id, AUTHOR, useful, None)
            store.transact(lambda transaction, rating=rating: transaction.memories.rate(rating))
        assert store.log.last_sequence() == 1

    def test_waiting_ends_with_a_write_of_any_client(self, store: Store, second: Store) -> None:
        put(store)
        for writer in (store, second):
            after = store.log.last_sequence()
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(store.log.wait, after=after, timeout=10.0)
                time.sleep(0.1)
                began = time.monotonic()
                put(writer)
                assert waiting.result() is True
            assert time.monotonic() - began < SOON_SECONDS

    def test_waiting_ends_when_the_time_is_up(self, store: Store) -> None:
        put(store)
        assert store.log.wait(after=1, timeout=0.05) is False
        assert store.log.wait(after=0, timeout=0.05) is True

    def test_a_busy_store_finds_nothing_wrong_with_itself(self, store: Store) -> None:
        for index in range(20):
            memory = put(store, f"note {index}", tags=("a", "b"))
            if index % 2:
                change(store, memory.id, content="changed", tags=())
            if index % 5 == 0:
                purge(store, memory.id)
        assert store.files.check() == []


def together(calls: list[Callable[[], ResultT]]) -> list[Future[ResultT]]:
    """Starts all calls at the same moment and waits for them."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], ResultT]) -> ResultT:
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [pool.submit(run, call) for call in calls]


def soon(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "not within a few seconds"
        time.sleep(0.02)
