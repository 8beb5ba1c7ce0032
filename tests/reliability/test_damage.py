"""Damaged, moved and missing files: never a 500, never an acknowledged write that is lost, never silence."""

import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app
from tests.reliability import damages
from tests.reliability.damages import Harm
from tests.reliability.inspection import find_damage, team_file

TEAM = "executive"
KNOWN = 60


def in_full(harms: Mapping[str, Harm], *soon: str) -> list[Any]:
    """Every one of the table as a proof, and some of them whenever tests are run."""
    return [name if name in soon else pytest.param(name, marks=pytest.mark.proof) for name in harms]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed workspace whose one team has memories of every size, past versions and free pages."""
    data = tmp_path_factory.mktemp("sound") / "data"
    with open_workspace(data) as workspace:
        memory = workspace.as_operator()
        saved = [
            memory.save(f"note {number} about kestrels " + "feather " * 120, tags=["bird"]) for number in range(KNOWN)
        ]
        memory.save("long " * 8000)
        memory.save("a secret heronry", visibility="private")
        memory.delete(memory.save("a heronry that was given up").id)
        gone = [memory.save("soon gone " * 1500) for _ in range(4)]
        for one in gone:
            memory.purge(one.id)
        memory.update(saved[0].id, content="note 0 about kestrels, changed")
    return data


@pytest.fixture(scope="module")
def cut_short(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a kill leaves it: the last writes are in the log alone."""
    data = tmp_path_factory.mktemp("cut") / "data"
    left = tmp_path_factory.mktemp("left") / "data"
    shutil.copytree(sound, data)
    with open_workspace(data) as workspace:
        memory = workspace.as_operator()
        for number in range(KNOWN):
            memory.save(f"late note {number} about kestrels")
        shutil.copytree(data, left)
    return left


