"""Postgres keeps every promise of a store."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, cast

import numpy as np
import psycopg
import pytest

from mycel.contracts.search_store import IndexQuery
from mycel.contracts.store import Store, Transaction
from mycel.domain.ids import MemoryId, TeamName, new_id
from mycel.domain.memory import Memory, MemoryType
from mycel.domain.query import Filters
from mycel.errors import NotFound
from mycel.stores.postgres import connection_pool, vector_scan, word_search
from mycel.stores.postgres.connection import PostgresConnection, in_bytes
from mycel.stores.postgres.index import PostgresIndex
from mycel.stores.postgres.search_clauses import search_clauses
from mycel.stores.postgres.store import MOST_UNLOCKED, PostgresStore
from mycel.stores.postgres.transaction import PostgresTransaction
from mycel.stores.sql.part import OneConnection
from mycel.testing.clock import ManualClock
from mycel.testing.store_conformance import StoreConformance
from mycel.testing.store_samples import AUTHOR, TEAM, insert, listed, put, reader, sample
from tests.patience import PATIENCE_SECONDS
from tests.postgres import LOGIN, database, emptied, server
from tests.service_process import eventually


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


def test_a_server_that_has_become_a_standby_is_left_for_its_successor_unnoticed() -> None:
    """Connections from before lead to it; new ones are let in by the successor."""
    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        first = put(store)
        before = [raw for _, raw in database()._pool._idle]
        for raw in before:
            raw.execute("SET default_transaction_read_only = on")
        second = put(store)
        assert listed(store) == {first.id, second.id}
        assert before
        assert all(raw.closed for raw in before)


def test_a_statement_of_many_megabytes_is_sent_to_its_end() -> None:
    """More than a socket takes in at once: the rest must not wait for an answer that waits for it."""
    # So long a value is no text of a memory, but of a captured session.
    text = "heron " * 2_000_000

    def length(connection: PostgresConnection) -> tuple[int, int]:
        given = connection.execute("SELECT length(?)", (text,))
        beside = connection.execute("SELECT 1")
        return given.fetchone()[0], beside.fetchone()[0]

    for run in (emptied().read, database().write):
        assert run(TEAM, length) == (len(text), 1)


def test_a_list_is_looked_up_row_by_row_although_nothing_is_known_of_the_table_yet() -> None:
    """Before its first ANALYZE the planner takes any team for a few rows, and would read all of it for a list."""
    size, few = 2_000, 20
    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        store.transact(lambda work: [insert(work, sample(at=work.committed_at)) for _ in range(size)])
        ids = list(listed(store))[:few]
    if database().read_at_one_moment(TEAM, _is_analysed):
        pytest.skip("the server has analysed the table by itself")

    def rows_read(connection: PostgresConnection) -> int:
        index = PostgresIndex(OneConnection(connection, ManualClock().now()), TEAM)
        before = _rows_read(connection)
        numbers = index.numbers(reader(), ids).values()
        found = index.load_with_signals(reader(), numbers, filters=Filters())
        assert len(found) == few
        return _rows_read(connection) - before

    assert database().read_at_one_moment(TEAM, rows_read) <= 4 * few


def _is_analysed(connection: PostgresConnection) -> bool:
    return connection.execute("SELECT reltuples >= 0 FROM pg_class WHERE relname = 'memories'").fetchone()[0]


def _rows_read(connection: PostgresConnection, table: str = "memories") -> int:
    """In this transaction."""
    sql = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = ?"
    return connection.execute(sql, (table,)).fetchone()[0]


def test_one_team_of_many_is_found_by_its_key() -> None:
    """What a save and a search read of `heads`, which has a row for every team."""
    read: list[int] = []

    def save(connection: PostgresConnection) -> None:
        transaction = PostgresTransaction(connection, team=TEAM, clock=ManualClock())
        insert(transaction, sample(at=transaction.committed_at))
        transaction.finish()
        read.append(_rows_read(connection, "heads"))

    def search(connection: PostgresConnection) -> None:
        index = PostgresIndex(OneConnection(connection, ManualClock().now()), TEAM)
        index.standing(reader(), ManualClock().now())
        index.word_statistics(reader(), ["heron"])
        read.append(_rows_read(connection, "heads"))

    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        put(store)
    with psycopg.connect(server().owner, autocommit=True) as owner:
        owner.execute("INSERT INTO mycel.heads (team_id) SELECT 'team-' || n FROM generate_series(1, 2000) n")
    database().write(TEAM, save)
    database().read_at_one_moment(TEAM, search)
    assert max(read) < 20


@pytest.mark.parametrize("few", [{"type": MemoryType.LESSON}, {"category": "convention"}], ids=str)
def test_a_few_of_a_kind_are_measured_without_reading_the_rest(few: dict[str, Any]) -> None:
    """What binds is compared with every task."""
    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        store.transact(lambda work: [insert(work, sample(at=work.committed_at)) for _ in range(2_000)])
        store.transact(lambda work: [insert(work, sample(at=work.committed_at, **few)) for _ in range(3)])
    with psycopg.connect(server().owner, autocommit=True) as owner:
        owner.execute("ANALYZE mycel.passages")
    clauses = search_clauses(reader(), Filters(types=(few["type"],)) if "type" in few else Filters(**few))

    def rows_read(connection: PostgresConnection) -> int:
        values = {**clauses.values, "vector": "[1,0]", "model": "none"}
        assert len(vector_scan.read(in_bytes(connection, vector_scan.of_all(clauses), values).fetchone()).numbers) == 3
        return _rows_read(connection, "passages")

    assert database().read_at_one_moment(TEAM, rows_read) <= 10


@pytest.mark.parametrize("left", [0, 1, 3])
def test_the_words_of_the_few_that_filters_leave_are_read_by_their_numbers(
    left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However common the words are, once that is known."""
    monkeypatch.setattr(word_search, "FINDING_ROWS", 20)
    monkeypatch.setattr(word_search, "MOST_UNCOUNTED", 20)
    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        store.transact(lambda work: [insert(work, sample("heron stork", at=work.committed_at)) for _ in range(300)])
        if left:
            store.transact(lambda work: [insert(work, _lesson(work)) for _ in range(left)])

    def search(connection: PostgresConnection) -> None:
        index = PostgresIndex(OneConnection(connection, ManualClock().now()), TEAM)
        query = IndexQuery(Filters(types=(MemoryType.LESSON,)), 10, ("heron", "crane"), vector=_AHEAD, model="none")
        index.candidates(reader(), query)
        for widely in ("_fetch_some", "_fetch_allowed"):
            monkeypatch.delattr(word_search.WordSearch, widely)
        found = index.candidates(reader(), query)
        assert len(found.numbers) == left
        assert (found.bm25 > 0).all()
        assert found.statistics.frequencies == {"heron": 300 + left, "crane": left}

    database().read_at_one_moment(TEAM, search)


