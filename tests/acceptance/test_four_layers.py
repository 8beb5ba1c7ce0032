"""The four layers: their filters, their three usage patterns and their four integration points."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import mycel
from mycel.domain.artifact import FileState
from mycel.domain.episode import Action
from mycel.embedded.team_memory import TeamMemory

pytestmark = pytest.mark.each_database


@dataclass(frozen=True)
class Swarm:
    workspace: mycel.Workspace
    folder: Path

    @property
    def orchestrator(self) -> TeamMemory:
        return self.workspace.as_member("planner")

    def agent(self, id: str) -> TeamMemory:
        return self.workspace.as_member(id)

    def working_memory(self, id: str) -> mycel.WorkingMemory:
        return mycel.WorkingMemory(id, session_id="s-1", data=self.folder / "data")


@pytest.fixture
def swarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Swarm]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYCEL_EMBEDDER", raising=False)
    with mycel.open(tmp_path / "data") as workspace:
        workspace.add_team("swarm")
        workspace.add_member("planner", team="swarm", role="orchestrator")
        for id in ("swe-1", "swe-2"):
            workspace.add_member(id, team="swarm", role="agent")
        yield Swarm(workspace, tmp_path)


def write(swarm: Swarm, name: str, text: str) -> None:
    (swarm.folder / name).write_text(text, "utf-8")


# Filters


def test_filter_knowledge_by_project_and_category(swarm: Swarm) -> None:
    known = swarm.orchestrator.knowledge
    known.upsert(project="swarm", category="convention", key="imports", value="Use the node: prefix for builtins.")
    known.upsert(project="swarm", category="decision", key="orm", value="No ORM, raw prepared statements.")
    known.upsert(project="other", category="convention", key="imports", value="Sort them.")
    found = swarm.agent("swe-1").knowledge.list(project="swarm", category="convention")
    assert [(one.key, one.content) for one in found] == [("imports", "Use the node: prefix for builtins.")]
    assert {one.key for one in swarm.agent("swe-1").knowledge.list(project="swarm")} == {"imports", "orm"}
    known.delete(found[0].id)
    assert list(known.list(project="swarm", category="convention")) == []


def test_filter_episodes_by_task_and_failures_by_agent(swarm: Swarm) -> None:
    swarm.agent("swe-1").episodes.log(task_id="T-1", action="failed", approach="patch the driver")
    swarm.agent("swe-1").episodes.log(task_id="T-2", action="completed", approach="replace the driver")
    swarm.agent("swe-2").episodes.log(task_id="T-1", action="retried", approach="patch the driver again")
    ledger = swarm.orchestrator.episodes
    assert {one.approach for one in ledger.list(task_id="T-1")} == {"patch the driver", "patch the driver again"}
    assert [one.approach for one in ledger.list(agent_id="swe-1", action="failed")] == ["patch the driver"]


def test_filter_artifacts_by_task_type_path_and_text(swarm: Swarm) -> None:
    write(swarm, "driver.py", "RETRIES = 3\n")
    write(swarm, "test_driver.py", "def test(): ...\n")
    mine = swarm.agent("swe-1").artifacts
    mine.register(task_id="T-1", type="file", path="driver.py", description="a driver that retries")
    mine.register(task_id="T-1", type="test", path="test_driver.py", description="its tests")
    mine.register(task_id="T-2", type="config", path="driver.toml", content="retries = 3", keep_content=True)
    registry = swarm.orchestrator.artifacts
    assert {one.path for one in registry.list(task_id="T-1")} == {"driver.py", "test_driver.py"}
    assert [one.path for one in registry.list(type="test")] == ["test_driver.py"]
    assert [one.task_id for one in registry.list(path="driver.toml")] == ["T-2"]
    assert next(one.path for one in registry.list(text="retries = 3")) == "driver.toml"


# Usage patterns


def test_pattern_what_was_tried_for_this_task(swarm: Swarm) -> None:
    swarm.agent("swe-1").fail_task(task_id="T-1", what_went_wrong="deadlock", approach="lock the whole table")
    swarm.agent("swe-2").complete_task(task_id="T-1", output="it runs", approach="lock single rows")
    tried = swarm.orchestrator.episodes.list(task_id="T-1")
    assert [(one.action, one.agent_id, one.approach) for one in tried] == [
        (Action.COMPLETED, "swe-2", "lock single rows"),
        (Action.FAILED, "swe-1", "lock the whole table"),
    ]


def test_pattern_what_worked_for_similar_tasks(swarm: Swarm) -> None:
    log = swarm.agent("swe-1").episodes.log
    log(task_id="T-1", action="completed", approach="add an index on the customer column", outcome="orders load fast")
    log(task_id="T-2", action="completed", approach="compress the product pictures", outcome="pages are smaller")
    log(task_id="T-3", action="failed", approach="cache the order list in memory", outcome="stale orders")
    worked = swarm.agent("swe-2").episodes.similar("the list of orders is slow to load", action="completed")
    assert worked[0].episode.approach == "add an index on the customer column"
    assert all(one.episode.action is Action.COMPLETED for one in worked)


def test_pattern_analytics_of_approaches_and_agents_over_time(swarm: Swarm) -> None:
    first, second = swarm.agent("swe-1").episodes, swarm.agent("swe-2").episodes
    first.log(action="failed", approach="increase the connection pool size", duration_ms=100)
    second.log(action="failed", approach="raise the size of the connection pool to 50", duration_ms=300)
    second.log(action="completed", approach="close idle connections after a minute")
    rates = {one.name: (one.rate, one.episodes) for one in swarm.orchestrator.episodes.success_rates("approach")}
    assert rates == {
        "raise the size of the connection pool to 50": (0.0, 2),
        "close idle connections after a minute": (1.0, 1),
    }
    assert {one.name: one.rate for one in swarm.orchestrator.episodes.success_rates("agent")} == {
        "swe-1": 0.0,
        "swe-2": 0.5,
    }
    (today,) = swarm.orchestrator.episodes.success_rates("day")
    assert (today.completed, today.failed, today.tally.mean_duration_ms) == (1, 2, 200)


# Integration points


def test_integration_orchestrator_reads_episodes_writes_knowledge_and_hands_on_artifacts(swarm: Swarm) -> None:
    write(swarm, "profile.txt", "90 % in parse()\n")
    swarm.agent("swe-1").after_task(
        task_id="T-1",
        action="failed",
        approach="cache the parsed files",
        what_went_wrong="the cache grew without bounds",
        artifacts=[{"path": "profile.txt", "type": "document", "description": "where the import spends its time"}],
        project="importer",
    )
    swarm.orchestrator.knowledge.upsert(
        project="importer", category="convention", key="memory", value="The importer may use at most 512 MB of memory."
    )
    briefing = swarm.orchestrator.before_task("make the importer faster", task_id="T-1", project="importer")
    assert [one.approach for one in briefing.avoid] == ["cache the parsed files"]
    assert [one.key for one in briefing.knowledge] == ["memory"]
    assert [one.path for one in briefing.artifacts] == ["profile.txt"]
    text = briefing.to_markdown()
    assert "cache the parsed files" in text
    assert "512 MB" in text
    assert "profile.txt" in text


def test_integration_agent_processes_have_working_memory_log_and_register(swarm: Swarm) -> None:
    with swarm.working_memory("swe-1") as notes:
        notes.current_plan = "profile first"
        notes.add_constraint("no new dependencies")
        notes.set_context("task", "T-1")
        notes.note("parse() is slow")
    program = (
        "import mycel, sys\n"
        "memory = mycel.WorkingMemory('swe-1', session_id='s-1', data=sys.argv[1])\n"
        "print(memory.restored, memory.current_plan, *memory.active_constraints, *memory.scratchpad)\n"
        "other = mycel.WorkingMemory('swe-2', session_id='s-1', data=sys.argv[1])\n"
        "print(other.restored, other.current_plan)\n"
    )
    data = str(swarm.folder / "data")
    restarted = subprocess.run([sys.executable, "-c", program, data], capture_output=True, text=True, check=True)
    assert restarted.stdout.splitlines() == ["True profile first no new dependencies parse() is slow", "False None"]
    agent = swarm.agent("swe-1")
    agent.fail_task(task_id="T-1", what_went_wrong="no time left")
    agent.artifacts.register(task_id="T-1", type="patch", path="fix.patch", content="--- a\n+++ b\n")
    assert agent.episodes.list(task_id="T-1")[0].action is Action.FAILED
    assert agent.artifacts.list(task_id="T-1")[0].size_bytes == len("--- a\n+++ b\n")


def test_integration_task_graph_completion_logs_an_episode_and_links_artifacts(swarm: Swarm) -> None:
    write(swarm, "report.md", "# Done\n")
    done = {
        "task_id": "T-7",
        "action": "completed",
        "approach": "split the import into batches",
        "output": "The import of 2 million rows takes 4 minutes.",
        "artifacts": [{"path": "report.md", "type": "document"}],
        "lessons": ["Batches of 10,000 rows keep the import below 512 MB."],
        "duration_ms": 240_000,
        "tokens_in": 9000,
        "tokens_out": 700,
    }
    first = swarm.agent("swe-2").after_task(done)
    again = swarm.agent("swe-2").after_task(done)
    assert (again.episode.id, again.artifacts[0].id, again.lessons[0].id, again.event.id) == (
        first.episode.id,
        first.artifacts[0].id,
        first.lessons[0].id,
        first.event.id,
    )
    assert len(swarm.orchestrator.episodes.list(task_id="T-7")) == 1
    (artifact,) = swarm.orchestrator.artifacts.list(task_id="T-7")
    assert swarm.orchestrator.artifacts.verify(artifact.id).state is FileState.UNCHANGED
    write(swarm, "report.md", "# Done twice\n")
    assert swarm.orchestrator.artifacts.verify(artifact.id).state is FileState.CHANGED
    (swarm.folder / "report.md").unlink()
    assert swarm.orchestrator.artifacts.verify(artifact.id).state is FileState.GONE
    assert [one.status.value for one in first.lessons] == ["inbox"]


def test_integration_ui_has_what_its_views_show(swarm: Swarm) -> None:
    """The knowledge of a project, the timeline of a task and its outputs, each by one call and in pages."""
    swarm.orchestrator.knowledge.upsert(
        project="swarm", category="architecture", key="auth", value="A key for a token."
    )
    for number in range(3):
        swarm.agent("swe-1").episodes.log(task_id="T-1", action="retried", approach=f"try {number}")
    swarm.agent("swe-1").artifacts.register(task_id="T-1", path="a.txt", content="a")
    page = swarm.orchestrator.episodes.list(task_id="T-1", limit=2)
    rest = swarm.orchestrator.episodes.list(task_id="T-1", limit=2, cursor=page.next_cursor)
    assert [one.approach for one in (*page, *rest)] == ["try 2", "try 1", "try 0"]
    assert [one.key for one in swarm.orchestrator.knowledge.list(project="swarm", limit=10)] == ["auth"]
    assert [one.path for one in swarm.orchestrator.artifacts.list(task_id="T-1", limit=10)] == ["a.txt"]
