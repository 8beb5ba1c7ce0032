"""`kill -9` at any moment: what was acknowledged is there, and a half-made store is finished by the next one."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.errors import Misconfigured, NotFound
from tests.reliability.inspection import find_damage, team_file

ROOT = Path(__file__).parents[2]
TEAMS = ("builders", "sailors")
FIRST_ANSWER_SECONDS = 2.0


def start_writer(
    data: Path, notes: Path, *, threads: int, seconds: float, teams: tuple[str, ...] = TEAMS
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command("writer_process", data, notes, threads, seconds, *teams), cwd=ROOT)


def command(module: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", f"tests.reliability.{module}", *map(str, arguments)]


def acknowledged(*notes: Path) -> list[tuple[str, str, int]]:
    """Team, id and version; a line that the kill cut short was never finished, so nobody was told."""
    complete = [line for file in notes for line in file.read_text().splitlines(keepends=True) if line[-1] == "\n"]
    entries = [line.split() for line in complete if not line.startswith("FAILED")]
    return [(team, id, int(version)) for team, id, version in entries]


def failures(*notes: Path) -> list[str]:
    return [line for file in notes for line in file.read_text().splitlines() if line.startswith("FAILED")]


def wait_for(holds: Callable[[], bool], *, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "the process never got so far"
        time.sleep(0.005)


def size_of(notes: Path) -> int:
    return notes.stat().st_size if notes.exists() else 0


def lost(workspace: Workspace, told: list[tuple[str, str, int]]) -> list[str]:
    versions: dict[tuple[str, str], int] = {}
    for team, id, version in told:
        versions[team, id] = max(version, versions.get((team, id), 0))
    memories = {team: workspace.as_operator(team) for team in {team for team, _ in versions}}
    missing: list[str] = []
    for (team, id), version in versions.items():
        try:
            if memories[team].get(id).version < version:
                missing.append(f"{id} is older than acknowledged")
        except NotFound:
            missing.append(id)
    return missing


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.proof)])
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, rounds: int) -> None:
    data, all_notes, waits = tmp_path / "data", list[Path](), list[float]()
    for round in range(rounds):
        notes = tmp_path / f"notes{round}"
        all_notes.append(notes)
        process = start_writer(data, notes, threads=8, seconds=60)
        wait_for(lambda: size_of(notes) > 0)  # noqa: B023 - waited for at once
        time.sleep(random.uniform(0.0, 0.4))
        kill(process)
        began_at = time.monotonic()
        with open_workspace(data) as workspace:
            told = acknowledged(*all_notes)
            workspace.as_operator(told[0][0]).get(told[0][1])
            waits.append(time.monotonic() - began_at)
            assert lost(workspace, told) == []
            assert workspace.check() == {}
        assert failures(*all_notes) == []
        assert [find_damage(team_file(data, team)) for team in TEAMS] == [[], []]
    # The best of them: what the machine does beside is not the store's.
    assert min(waits) < FIRST_ANSWER_SECONDS


def write_together(folder: Path, *, processes: int, threads: int, seconds: float) -> list[Path]:
    """All of them make and write the same team; returns their notes."""
    notes = [folder / f"notes{number}" for number in range(processes)]
    running = [start_writer(folder / "data", file, threads=threads, seconds=seconds, teams=TEAMS[:1]) for file in notes]
    for process in running:
        process.wait(timeout=seconds + 120)
    return notes


def check_together(folder: Path, notes: list[Path]) -> None:
    assert failures(*notes) == []
    told = acknowledged(*notes)
    with open_workspace(folder / "data") as workspace:
        assert lost(workspace, told) == []
        assert workspace.check() == {}
        assert workspace.as_operator(TEAMS[0]).stats().memories == len({id for _, id, _ in told})
    assert all(acknowledged(file) for file in notes), "one of them never got a turn"
    assert find_damage(team_file(folder / "data", TEAMS[0])) == []


def test_four_processes_write_one_new_team_and_none_is_turned_away(tmp_path: Path) -> None:
    check_together(tmp_path, write_together(tmp_path, processes=4, threads=2, seconds=1.0))


@pytest.mark.proof
@pytest.mark.parametrize("processes", [8, 32])
def test_many_processes_write_one_new_team_and_none_is_turned_away(tmp_path: Path, processes: int) -> None:
    check_together(tmp_path, write_together(tmp_path, processes=processes, threads=2, seconds=20 + processes))


@pytest.mark.proof
@pytest.mark.parametrize("processes", [8, 32])
def test_writers_killed_beside_each_other_lose_nothing(tmp_path: Path, processes: int) -> None:
    """The survivors go on over what the killed ones left half done."""
    data, notes = tmp_path / "data", [tmp_path / f"notes{number}" for number in range(processes)]
    running = [start_writer(data, file, threads=2, seconds=600, teams=TEAMS[:1]) for file in notes]
    wait_for(lambda: all(size_of(file) for file in notes), seconds=120)
    for process in running:
        time.sleep(random.uniform(0.0, 0.5))
        kill(process)
    assert failures(*notes) == []
    with open_workspace(data) as workspace:
        assert lost(workspace, acknowledged(*notes)) == []
        assert workspace.check() == {}
    assert find_damage(team_file(data, TEAMS[0])) == []


def killed_at_every(stride: int, folder: Path, kind: str) -> list[str]:
    """What was found after each kill, one every so many statements."""
    arguments = command("creation_process", folder, kind, stride)
    made = subprocess.run(arguments, cwd=ROOT, check=True, capture_output=True, text=True)
    return made.stdout.splitlines()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="is killed a hundred times, by forking")


@needs_fork
@pytest.mark.parametrize(("kind", "least"), [("new", 17), ("upgrade", 5)])
def test_a_store_whose_making_was_killed_is_finished_by_the_next_process(tmp_path: Path, kind: str, least: int) -> None:
    lines = killed_at_every(7, tmp_path, kind)
    assert [line for line in lines if not line.endswith(" resumed")] == []
    assert len(lines) >= least


@needs_fork
@pytest.mark.proof
@pytest.mark.parametrize(("kind", "least"), [("new", 120), ("upgrade", 36)])
def test_a_store_killed_before_any_of_its_statements_is_finished_by_the_next_process(
    tmp_path: Path, kind: str, least: int
) -> None:
    lines = killed_at_every(1, tmp_path, kind)
    assert [line for line in lines if not line.endswith(" resumed")] == []
    assert len(lines) >= least


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A workspace whose team store was written by a later version."""
    with open_workspace(tmp_path) as workspace:
        workspace.add_team(TEAMS[0])
        workspace.as_operator(TEAMS[0]).save("from the future")
    set_schema(team_file(tmp_path, TEAMS[0]), 99)
    return tmp_path