_AHEAD = np.array([1.0, 0.0], np.float32)


def _lesson(work: Transaction) -> Memory:
    return sample("heron crane", at=work.committed_at, type=MemoryType.LESSON)


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


def test_what_reading_leaves_behind_is_counted_once_although_its_transaction_was_lost() -> None:
    clock = ManualClock()
    lock = "SELECT 1 FROM mycel.memory_usage WHERE memory_id = %s FOR UPDATE"
    with closing(PostgresStore(emptied(), team=TEAM, clock=clock)) as store:
        ids = sorted((put(store).id, put(store).id))
        store.recalls.count_access(ids, by=AUTHOR, at=clock.now())
    store = PostgresStore(database(), team=TEAM, clock=clock)
    with ThreadPoolExecutor(1) as pool, psycopg.connect(server().admin) as holding:
        # Whoever notices first that two wait for each other gives way.
        holding.execute("SET deadlock_timeout = '1min'")
        holding.execute(lock, (ids[1],))
        store.recalls.count_access(reversed(ids), by=AUTHOR, at=clock.now())
        closed = pool.submit(store.close)
        eventually(waits_for_a_lock)
        holding.execute(lock, (ids[0],))
        eventually(waits_for_a_lock)
        assert not closed.done()
        holding.rollback()
        closed.result()
    with closing(PostgresStore(database(), team=TEAM, clock=clock)) as store:
        numbers = store.index.numbers(reader(), ids).values()
        assert [one.access_count for one in store.index.signals(reader(), numbers).values()] == [2, 2]


