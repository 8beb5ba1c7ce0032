"""`kill -9` of one of two nodes on one Postgres, under load: clients go on with the other, and nothing is lost."""

from __future__ import annotations

import random
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS
from tests.postgres import another, as_url
from tests.reliability.http_writer_process import CAREFUL
from tests.reliability.test_service_kill import MEMBER, TEAM, Load, check, start, started_again
from tests.service_process import connected


@pytest.fixture(autouse=True)
def on_postgres(on_database: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_DATABASE_URL", as_url(another().service))


def kill_nodes_in_turn(folder: Path, *, rounds: int) -> tuple[Load, list[float]]:
    """How long it took after each kill until something was acknowledged that was begun after it."""
    nodes = [start(folder / f"node-{name}") for name in "ab"]
    waits: list[float] = []
    load: Load | None = None
    try:
        with connected(nodes[0]) as workspace:
            workspace.add_team(TEAM)
            token = workspace.issue_token(workspace.add_member(MEMBER, team=TEAM).id)
        load = Load(folder, url=" ".join(node.url for node in nodes), token=token, care=CAREFUL)
        for round in range(rounds):
            load.go_on_for(random.uniform(0.0, 0.7))
            killed = nodes[round % 2]
            killed.process.send_signal(signal.SIGKILL)
            assert killed.wait() == -signal.SIGKILL
            began_at = time.monotonic()
            load.go_on_for(0.0)
            waits.append(time.monotonic() - began_at)
            nodes[round % 2] = started_again(killed)
        load.go_on_for(0.0)
        load.end()
        assert [node.stop() for node in nodes] == [0, 0]
    finally:
        for node in nodes:
            node.kill()
        if load is not None:
            load.process.kill()
            load.process.wait()
    return load, waits


@pytest.mark.parametrize("rounds", [2, pytest.param(6, marks=pytest.mark.proof)])
def test_of_two_nodes_one_is_killed_under_load_and_the_other_goes_on(tmp_path: Path, rounds: int) -> None:
    load, waits = kill_nodes_in_turn(tmp_path, rounds=rounds)
    check(load, tmp_path / "node-a")
    sys.stdout.write(f"the other node went on after {max(waits):.2f} s at most\n")
    assert max(waits) < PATIENCE_SECONDS
