"""Whatever dies between a caller and Postgres: nothing acknowledged is lost, nothing is stored or told twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import mycel
from mycel.errors import Unavailable
from mycel.stores.postgres import connection_pool
from mycel.stores.postgres.connection_pool import ServerConnection
from tests.reliability.keyed_writer import THREADS, save_on
from tests.reliability.outage import KillableServer, Network
from tests.service_process import eventually

ROOT = Path(__file__).parents[2]
TEAM = "builders"
BACK_SECONDS = 5.0


@pytest.fixture(scope="module")
def server() -> Iterator[KillableServer]:
    started = KillableServer()
    yield started
    started.stop()


@pytest.fixture(autouse=True)
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MYCEL_DATABASE_LOGIN", "trusted")


class Load:
    """Writers of one node, and what they were told."""

    def __init__(self, memory: mycel.TeamMemory) -> None:
        self.told: dict[str, str] = {}
        self._ended = threading.Event()
        self._failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._write, args=(memory, f"w{n}")) for n in range(THREADS)]
        for thread in self._threads:
            thread.start()

    def _write(self, memory: mycel.TeamMemory, name: str) -> None:
        try:
            save_on(memory, self._note, name, self._ended.is_set)
        except BaseException as error:  # noqa: BLE001 - looked at in the end
            self._failures.append(error)

    def _note(self, key: str, id: str) -> None:
        assert key not in self.told
        self.told[key] = id

    def go_on_for(self, seconds: float) -> float:
        """From when something was stored once more; returns how long that took."""
        before, began_at = len(self.told), time.monotonic()
        eventually(lambda: len(self.told) > before, seconds=60)
        took = time.monotonic() - began_at
        time.sleep(seconds)
        return took

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)
        assert self._failures == []


class Subscriber:
    """Follows on another node, and goes on where it was when it is turned away."""

    def __init__(self, memory: mycel.TeamMemory) -> None:
        self.heard: list[int] = []
        self._memory = memory
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while True:
            try:
                for change in self._memory.changes(after=self.heard[-1] if self.heard else 0, follow=True):
                    self.heard.append(change.sequence)
            except Unavailable as error:
                if "closed" in str(error):
                    return
                time.sleep(0.05)


@contextmanager
def nodes(url: str, other: str) -> Iterator[tuple[Load, Subscriber, mycel.Workspace]]:
    with mycel.open(other) as elsewhere, mycel.open(url) as workspace:
        workspace.add_team(TEAM)
        load, subscriber = Load(workspace.as_operator(TEAM)), Subscriber(elsewhere.as_operator(TEAM))
        try:
            yield load, subscriber, elsewhere
        finally:
            load.end()


def check(told: dict[str, str], subscriber: Subscriber, workspace: mycel.Workspace, *, unfinished: int = 0) -> None:
    memory = workspace.as_operator(TEAM)
    stored = {one.id: one.content for one in everything(memory)}
    assert {id: f"memory {key}" for key, id in told.items()}.items() <= stored.items(), "acknowledged and lost"
    assert len(set(stored.values())) == len(stored), "stored twice"
    assert len(stored) <= len(told) + unfinished
    last = [change.sequence for change in memory.changes()][-1]
    assert last == len(stored)
    eventually(lambda: bool(subscriber.heard) and subscriber.heard[-1] == last, seconds=60)
    assert subscriber.heard == list(range(1, last + 1))
    assert workspace.check() == {}
    sys.stdout.write(f"{len(told)} acknowledged, none lost or doubled, {last} changes told once\n")


def assert_back(seconds: float) -> None:
    sys.stdout.write(f"back after {seconds:.2f} s\n")
    assert seconds < BACK_SECONDS


def everything(memory: mycel.TeamMemory) -> Iterator[mycel.Memory]:
    cursor: str | None = None
    while True:
        page = memory.list(limit=100, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def times(few: int, many: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rounds", [few, pytest.param(many, marks=pytest.mark.proof)])


@times(1, 3)
def test_a_killed_server_loses_nothing_it_acknowledged(server: KillableServer, rounds: int) -> None:
    url = server.url(server.new_database())
    with nodes(url, url) as (load, subscriber, elsewhere):
        for _ in range(rounds):
            load.go_on_for(random.uniform(0.2, 0.5))
            server.kill()
            with pytest.raises(Unavailable) as refused:
                elsewhere.as_operator(TEAM).recent()
            assert refused.value.retry_after <= BACK_SECONDS
            server.start()
            assert_back(load.go_on_for(0.1))
        load.end()
        check(load.told, subscriber, elsewhere)


@times(1, 3)
def test_a_killed_node_loses_nothing_it_acknowledged_and_holds_nobody_up(
    server: KillableServer, tmp_path: Path, rounds: int
) -> None:
    url = server.url(server.new_database())
    killed: dict[str, str] = {}
    with nodes(url, url) as (load, subscriber, elsewhere):
        for round in range(rounds):
            notes = tmp_path / f"notes{round}"
            command = [sys.executable, "-m", "tests.reliability.keyed_writer", url, str(notes), TEAM]
            process = subprocess.Popen(command, cwd=ROOT)
            eventually(lambda: notes.exists() and notes.stat().st_size > 1000, seconds=60)  # noqa: B023 - at once
            time.sleep(random.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            assert_back(load.go_on_for(0.1))
            complete = [line for line in notes.read_text().splitlines(keepends=True) if line.endswith("\n")]
            killed |= dict(map(json.loads, complete))
        load.end()
        check(load.told | killed, subscriber, elsewhere, unfinished=rounds * THREADS)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("silent", 1.0), *(pytest.param(kind, 20.0, marks=pytest.mark.proof) for kind in ("reset", "silent"))],
)
def test_a_network_cut_to_the_database_loses_nothing_and_ends_by_itself(
    server: KillableServer, kind: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seconds < connection_pool.ANSWER_SECONDS:
        monkeypatch.setattr(connection_pool, "ANSWER_SECONDS", 2 * seconds)
    network, database = Network(server.socket), server.new_database()
    with closing(network), nodes(network.url(database), server.url(database)) as (load, subscriber, elsewhere):
        try:
            load.go_on_for(0.3)
            network.cut(kind)
            stored = len(load.told)
            # The one that is cut off holds the others up for a moment at most.
            elsewhere.as_operator(TEAM).save("memory of the other node")
            time.sleep(seconds)
            assert len(load.told) <= stored + THREADS
        finally:
            network.mend()
        assert_back(load.go_on_for(0.3))
        load.end()
        check(load.told, subscriber, elsewhere, unfinished=1)


# What one node does when it is cut off, and what another would do then.
CUT_OFF: dict[str, tuple[Callable[[mycel.Workspace], object], Callable[[mycel.Workspace], object]]] = {
    "a save": (lambda node: node.as_operator(TEAM).save("one"), lambda node: node.as_operator(TEAM).save("other")),
    "a note of who has read what": (
        lambda node: node.as_member("swe-1").get(node.as_member("swe-1").recent()[0].id),
        lambda node: node.as_operator(TEAM).save("other"),
    ),
    "a change of the organisation": (lambda node: node.add_team("one"), lambda node: node.add_team("other")),
}


@pytest.mark.parametrize("what", CUT_OFF)
def test_a_node_cut_off_between_two_statements_holds_the_others_up_for_a_moment_at_most(
    server: KillableServer, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has neither the next statement nor word that there is none, which it would count the time from."""
    monkeypatch.setattr(connection_pool, "ANSWER_SECONDS", 4.0)
    network, database = Network(server.socket), server.new_database()
    is_cut, is_over = threading.Event(), threading.Event()
    execute = ServerConnection.execute

    def cut_before_commit(self: ServerConnection, query: Any, *args: Any, **options: Any) -> Any:
        if query != "COMMIT" or self.info.port != network.port:
            return execute(self, query, *args, **options)
        eventually(lambda: server.waits_for_more(database))
        network.cut("silent")
        is_cut.set()
        is_over.wait()
        self.close()
        raise psycopg.OperationalError

    one, other = CUT_OFF[what]
    with closing(network), mycel.open(server.url(database)) as elsewhere, mycel.open(network.url(database)) as node:
        elsewhere.add_team(TEAM)
        elsewhere.add_member("swe-1", team=TEAM, role="agent")
        elsewhere.as_operator(TEAM).save("before")
        monkeypatch.setattr(ServerConnection, "execute", cut_before_commit)
        begun = threading.Thread(target=_refused, args=(one, node))
        begun.start()
        try:
            assert is_cut.wait(60)
            other(elsewhere)
        finally:
            monkeypatch.setattr(ServerConnection, "execute", execute)
            network.mend()
            is_over.set()
            begun.join()


def _refused(call: Callable[[mycel.Workspace], object], node: mycel.Workspace) -> None:
    with suppress(Unavailable):
        call(node)


@pytest.mark.proof
def test_a_call_into_silence_ends_and_says_when_to_come_back(
    server: KillableServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_pool, "ANSWER_SECONDS", 0.5)
    network, database = Network(server.socket), server.new_database()
    with closing(network), mycel.open(network.url(database)) as workspace:
        memory = workspace.as_member("operator")
        memory.save("before")
        network.cut("silent")
        calls: list[Callable[[], object]] = [memory.recent, lambda: memory.save("meanwhile")]
        for call in calls:
            began_at = time.monotonic()
            with pytest.raises(Unavailable) as refused:
                call()
            assert refused.value.retry_after > 0
            assert time.monotonic() - began_at < 2 * BACK_SECONDS
        network.mend()
        memory.save("after")
