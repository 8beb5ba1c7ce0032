"""Scenario 9: many local agents use it safely at once."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import mycel
from tests.acceptance.agents_at_work import END, Commands, work
from tests.reliability.inspection import damage_of
from tests.reliability.test_knowledge_race import check_told
from tests.service_process import Service, connected, eventually, service

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="its processes are made by forking"),
    pytest.mark.each_database(slow=True),
]

ROOT = Path(__file__).parents[2]
TEAMS = ("engineering", "design")
# Most reach the service by HTTP, some open the files or the database beside it, and some run a command for each step.
TWELVE = ("http",) * 7 + ("files",) * 3 + ("commands",) * 2
THIRTY_TWO = ("http",) * 20 + ("files",) * 8 + ("commands",) * 4


@dataclass
class Office:
    """The agents of one data directory and what they have noted outside of it."""

    folder: Path
    teams: tuple[str, ...]
    ways: tuple[str, ...]
    rounds: int
    counters: dict[str, str] = field(default_factory=dict[str, str])
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_on_database(self) -> bool:
        return "MYCEL_DATABASE_URL" in os.environ

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def members(self) -> dict[str, str]:
        """Every fourth in the second team, if there is one."""
        return {f"{way}-{place}": self.teams[-1 if place % 4 == 0 else 0] for place, way in enumerate(self.ways)}

    def open(self, workspace: Any) -> None:
        """Leads may change what others have saved, and those of the second team search the first one too."""
        for place, team in enumerate(self.teams):
            workspace.add_team(team, parent=self.teams[0] if place else None)
            self.counters[team] = workspace.as_operator(team).save("0", path="/counter").id
        for member, team in self.members.items():
            workspace.add_member(member, team=team, role="lead")
            self.tokens[member] = workspace.issue_token(member)

    def notes_of(self, member: str) -> list[list[Any]]:
        file = self.folder / f"{member}.notes"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def noted(self, what: str, *, team: str | None = None) -> list[list[Any]]:
        members = [member for member, of in self.members.items() if team in {None, of}]
        return [note[1:] for member in members for note in self.notes_of(member) if note[0] == what]

    def task_of(self, member: str) -> dict[str, Any]:
        return {"name": member, "counter": self.counters[self.members[member]], "rounds": self.rounds}

    def agent(self, member: str, *, url: str) -> dict[str, Any]:
        return {
            "way": member.partition("-")[0],
            "url": url,
            "token": self.tokens[member],
            "data": str(self.data),
            "notes": str(self.folder / f"{member}.notes"),
            "start": str(self.folder / "start"),
            "task": self.task_of(member),
        }


@contextmanager
def agents_at_work(office: Office, running: Service) -> Iterator[subprocess.Popen[str]]:
    """Those that are processes of their own, which begin together."""
    agents = [office.agent(member, url=running.url) for member in office.members if not member.startswith("commands")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.acceptance.agents_at_work"], cwd=ROOT, stdin=subprocess.PIPE, text=True
    )
    try:
        assert process.stdin
        process.stdin.write(json.dumps(agents))
        process.stdin.close()
        yield process
    finally:
        process.kill()
        process.wait()


def run(office: Office) -> None:
    """Until each of them has done its work and has been told of the end of it."""
    with service(office.data) as running, connected(running) as workspace:
        office.open(workspace)
        with agents_at_work(office, running) as process:
            threads = [
                threading.Thread(target=run_commands, args=(office, member))
                for member in office.members
                if member.startswith("commands")
            ]
            (office.folder / "start").touch()
            for thread in threads:
                thread.start()
            eventually(
                lambda: office.noted("failed") or len(office.noted("done")) == len(office.ways),
                seconds=100 * office.rounds,
            )
            for thread in threads:
                thread.join()
            for team in office.teams:
                workspace.as_operator(team).save("All have done their work.", path=END)
            assert process.wait(60) == 0, office.noted("failed")
        assert running.stop() == 0
        errors = [event for event in running.events() if event["level"] in {"warning", "error"}]
    assert errors == []


def run_commands(office: Office, member: str) -> None:
    file = office.folder / f"{member}.notes"
    work(Commands(str(office.data), member), file, follows=False, **office.task_of(member))


def check(office: Office) -> None:
    assert office.noted("failed") == []
    assert all(id in found for id, found in office.noted("found")), "somebody did not find its own memory"
    assert [note for note in office.noted("again") if note[0] != note[1]] == []
    with mycel.open(office.data) as workspace:
        for team in office.teams:
            check_team(office, workspace.as_operator(team), team)
        assert workspace.check() == {}
    assert (office.data / "teams").exists() != office.is_on_database
    assert [found for team in office.teams if (found := damage_of(office.data, team))] == []


def check_team(office: Office, memory: Any, team: str) -> None:
    told: dict[str, tuple[int, str]] = {}
    for id, version, content in office.noted("saved", team=team):
        told[id] = max(told.get(id, (0, "")), (version, content))
    assert len(told) == office.rounds * sum(of == team for of in office.members.values())
    # Nothing lost, nothing doubled: what is there is what was acknowledged.
    notes = everything(memory, path="/notes")
    assert {one.id: (one.version, one.content) for one in notes if one.key is None} == told
    for one in [*notes, memory.get(office.counters[team])]:
        assert [version.memory.version for version in memory.history(one.id)] == list(range(1, one.version + 1))
    counted = [version for (version,) in office.noted("counted", team=team)]
    assert sorted(counted) == list(range(2, len(counted) + 2))
    assert memory.get(office.counters[team]).content == str(len(counted))
    check_told(memory, office.noted("known", team=team))
    whole = list(range(1, [change.sequence for change in memory.changes()][-1] + 1))
    followed = [sequences for (sequences,) in office.noted("followed", team=team)]
    assert followed
    assert all(sequences == whole for sequences in followed)


def everything(memory: Any, **filters: Any) -> list[Any]:
    page = memory.list(limit=1000, **filters)
    found = [*page]
    while page.next_cursor is not None:
        page = memory.list(limit=1000, cursor=page.next_cursor, **filters)
        found += page
    return found


def waits(office: Office) -> dict[str, float]:
    """How long a call takes by each way but for one in a hundred, in seconds."""
    found: dict[str, float] = {}
    for way in sorted(set(office.ways)):
        members = [member for member in office.members if member.startswith(way)]
        took = sorted(note[2] for member in members for note in office.notes_of(member) if note[0] == "took")
        found[way] = took[int(len(took) * 0.99)]
        sys.stdout.write(f"{way}: {len(took)} calls, median {statistics.median(took):.3f} s, p99 {found[way]:.3f} s\n")
    return found


def test_9_many_local_agents_use_it_safely_at_once(tmp_path: Path) -> None:
    office = Office(tmp_path, TEAMS, TWELVE, rounds=1)
    run(office)
    check(office)
    waits(office)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_9_as_many_as_a_machine_holds_begin_at_once(tmp_path: Path) -> None:
    """How long a call takes is told and not judged: most of them are made while all are beginning."""
    office = Office(tmp_path, TEAMS, THIRTY_TWO, rounds=2)
    run(office)
    check(office)
    waits(office)


@pytest.mark.files_only
@pytest.mark.proof
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("teams", [1, 2])
def test_9_many_local_agents_use_it_safely_for_long(tmp_path: Path, teams: int) -> None:
    office = Office(tmp_path, TEAMS[:teams], THIRTY_TWO, rounds=12)
    run(office)
    check(office)
    assert waits(office)["http"] < 1
