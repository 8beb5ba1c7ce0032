"""Scenario 8: export and import keep everything."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import mycel
from mycel.contracts.memory_api import MemoryApi
from mycel.domain.archive import Taken
from mycel.wire.shapes import plain
from tests.service_process import environment
from tests.serving import served
from tests.template import beside

pytestmark = pytest.mark.each_database(slow=True)


MEMBERS = {"swe-1": "agent", "swe-2": "agent", "planner": "orchestrator", "lead-1": "lead", "person-1": "member"}


@dataclass(frozen=True)
class Two:
    """A workspace that is moved, and an empty one that it is moved to."""

    old: mycel.Workspace
    new: mycel.Workspace
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "squad.jsonl.gz"

    def move(self, *, way: str = "files") -> None:
        """As the operator: on the files, or out by a client of one service and into another by client or command."""
        if way == "files":
            self.old.export(self.file, team="squad")
            self.new.import_(self.file, team="squad")
            return
        with served(self.old) as url, mycel.connect(url, token=self.old.issue_token("operator")) as client:
            client.export(self.file, team="squad")
        token = self.new.issue_token("operator")
        with served(self.new) as url:
            if way == "client":
                with mycel.connect(url, token=token) as client:
                    client.import_(self.file, team="squad")
            else:
                line = [sys.executable, "-m", "mycel.surfaces.cli.main", "import", str(self.file), "--team", "squad"]
                variables = environment(MYCEL_URL=url, MYCEL_TOKEN=token)
                subprocess.run(line, env=variables, check=True, capture_output=True, timeout=60)


def opened(folder: Path | str) -> mycel.Workspace:
    workspace = mycel.open(folder)
    workspace.add_team("squad")
    for id, role in MEMBERS.items():
        workspace.add_member(id, team="squad", role=role, kind="human" if role == "member" else "agent")
    return workspace


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "old") as old, opened(beside(tmp_path / "new")) as new:
        yield Two(old, new, tmp_path)


def fill(two: Two) -> None:
    """Of every sort something, with all that can hang on it."""
    one, other = two.old.as_member("swe-1"), two.old.as_member("swe-2")
    wal = one.save("Use WAL.", tags=["db"], project="billing", type="decision", rationale="Readers go on.")
    one.update(wal.id, content="Use WAL mode.", confidence=0.9)
    hidden = one.save("The release is late.", visibility="private", metadata={"deep": {"list": [1, 2.5, None, "ü"]}})
    leads = two.old.as_member("lead-1").save("Budget is tight.", visibility="role", allowed_roles=["lead"])
    gone = other.save("A passing thought.")
    other.delete(gone.id)
    one.link(wal.id, hidden.id, "supports")
    one.link(wal.id, "project:billing", "applies_to")
    one.projects.register("billing", description="Invoices")
    one.repos.register("billing-api", project="billing", remote="git@example.org:billing.git")
    two.old.as_member("planner").knowledge.upsert(
        project="billing", category="convention", key="imports", value="Sort them.", confidence=0.8
    )
    one.episodes.log(task_id="T-1", action="failed", approach="patch the driver", outcome="it broke", duration_ms=12)
    (two.folder / "driver.py").write_text("RETRIES = 3\n", "utf-8")
    one.artifacts.register(task_id="T-1", type="file", path="driver.py", description="a driver", keep_content=True)
    one.capture_session(
        "user: We decided to use Postgres for billing, because it is known.\nassistant: Noted.", session_id="s-1"
    )
    other.purge(other.save("Purge this.").id)
    two.old.run_pending()
    assert leads.id


def everything(memory: MemoryApi) -> dict[str, Any]:
    """What a member can be shown, in words that do not depend on where it is stored."""
    found = [*memory.list(limit=1000), *memory.list(limit=1000, deleted=True)]
    ids = [one.id for one in memory.list(limit=1000)]
    listed = [one.id for one in memory.sources.list(limit=1000)]
    return {
        "memories": found,
        "inbox": list(memory.list(limit=1000, status="inbox")),
        "history": {id: memory.history(id) for id in ids},
        "links": {id: memory.links(id) for id in ids},
        "sources": [memory.sources.get(id) for id in listed],
        "events": list(memory.sources.events(limit=1000)),
        "projects": memory.projects.list(),
        "repos": memory.repos.list(),
        "episodes": [plain(one) for one in memory.episodes.list()],
        "artifacts": list(memory.artifacts.list()),
        "knowledge": list(memory.knowledge.list(project="billing")),
        "tree": memory.tree().subdirs,
        "stats": memory.stats(),
        "words": [hit.memory.id for hit in memory.search("WAL").hits],
    }


def test_what_is_in_the_old_workspace_is_not_in_the_new_one_before_it_is_moved(two: Two) -> None:
    """Otherwise whatever an import forgets would be there all the same."""
    fill(two)
    assert list(two.new.as_operator("squad").list(status="any")) == []


@pytest.mark.parametrize(
    ("member", "way"),
    [*((member, "files") for member in MEMBERS), *(("operator", way) for way in ("files", "client", "command line"))],
)
def test_8_export_and_import_keep_everything(two: Two, member: str, way: str) -> None:
    fill(two)
    two.move(way=way)
    workspaces = (two.old, two.new)
    old, new = (
        everything(one.as_operator("squad") if member == "operator" else one.as_member(member)) for one in workspaces
    )
    assert all(old[name] for name in ("memories", "inbox", "sources", "events", "episodes", "artifacts", "words"))
    assert new == old


def test_8_what_was_moved_reads_the_same_through_the_service(two: Two) -> None:
    fill(two)
    two.move()
    token = two.new.issue_token("operator")
    with served(two.new) as url, mycel.connect(url, token=token) as client:
        assert everything(client.as_operator("squad")) == everything(two.old.as_operator("squad"))


def test_importing_twice_changes_nothing(two: Two) -> None:
    fill(two)
    two.move()
    before = everything(two.new.as_operator("squad"))
    report = two.new.import_(two.file, team="squad")
    assert report.count(Taken.UNCHANGED) > 10
    assert {taken for kind in report.counts.values() for taken in kind} == {Taken.UNCHANGED}
    assert everything(two.new.as_operator("squad")) == before
    assert two.new.check() == {}


def test_what_comes_out_of_the_copy_is_what_went_in(two: Two) -> None:
    fill(two)
    two.move()
    first = two.old.export(two.folder / "first.jsonl", team="squad")
    second = two.new.export(two.folder / "second.jsonl", team="squad")
    assert second.counts == first.counts
    lines = [(two.folder / f"{name}.jsonl").read_text("utf-8").splitlines()[1:-1] for name in ("first", "second")]
    assert lines[0] == lines[1]