@dataclass
class Door:
    """A service on a data directory, and what it has acknowledged."""

    data: Path
    workspace: Workspace
    client: TestClient
    token: str
    acknowledged: list[str] = field(default_factory=list)
    answers: list[tuple[str, int]] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return team_file(self.data, TEAM)

    def ask(self, method: str, path: str, **given: Any) -> Any:
        answer = self.client.request(method, path, headers={"Authorization": f"Bearer {self.token}"}, **given)
        self.answers.append((f"{method} {path}", answer.status_code))
        return answer

    def save(self, content: str) -> Any:
        answer = self.ask("POST", "/api/memory", json={"content": content})
        if answer.status_code == 201:
            self.acknowledged.append(content)
        return answer

    def use(self) -> None:
        """Everything that somebody could be doing."""
        for number in range(3):
            self.save(f"after the fact {number} {time.monotonic_ns()}")
        self.ask("GET", "/api/memory?limit=100")
        self.ask("POST", "/api/memory/search", json={"query": "kestrels"})
        self.ask("GET", "/api/changes?limit=1000")
        self.ask("GET", "/api/stats")

    def watch(self) -> dict[str, Any]:
        """What every surface says."""
        self.client.app.state.service.damages._look_at = 0.0
        return {
            "check": self.ask("POST", "/api/maintenance/check", json={}).json(),
            "health": self.ask("GET", "/health").json()["status"],
            "ready": self.ask("GET", "/health/ready").json()["status"],
            "damages": self.ask("GET", "/api/maintenance/damages").json(),
            "metrics": f'mycel_store_damaged_since_seconds{{team="{TEAM}"}}' in self.ask("GET", "/metrics").text,
            "save": self.ask("POST", "/api/memory", json={"content": "one more"}).status_code,
        }


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Opens services, and closes them in the end."""
    monkeypatch.setattr("mycel.stores.sqlite.pool.CHECK_AFTER_SECONDS", 0.0)
    monkeypatch.setattr("mycel.stores.sqlite.database.LOOK_SECONDS", 0.0)
    monkeypatch.setattr("mycel.stores.sqlite.pool.BUSY_SECONDS", 0.1)
    left: list[Workspace] = []

    def open_door(data: Path) -> Door:
        workspace = open_workspace(data)
        left.append(workspace)
        client = TestClient(create_app(workspace), base_url="http://127.0.0.1:7077", raise_server_exceptions=False)
        return Door(data, workspace, client, workspace.issue_token("operator"))

    yield open_door
    for workspace in left:
        workspace.close()


def told(door: Door) -> bool:
    said = door.watch()
    silent = {"check": {}, "health": "ok", "ready": "ok", "damages": [], "metrics": False, "save": 201}
    if said == silent:
        return False
    assert list(said["check"]) == [TEAM], said
    assert (said["health"], said["ready"], said["metrics"], said["save"]) == ("degraded", "degraded", True, 503), said
    assert [damage["team"] for damage in said["damages"]] == [TEAM], said
    return True


def assert_nothing_acknowledged_is_lost(door: Door) -> None:
    """In the file or its log, or in the copy that was made of what an open file still held."""
    door.workspace.close()
    kept = b"".join(file.read_bytes() for file in door.data.rglob("memory.sqlite*"))
    assert [one for one in door.acknowledged if one.encode() not in kept] == []


def assert_no_failure(door: Door) -> None:
    assert [one for one in door.answers if one[1] == 500] == []


@pytest.mark.parametrize("when", ["opening", "running"])
@pytest.mark.parametrize("name", in_full(damages.PAGES, "header", "six pages", "cut in half"))
def test_damaged_pages_are_told_and_nothing_more_is_written(
    sound: Path, tmp_path: Path, opened: Any, name: str, when: str
) -> None:
    door = _harmed(sound, tmp_path, opened, damages.PAGES[name], when)
    door.use()
    # A page that is free, or that the log has a newer one of, is no loss.
    assert told(door) == bool(find_damage(door.file))
    assert_no_failure(door)
    assert_nothing_acknowledged_is_lost(door)


@pytest.mark.parametrize("when", ["opening", "running"])
@pytest.mark.parametrize("name", damages.FILES)
def test_files_that_are_gone_or_replaced_are_told(
    sound: Path, tmp_path: Path, opened: Any, name: str, when: str
) -> None:
    door = _harmed(sound, tmp_path, opened, damages.FILES[name], when)
    before = len(door.acknowledged)
    door.use()
    assert len(door.acknowledged) == before, "acknowledged into nowhere"
    assert told(door)
    assert_no_failure(door)


def _harmed(sound: Path, tmp_path: Path, opened: Any, harm: Harm, when: str) -> Door:
    """A service on a harmed copy, or on one that is harmed while it is used."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    if when == "opening":
        harm(team_file(data, TEAM))
        return opened(data)
    door = opened(data)
    door.use()
    assert not told(door)
    # What tools see of the file must be in it.
    door.workspace._do.upkeep._stores._open[TEAM].store._database.writer.exclusive(
        lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    )
    door.acknowledged.clear()
    harm(door.file)
    return door


@pytest.mark.parametrize("when", ["opening", "running"])
@pytest.mark.parametrize("name", in_full(damages.DERIVED, "words", "words for few", "root of an index"))
def test_what_can_be_made_again_is_made_again(
    sound: Path, tmp_path: Path, opened: Any, caplog: pytest.LogCaptureFixture, name: str, when: str
) -> None:
    door = _harmed(sound, tmp_path, opened, damages.DERIVED[name], when)
    door.use()
    door.ask("POST", "/api/maintenance/check", json={})
    deadline = time.monotonic() + 20
    # Whoever has a damaged page at hand may have written it again.
    while "was made anew" not in caplog.text and (when == "opening" or find_damage(door.file)):
        assert time.monotonic() < deadline
        time.sleep(0.3)
    assert door.save("is it sound again?").status_code == 201
    assert find_damage(door.file) == []
    assert not told(door)
    found = door.ask("GET", "/api/memory?limit=200&tags=bird").json()
    assert len([one for one in found if one["content"].startswith("note")]) == KNOWN
    hits = door.ask("POST", "/api/memory/search", json={"query": "kestrels", "limit": 100}).json()["results"]
    assert len(hits) >= KNOWN
    assert_no_failure(door)
    assert_nothing_acknowledged_is_lost(door)