def waits_for_a_lock() -> bool:
    with psycopg.connect(server().admin, autocommit=True) as admin:
        sql = "SELECT FROM pg_stat_activity WHERE usename = %s AND wait_event_type = 'Lock'"
        return admin.execute(sql, (LOGIN,)).fetchone() is not None


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


def together(store: PostgresStore, calls: Sequence[Callable[[Transaction], object]]) -> list[object]:
    """The outcomes, results or errors, of calls that the writer finds waiting all at once."""
    held, go = threading.Event(), threading.Event()

    def hold(_: Transaction) -> None:
        held.set()
        go.wait(PATIENCE_SECONDS)

    with ThreadPoolExecutor(len(calls) + 1) as pool:
        try:
            pool.submit(store.transact, hold)
            assert held.wait(PATIENCE_SECONDS)
            futures: list[Future[object]] = []
            for call in calls:
                futures.append(pool.submit(store.transact, call))
                eventually(lambda: len(store._writer._queue) == len(futures))
        finally:
            go.set()
        return [future.exception(PATIENCE_SECONDS) or future.result() for future in futures]


def keep_one(transaction: Transaction) -> None:
    insert(transaction, sample(at=transaction.committed_at))


def sequences(store: PostgresStore) -> list[int]:
    return [entry.change.sequence for entry, _ in store.log.read(after=0, limit=99)]


def writes(store: PostgresStore) -> int:
    return store._database.read(TEAM, lambda connection: connection.execute("SELECT writes FROM heads").fetchone()[0])


def test_callers_that_wait_together_share_one_commit() -> None:
    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        put(store)
        before = writes(store)
        together(store, [keep_one] * 12)
        assert writes(store) == before + 1
        assert store.log.last_sequence() == 13


def raises(transaction: Transaction) -> None:
    keep_one(transaction)
    transaction.queue.set_progress("lost", 1)
    raise NotFound("no such thing")


def is_refused(transaction: Transaction) -> None:
    keep_one(transaction)
    cast(PostgresTransaction, transaction).connection.execute("SELECT 1 / 0").fetchone()


def is_refused_unseen(transaction: Transaction) -> None:
    cast(PostgresTransaction, transaction).connection.execute("SELECT 1 / 0")


def is_refused_at_the_end(transaction: Transaction) -> None:
    twice = sample(at=transaction.committed_at)
    insert(transaction, twice)
    insert(transaction, twice)


@pytest.mark.parametrize("place", [0, 3, 6])
@pytest.mark.parametrize("fails", [raises, is_refused, is_refused_unseen, is_refused_at_the_end])
def test_one_write_that_fails_costs_those_beside_it_nothing(fails: Callable[[Transaction], None], place: int) -> None:
    def reads_then_keeps(transaction: Transaction) -> None:
        transaction.memories.find(reader(), MemoryId(new_id()))
        keep_one(transaction)

    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        put(store)
        calls: list[Callable[[Transaction], object]] = [keep_one, reads_then_keeps] * 3
        calls.insert(place, fails)
        outcomes = together(store, calls)
        assert [isinstance(outcome, Exception) for outcome in outcomes] == [call is fails for call in calls]
        assert len(listed(store)) == 7
        assert store.log.last_sequence() == 7
        assert store.queue.progress("lost") == 0


def test_a_team_that_nobody_writes_to_has_no_thread() -> None:
    with closing(PostgresStore(emptied(), team=TEAM, clock=ManualClock())) as store:
        for _ in range(2):
            put(store)
            assert store._writer.has_begun
            eventually(lambda: not store._writer.has_begun)


