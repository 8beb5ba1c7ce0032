"""`kill -9` of the service at any moment, under load: its clients lose nothing, repeat nothing, and miss nothing."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import mycel
from tests.patience import PATIENCE_SECONDS
from tests.reliability.http_writer_process import CAREFUL, CARELESS
from tests.reliability.inspection import damage_of
from tests.service_process import Service, connected, eventually

pytestmark = pytest.mark.each_database

ROOT = Path(__file__).parents[2]
TEAM, MEMBER = "builders", "swe-1"
WRITERS = 8
FIRST_ANSWER_SECONDS = 2.0


class Load:
    """The writers of one service, whatever its process is at the moment."""

    def __init__(self, folder: Path, *, url: str, token: str, care: str) -> None:
        self.notes, self._stop = folder / "notes", folder / "stop"
        self.url, self.token = url, token
        arguments = [url, token, self.notes, self._stop, WRITERS, care]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.http_writer_process", *map(str, arguments)], cwd=ROOT
        )

    def noted(self, what: str) -> list[list[Any]]:
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [note[1:] for note in map(json.loads, lines) if note[0] == what]

    def go_on_for(self, seconds: float) -> None:
        """From when they have written something once more."""
        before = len(self.noted("saved"))
        eventually(lambda: len(self.noted("saved")) > before + WRITERS, seconds=60)
        time.sleep(seconds)

    def end(self) -> None:
        self._stop.touch()
        assert self.process.wait(60) == 0
        assert self.noted("failed") == []


def start(data: Path, *, port: int = 0) -> Service:
    return Service(data, "--port", str(port))


def killed_and_started_again(running: Service, load: Load) -> tuple[Service, float]:
    """On the port that its clients know, and how long they waited for the first answer at least."""
    running.process.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    began_at = time.monotonic()
    again = started_again(running)
    with mycel.connect(load.url, token=load.token) as client:
        client.me().recent()
    return again, time.monotonic() - began_at


def started_again(running: Service) -> Service:
    again = start(running.data, port=int(running.url.rpartition(":")[2]))
    assert again.url == running.url
    return again


def check(load: Load, data: Path) -> None:
    told: dict[str, tuple[int, str]] = {}
    for id, version, content in load.noted("saved"):
        told[id] = max(told.get(id, (0, "")), (version, content))
    with mycel.open(data) as workspace:
        memory = workspace.as_operator(TEAM)
        assert {one.id: (one.version, one.content) for one in everything(memory)} == told
        last = [change.sequence for change in memory.changes()][-1]
        assert workspace.check() == {}
    assert doubled(data) == []
    # Those who follow were told of each change once, in order, whatever became of their connection.
    assert load.noted("followed") == [[list(range(1, last + 1))]] * len(load.url.split())
    assert damage_of(data, TEAM) == []
    sys.stdout.write(f"{len(load.noted('saved'))} acknowledged, none lost or doubled, {last} changes told once\n")


def doubled(data: Path) -> list[str]:
    """The keys, which stand in the texts, of what was said once and stored more often."""
    with mycel.open(data) as workspace:
        times = Counter(one.content.rpartition(" ")[2] for one in everything(workspace.as_operator(TEAM)))
    return [key for key, number in times.items() if number > 1]


def everything(memory: Any) -> list[Any]:
    page = memory.list(limit=1000, path="/notes")
    found = [*page]
    while page.next_cursor is not None:
        page = memory.list(limit=1000, path="/notes", cursor=page.next_cursor)
        found += page
    return found


def kill_again_and_again(folder: Path, *, rounds: int, care: str = CAREFUL) -> tuple[Load, list[float]]:
    data, chance = folder / "data", random.Random()
    running = start(data)
    waits: list[float] = []
    load: Load | None = None
    try:
        with connected(running) as workspace:
            workspace.add_team(TEAM)
            workspace.add_member(MEMBER, team=TEAM)
            load = Load(folder, url=running.url, token=workspace.issue_token(MEMBER), care=care)
        for _ in range(rounds):
            load.go_on_for(chance.uniform(0.0, 0.7))
            running, waited = killed_and_started_again(running, load)
            waits.append(waited)
        load.go_on_for(0.0)
        load.end()
        assert running.stop() == 0
    finally:
        running.kill()
        if load is not None:
            load.process.kill()
            load.process.wait()
    return load, waits


def test_a_service_killed_under_load_loses_and_doubles_nothing(tmp_path: Path, database: str) -> None:
    load, waits = kill_again_and_again(tmp_path, rounds=2)
    check(load, tmp_path / "data")
    # Thirty kills tell how soon; two on a busy machine, that it does not hang.
    assert max(waits) < PATIENCE_SECONDS


@pytest.mark.proof
@pytest.mark.timeout(1200)
def test_a_service_killed_thirty_times_under_load_loses_and_doubles_nothing(tmp_path: Path, database: str) -> None:
    load, waits = kill_again_and_again(tmp_path, rounds=30)
    check(load, tmp_path / "data")
    waits.sort()
    sys.stdout.write(f"first answer after a kill: median {waits[15]:.2f} s, longest {waits[-1]:.2f} s\n")
    assert waits[15] < FIRST_ANSWER_SECONDS


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_without_keys_the_same_load_would_double_what_it_says(tmp_path: Path) -> None:
    """The control: these kills do hit writes that are stored and not yet acknowledged."""
    kill_again_and_again(tmp_path, rounds=20, care=CARELESS)
    assert doubled(tmp_path / "data")
