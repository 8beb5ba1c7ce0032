"""Many more teams than stores that may be open: nothing is lost, and nobody waits for ever."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from mycel.app import open_workspace
from mycel.contracts.clock import SystemClock
from mycel.domain.ids import TeamName
from mycel.embedded.workspace import Workspace
from mycel.errors import Unavailable
from mycel.settings import Settings
from mycel.stores.sqlite import pool as store_pool
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import SqliteStores
from tests.reliability.inspection import find_damage, team_file

TEAMS = [f"team{number}" for number in range(50)]
THREADS = 24


def limited(data: Path, *, stores: int) -> Workspace:
    workspace = open_workspace(settings=Settings(data=data, max_open_stores=stores, embedder="none"))
    for team in TEAMS:
        workspace.add_team(team)
    return workspace


def write_and_read(workspace: Workspace, *, seed: int, steps: int) -> list[tuple[str, str]]:
    random = Random(seed)
    acknowledged: list[tuple[str, str]] = []
    for step in range(steps):
        team = random.choice(TEAMS)
        memory = workspace.as_operator(team)
        saved = memory.save(f"step {step} of {seed} in {team}")
        acknowledged.append((team, saved.id))
        if step % 5 == 0:
            known_team, known_id = random.choice(acknowledged)
            workspace.as_operator(known_team).get(known_id)
            memory.search(f"step {step}")
    return acknowledged


@pytest.mark.parametrize("stores", [1, 8])
def test_fifty_teams_are_written_at_once_through_a_few_open_stores(tmp_path: Path, stores: int) -> None:
    steps = 2 if stores == 1 else 6
    with limited(tmp_path, stores=stores) as workspace:
        with ThreadPoolExecutor(THREADS) as pool:
            done = list(pool.map(lambda seed: write_and_read(workspace, seed=seed, steps=steps), range(THREADS)))
        acknowledged = [entry for entries in done for entry in entries]
        assert len(acknowledged) == THREADS * steps
        for team, id in acknowledged:
            assert workspace.as_operator(team).get(id).team == team
        counts = Counter(team for team, _ in acknowledged)
        assert {team: workspace.as_operator(team).stats().memories for team in counts} == counts
        assert workspace.check() == {}
    assert all(find_damage(team_file(tmp_path, team)) == [] for team in counts)


def test_never_more_stores_are_open_than_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_now, most, lock = set[object](), [0], threading.Lock()

    class CountedStore(store_pool.SqliteStore):
        def __init__(self, *arguments: object, **more: object) -> None:
            super().__init__(*arguments, **more)
            with lock:
                open_now.add(self)
                most[0] = max(most[0], len(open_now))

        def close(self) -> None:
            super().close()
            with lock:
                open_now.discard(self)

    monkeypatch.setattr(store_pool, "SqliteStore", CountedStore)
    with limited(tmp_path, stores=8) as workspace, ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda seed: write_and_read(workspace, seed=seed, steps=5), range(THREADS)))
    assert most[0] == 8
    assert open_now == set()


def test_a_caller_that_waits_for_a_store_gets_it_when_another_is_given_back(tmp_path: Path) -> None:
    stores = SqliteStores(tmp_path, clock=SystemClock(), disk=Disk(), limit=2)
    got = threading.Semaphore(0)

    def take(team: str) -> None:
        with stores.lease(TeamName(team)):
            got.release()
            wait.wait(10)

    wait = threading.Event()
    with stores.lease(TeamName("a")), stores.lease(TeamName("b")):
        waiting = [threading.Thread(target=take, args=(team,)) for team in ("c", "c", "d")]
        for thread in waiting:
            thread.start()
        assert not got.acquire(timeout=0.1)
    try:
        # Two are free now: both callers of c share one store and d has the other.
        assert [got.acquire(timeout=3) for _ in range(3)] == [True, True, True]
    finally:
        wait.set()
        for thread in waiting:
            thread.join()
        stores.close()


def test_whoever_has_a_store_never_waits_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_pool, "WAIT_SECONDS", 0.2)
    stores = SqliteStores(tmp_path, clock=SystemClock(), disk=Disk(), limit=1)
    both_hold_one = threading.Barrier(2)

    def take(first: str, second: str) -> bool:
        with stores.lease(TeamName(first)), stores.lease(TeamName(f"{first}-child")):
            both_hold_one.wait(5)
            with stores.lease(TeamName(second)) as store:
                return store.log.last_sequence() == 0

    try:
        with stores.lease(TeamName("a")), stores.lease(TeamName("b")), ThreadPoolExecutor(2) as pool:
            # Whoever has none still waits, as long as the limit is reached.
            waiting = pool.submit(lambda: stores.lease(TeamName("c")).__enter__())
            assert isinstance(waiting.exception(), Unavailable)
        monkeypatch.setattr(store_pool, "WAIT_SECONDS", 5.0)
        with ThreadPoolExecutor(2) as pool:
            done = [pool.submit(take, "a", "a"), pool.submit(take, "a", "b")]
            assert [one.result() for one in done] == [True, True]
    finally:
        stores.close()


def test_what_is_open_beyond_the_limit_is_closed_when_it_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    class WatchedStore(store_pool.SqliteStore):
        def close(self) -> None:
            closed.append(self.team)
            super().close()

    monkeypatch.setattr(store_pool, "SqliteStore", WatchedStore)
    stores = SqliteStores(tmp_path, clock=SystemClock(), disk=Disk(), limit=1)
    with stores.lease(TeamName("a")):
        with stores.lease(TeamName("b")):
            pass
        assert closed == ["b"]
    assert closed == ["b"]
    stores.close()