def set_schema(file: Path, version: int) -> None:
    connection = apsw.Connection(str(file))
    connection.pragma("user_version", version)
    connection.close()


def digests(folder: Path) -> dict[str, str]:
    """A WAL that is empty says nothing."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.endswith("-shm") and file.stat().st_size
    }


@pytest.mark.parametrize(
    "use",
    [
        lambda memory: memory.save("from the past"),
        lambda memory: memory.list(),
        lambda memory: memory.search("future"),
        lambda memory: list(memory.changes()),
    ],
    ids=["save", "list", "search", "changes"],
)
def test_a_store_of_a_later_version_is_refused_and_left_as_it_is(newer: Path, use: Callable[..., object]) -> None:
    before = digests(newer / "teams")
    with open_workspace(newer) as workspace:
        memory = workspace.as_operator(TEAMS[0])
        for _ in range(2):
            with pytest.raises(Misconfigured, match="install a newer Mycel"):
                use(memory)
    assert digests(newer / "teams") == before


def test_a_workspace_of_a_later_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as workspace:
        workspace.add_team(TEAMS[0])
    set_schema(tmp_path / "workspace.sqlite", 99)
    before = digests(tmp_path)
    with pytest.raises(Misconfigured, match="install a newer Mycel"):
        open_workspace(tmp_path)
    assert digests(tmp_path) == before
