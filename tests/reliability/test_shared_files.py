"""A service and programs write the same files: all live and get their turn, and what was acknowledged is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import mycel
from mycel.client.daemon import find_daemon
from mycel.errors import NotFound
from tests.reliability.inspection import damage_of
from tests.reliability.shared_writer_process import Task, as_argument
from tests.service_process import Service, connected, environment, eventually

ROOT = Path(__file__).parents[2]
TEAMS = ("alpha", "beta")
# The threads of one process would wait for each other.
CALLERS_PER_PROCESS = 5
# Of the load that `make proof` runs, and how long one save in a hundred may take there.
SECONDS, MOST_SECONDS = 60.0, 1.0


@dataclass
class Load:
    """What a load has left: the notes of its writers, by what they did."""

    notes: list[list[Any]]
    codes: list[int]
    service_code: int
    log: str

    def of(self, what: str) -> list[list[Any]]:
        return [note[1:] for note in self.notes if note[0] == what]

    def seconds(self, kind: str, *, way: str = "") -> list[float]:
        return sorted(
            note[-1] for note in self.notes if note[0] == kind and note[2].partition(" of ")[2].startswith(way)
        )

    def ways(self) -> set[str]:
        """How those came who saved something."""
        return {note[2].partition(" of ")[2].partition("-")[0] for note in self.notes if note[0] == "save"}

    def p99(self, kind: str, *, way: str = "") -> float:
        found = self.seconds(kind, way=way)
        return found[int(len(found) * 0.99)]

    def describe(self) -> str:
        counts = Counter(note[0] for note in self.notes)
        failures = Counter(note[2] for note in self.notes if note[0] == "failed")
        told = [str(dict(counts))]
        for way in sorted(self.ways()):
            saves = self.seconds("save", way=way)
            told.append(
                f"{len(saves)} saves by {way}: p50 {saves[len(saves) // 2]:.3f} s, "
                f"p99 {self.p99('save', way=way):.3f} s, longest {saves[-1]:.3f} s"
            )
        return "; ".join([*told, f"failures {failures.most_common(5)}", f"load {os.getloadavg()[0]:.1f}"])


def run_load(
    data: Path,
    *,
    callers: int,
    programs: int,
    seconds: float,
    watch: Callable[[str], tuple[str, ...]] = lambda name: (),
    **variables: str,
) -> Load:
    """Start a service with fresh teams, let all writers begin at once, and end everything.

    `watch` gives what stands in front of the command of each process, by the name of its notes.
    """
    folder = data.parent
    serve = (sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(data), "serve", "--json", "--port", "0")
    running = Service(data, command=(*watch("service.strace"), *serve), PYTHONFAULTHANDLER="1", **variables)
    try:
        ways = ["http"] * callers + ["files"] * programs
        members = {f"{way}-{number}": way for number, way in enumerate(ways)}
        tokens: dict[str, str] = {}
        with connected(running) as workspace:
            for team in TEAMS:
                workspace.add_team(team)
            for number, member in enumerate(members):
                workspace.add_member(member, team=TEAMS[number % len(TEAMS)])
                tokens[member] = workspace.issue_token(member)
        http = [member for member, way in members.items() if way == "http"]
        groups = [http[at : at + CALLERS_PER_PROCESS] for at in range(0, len(http), CALLERS_PER_PROCESS)]
        groups += [[member] for member, way in members.items() if way == "files"]
        tasks = [
            Task(
                data=str(data),
                url=running.url if members[group[0]] == "http" else None,
                tokens={member: tokens[member] for member in group},
                notes=str(folder / f"{group[0]}.notes"),
                ready=str(folder / f"{group[0]}.ready"),
                start=str(folder / "start"),
                seconds=seconds,
            )
            for group in groups
        ]
        line = (sys.executable, "-m", "tests.reliability.shared_writer_process")
        processes = [
            subprocess.Popen(
                [*watch(f"{Path(task.notes).stem}.strace"), *line, as_argument(task)],
                cwd=ROOT,
                env=environment(**variables),
            )
            for task in tasks
        ]
        try:
            eventually(lambda: all(Path(task.ready).exists() for task in tasks), seconds=300)
            (folder / "start").touch()
            codes = [process.wait(seconds + 120) for process in processes]
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        service_code = end(running)
    finally:
        running.kill()
    lines = [line for task in tasks for line in Path(task.notes).read_text().splitlines()]
    return Load([json.loads(line) for line in lines], codes, service_code, running.log.read_text())


def end(running: Service) -> int:
    """Ask the service itself to end: what watches it passes no signal on."""
    found = find_daemon(running.data)
    assert found is not None, running.log.read_text()[-3000:]
    os.kill(found.pid, signal.SIGTERM)
    return running.wait()


def find_lost(data: Path, load: Load) -> list[str]:
    """The acknowledged writes that no version of their memory holds."""
    texts: dict[str, set[str]] = {}
    with mycel.open(data) as workspace:
        for team in TEAMS:
            memory = workspace.as_operator(team)
            for item in {note[0] for note in (*load.of("save"), *load.of("update"))} - texts.keys():
                try:
                    texts[item] = {version.memory.content for version in memory.history(item)}
                except NotFound:
                    continue
    written = [*load.of("save"), *load.of("update")]
    return [text for item, text, *_ in written if text not in texts.get(item, set())]


def check(data: Path, load: Load) -> None:
    assert load.service_code == 0, load.log[-3000:]
    assert set(load.codes) == {0}, load.describe()
    assert load.of("failed") == [], load.describe()
    assert find_lost(data, load) == []
    if "MYCEL_DATABASE_URL" not in os.environ:
        assert [damage_of(data, team) for team in TEAMS] == [[] for _ in TEAMS]


def test_a_service_and_programs_on_fresh_files_lose_nothing_and_live(tmp_path: Path) -> None:
    load = run_load(tmp_path / "data", callers=4, programs=3, seconds=2.0)
    check(tmp_path / "data", load)
    assert load.ways() == {"http", "files"}, load.describe()


@pytest.mark.proof
def test_for_a_minute_no_save_waits_long_because_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    """With the model that users get, on whatever disk the temporary folder of the system lies."""
    with tempfile.TemporaryDirectory(prefix="mycel-") as folder:
        load = run_load(Path(folder) / "data", callers=20, programs=12, seconds=SECONDS, MYCEL_EMBEDDER="builtin")
        check(Path(folder) / "data", load)
    with capsys.disabled():
        print(f"\n{load.describe()}")  # noqa: T201 - the figures are what it is run for
    assert load.ways() == {"http", "files"}
    assert load.p99("save") <= MOST_SECONDS, load.describe()
    for way in load.ways():
        assert load.p99("save", way=way) <= MOST_SECONDS, load.describe()


@pytest.mark.proof
@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_for_a_minute_no_save_on_postgres_waits_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load = run_load(tmp_path / "data", callers=32, programs=0, seconds=SECONDS)
    check(tmp_path / "data", load)
    with capsys.disabled():
        print(f"\n{load.describe()}")  # noqa: T201 - the figures are what it is run for
    assert load.p99("save") <= MOST_SECONDS, load.describe()