def test_a_node_that_is_cut_off_in_the_middle_of_a_write_holds_the_others_up_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its connection stays open at the server: nobody tells that the node is gone."""
    monkeypatch.setattr(connection_pool, "ANSWER_SECONDS", 2.0)
    inside, done = threading.Event(), threading.Event()

    def stops(transaction: Transaction) -> None:
        keep_one(transaction)
        transaction.memories.find(reader(), MemoryId(new_id()))
        inside.set()
        done.wait(PATIENCE_SECONDS)

    one = PostgresStore(emptied(), team=TEAM, clock=ManualClock())
    other = PostgresStore(database(), team=TEAM, clock=ManualClock())
    with closing(one), closing(other), ThreadPoolExecutor(1) as pool:
        stopped = pool.submit(one.transact, stops)
        assert inside.wait(PATIENCE_SECONDS)
        put(other)
        done.set()
        # Done anew: nothing was to be committed yet when the server ended it.
        stopped.result()
        assert other.log.last_sequence() == 2


def test_a_node_that_does_not_go_on_with_its_write_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one whose threads all want to run: it has begun, and the server has nothing from it yet."""
    monkeypatch.setattr(connection_pool, "ANSWER_SECONDS", 10 * PATIENCE_SECONDS)
    inside, done = threading.Event(), threading.Event()
    begun: list[int] = []

    def slow(transaction: Transaction) -> None:
        keep_one(transaction)
        begun.append(1)
        inside.set()
        assert done.wait(PATIENCE_SECONDS)

    one = PostgresStore(emptied(), team=TEAM, clock=ManualClock())
    other = PostgresStore(database(), team=TEAM, clock=ManualClock())
    with closing(one), closing(other), ThreadPoolExecutor(2) as pool:
        put(other)
        stopped = pool.submit(one.transact, slow)
        assert inside.wait(PATIENCE_SECONDS)
        meanwhile = pool.submit(put, other)
        try:
            meanwhile.result(PATIENCE_SECONDS)
        finally:
            done.set()
        stopped.result()
        # What it had begun went by how the team stood before the other's.
        assert len(begun) == 2
        assert sequences(one) == [1, 2, 3]


def test_a_write_that_is_overtaken_again_and_again_gets_its_turn() -> None:
    tries: list[int] = []
    one = PostgresStore(emptied(), team=TEAM, clock=ManualClock())
    other = PostgresStore(database(), team=TEAM, clock=ManualClock())
    with closing(one), closing(other), ThreadPoolExecutor(1) as pool:
        put(other)

        def overtaken(transaction: Transaction) -> None:
            keep_one(transaction)
            tries.append(1)
            if len(tries) <= MOST_UNLOCKED:
                pool.submit(put, other).result()

        one.transact(overtaken)
        assert len(tries) == MOST_UNLOCKED + 1
        assert len(listed(one)) == 2 + MOST_UNLOCKED
        assert sequences(one) == list(range(1, 3 + MOST_UNLOCKED))


def test_a_transaction_that_the_server_has_ended_before_its_commit_is_done_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What has become of it is known: nobody is told that it may or may not be stored."""
    monkeypatch.setattr(connection_pool, "ANSWER_SECONDS", 1.0)
    begun: list[int] = []

    def work(connection: PostgresConnection) -> int:
        connection.execute("INSERT INTO heads DEFAULT VALUES")
        (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        begun.append(pid)
        if len(begun) == 1:
            eventually(lambda: not is_there(pid))
        return pid

    def is_there(pid: int) -> bool:
        sql = "SELECT 1 FROM pg_stat_activity WHERE pid = ?"
        return nodes.read(TEAM, lambda other: other.execute(sql, (pid,)).fetchone()) is not None

    nodes = emptied()
    assert nodes.write(TEAM, work) == begun[1]
    assert nodes.read(TEAM, lambda other: other.execute("SELECT count(*) FROM heads").fetchone()) == (1,)