@pytest.mark.parametrize("name", damages.LOG)
def test_a_log_that_was_damaged_after_a_kill_is_told(cut_short: Path, tmp_path: Path, opened: Any, name: str) -> None:
    data = tmp_path / "data"
    shutil.copytree(cut_short, data)
    damages.LOG[name](team_file(data, TEAM))
    door = opened(data)
    before = door.ask("GET", "/api/stats").json()["memories"]
    door.use()
    known = door.ask("GET", "/api/maintenance/damages").json()
    checked = door.ask("POST", "/api/maintenance/check", json={}).json()
    # SQLite makes the shared index again from the log; everything else in this table loses writes.
    is_harmless = damages.LOG[name] is damages.unlink_index
    assert is_harmless == (before == 2 * KNOWN + 2), "the harm is not what it should be"
    assert [damage["team"] for damage in known] == list(checked) == ([] if is_harmless else [TEAM])
    assert bool(door.acknowledged) == is_harmless
    # The operator knows by now, and the file itself is sound: writing goes on.
    assert door.save("after the check").status_code == 201
    assert door.ask("POST", "/api/maintenance/check", json={}).json() == {}
    assert_no_failure(door)
    assert_nothing_acknowledged_is_lost(door)


@pytest.mark.parametrize("name", ["log unlinked", "index of the log unlinked"])
def test_a_log_that_is_taken_from_under_the_service_loses_nothing(
    cut_short: Path, tmp_path: Path, opened: Any, name: str
) -> None:
    door = _in_use(cut_short, tmp_path, opened)
    damages.LOG[name](door.file)
    door.use()
    assert len(door.acknowledged) > 3, "it should have opened the files again"
    assert not told(door)
    assert door.ask("GET", "/api/stats").json()["memories"] > 2 * KNOWN + 2
    assert_no_failure(door)
    assert_nothing_acknowledged_is_lost(door)


@pytest.mark.parametrize("name", ["log emptied", "log cut"])
def test_a_log_that_is_cut_under_the_service_is_told_before_the_next_write(
    cut_short: Path, tmp_path: Path, opened: Any, name: str
) -> None:
    door = _in_use(cut_short, tmp_path, opened)
    door.acknowledged.clear()
    damages.LOG[name](door.file)
    door.use()
    assert door.acknowledged == []
    assert [damage["team"] for damage in door.ask("GET", "/api/maintenance/damages").json()] == [TEAM]
    assert list(door.ask("POST", "/api/maintenance/check", json={}).json()) == [TEAM]
    assert_no_failure(door)


@pytest.mark.parametrize("name", ["log flipped", "log zeroed", "log without header"])
def test_a_log_that_decays_under_the_service_is_told_after_a_kill(
    cut_short: Path, tmp_path: Path, opened: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The copy below must be that of one moment.
    monkeypatch.setattr("mycel.stores.sqlite.pool.CHECK_AFTER_SECONDS", None)
    door = _in_use(cut_short, tmp_path, opened)
    damages.LOG[name](door.file)
    door.use()
    assert_no_failure(door)
    left = tmp_path / "left"
    shutil.copytree(door.data, left)
    door = opened(left)
    is_whole = door.ask("GET", "/api/stats").json()["memories"] > 2 * KNOWN + 2
    assert is_whole or [damage["team"] for damage in door.ask("GET", "/api/maintenance/damages").json()] == [TEAM]


def _in_use(data: Path, tmp_path: Path, opened: Any) -> Door:
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    door = opened(copy)
    door.use()
    assert len(door.acknowledged) == 3
    return door


def test_answers_from_a_damaged_store_say_that_something_may_be_missing(
    sound: Path, tmp_path: Path, opened: Any
) -> None:
    door = _harmed(sound, tmp_path, opened, damages.zero_page("changes", "leaf"), "opening")
    assert told(door)
    found = door.ask("POST", "/api/memory/search", json={"query": "kestrels"})
    assert "results" in found.json(), found.text
    assert found.json()["results"]
    assert found.json()["degraded"] == ["damaged_store"]
    assert found.headers["mycel-degraded"] == "store_damaged"
    refused = door.save("not now")
    assert (refused.json()["code"], int(refused.headers["retry-after"]) > 1) == ("store_damaged", True)
    assert "docs/guides/damage.md" in refused.json()["detail"]
