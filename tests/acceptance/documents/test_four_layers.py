"""The document of the four layers: its interface, schemas, endpoints and patterns of use, as it shows them."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

import mycel
from mycel.app import open_workspace
from mycel.testing.clock import ManualClock
from tests.acceptance.documents.conftest import client_of

pytestmark = pytest.mark.each_database

SHOWN = Path(__file__).with_name("four_layers")
# As JSON has them: the types of the interface and of the columns.
OF_TYPESCRIPT = {
    "string": str,
    "string | null": (str, type(None)),
    "string[]": list,
    "Record<string, unknown>": dict,
    "number": int,
}
OF_SQL = {"TEXT": str, "INTEGER": int, "REAL": float}
MEMBERS = {"orchestrator": "orchestrator", "agent-1": "agent", "agent-2": "agent"}
EPISODE: dict[str, Any] = {
    "task_id": "X",
    "agent_id": "agent-1",
    "action": "failed",
    "approach": "patch the driver in place",
    "outcome": "the tests of the driver hang",
    "duration_ms": 90_000,
    "tokens_in": 9000,
    "tokens_out": 700,
}
ARTIFACT: dict[str, Any] = {
    "task_id": "X",
    "agent_id": "agent-1",
    "type": "test",
    "path": "src/memory/memory.test.ts",
    "description": "Unit tests for all stores",
    "size_bytes": 7,
    "checksum": hashlib.sha256(b"it();\n\n").hexdigest(),
}


@dataclass(frozen=True)
class Api:
    """The service, as each of three members of a project asks it."""

    workspace: mycel.Workspace
    clients: dict[str, httpx2.Client]

    def ask(self, who: str, line: str, body: object = None, *, status: int = 200, **said: str) -> Any:
        """Send a line of the document, `POST /api/… -- what it does`, with the values of its `:names`."""
        method, target = line.partition("--")[0].split()
        for name, value in said.items():
            target = target.replace(f":{name}", value)
        answer = self.clients[who].request(method, target, json=body)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None


@pytest.fixture
def api(workspace: mycel.Workspace, service: str) -> Iterator[Api]:
    workspace.add_team("swarm")
    for id, role in MEMBERS.items():
        workspace.add_member(id, team="swarm", role=role)
    with ExitStack() as closing:
        yield Api(workspace, {id: closing.enter_context(client_of(workspace, service, id)) for id in MEMBERS})


def endpoints(*starts: str) -> list[str]:
    """The lines of the document that begin so, blanks aside."""
    lines = [re.sub(r"\s+", " ", line) for line in (SHOWN / "endpoints.txt").read_text().splitlines() if line]
    found = [line for line in lines if line.startswith(starts)]
    assert len(found) == len(starts)
    return found


def columns_of(table: str) -> list[tuple[str, str, bool, tuple[str, ...]]]:
    """Name, type, whether it must be given, and the words that its comment names, from CREATE TABLE as it stands."""
    body = re.findall(rf"CREATE TABLE {table} \((.*?)\n\);", (SHOWN / "schema.sql").read_text(), re.DOTALL)[0]
    rows = re.findall(r"^  (\w+) +(TEXT|INTEGER|REAL)\b([^\n]*)", body, re.MULTILINE)
    return [
        (name, kind, "NOT NULL" in rest, tuple(re.findall(r"'([\w-]+)'", rest.partition("--")[2])))
        for name, kind, rest in rows
    ]


def examples() -> list[dict[str, str]]:
    return [dict(re.findall(r'(\w+): "([^"]*)"', line)) for line in (SHOWN / "knowledge.txt").read_text().splitlines()]


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, "utf-8")


# Working memory


def test_working_memory_has_the_fields_of_the_interface(tmp_path: Path) -> None:
    with mycel.WorkingMemory("agent-1", session_id="s-1", data=tmp_path) as memory:
        empty = memory.to_dict()
        memory.current_plan = "Profile first"
        memory.add_constraint("No new dependencies")
        memory.set_context("task", {"id": "X", "tries": 2})
        memory.note("parse() is slow")
        told = memory.to_dict()
    fields = dict(re.findall(r"^  (\w+): ([^;]+);", (SHOWN / "working-memory.ts").read_text(), re.MULTILINE))
    for shown in (empty, told):
        assert shown.keys() == fields.keys()
        for name, kind in fields.items():
            assert isinstance(shown[name], OF_TYPESCRIPT[kind]), name
    assert (told["agentId"], told["currentPlan"], told["activeConstraints"]) == (
        "agent-1",
        "Profile first",
        ["No new dependencies"],
    )
    assert (told["taskContext"], told["scratchpad"]) == ({"task": {"id": "X", "tries": 2}}, ["parse() is slow"])
    assert told["updatedAt"] >= empty["updatedAt"]


def test_working_memory_is_lost_on_restart_and_warm_after_a_snapshot(tmp_path: Path) -> None:
    program = (
        "import mycel, sys\n"
        "memory = mycel.WorkingMemory('agent-1', session_id='s-1', data=sys.argv[1])\n"
        "print(memory.current_plan)\n"
        "memory.current_plan = 'go on'\n"
        "if sys.argv[2] == 'graceful': memory.close()\n"
    )
    plans = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path), how], capture_output=True, text=True, check=True
        ).stdout.strip()
        for how in ("at once", "graceful", "graceful")
    ]
    assert plans == ["None", "None", "go on"]


def test_working_memory_is_the_agents_alone(api: Api, tmp_path: Path) -> None:
    with mycel.WorkingMemory("agent-1", session_id="s-1", data=tmp_path) as memory:
        memory.note("only mine")
    other = mycel.WorkingMemory("agent-2", session_id="s-1", data=tmp_path)
    assert (other.restored, other.scratchpad) == (False, ())
    another_session = mycel.WorkingMemory("agent-1", session_id="s-2", data=tmp_path)
    assert another_session.scratchpad == ()
    # There is no endpoint, and no search finds it.
    described = api.clients["agent-2"].get("/openapi.json").json()["paths"]
    assert not [path for path in described if "working" in path]
    found = api.ask("agent-2", "POST /api/memory/search", {"query": "only mine"})
    assert found["results"] == []


# Long-term knowledge


@pytest.mark.parametrize("table", ["knowledge", "episodes", "artifacts"])
def test_answers_have_every_column_of_the_schema(api: Api, table: str) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "knowledge": {"project": "swarm", "category": "fact", "key": "k", "value": "v", "source": "user"},
        "episodes": EPISODE,
        "artifacts": ARTIFACT,
    }
    created = 200 if table == "knowledge" else 201
    stored = api.ask("agent-1", f"POST /api/memory/{table}", bodies[table], status=created)
    (listed,) = api.ask("agent-2", f"GET /api/memory/{table}")
    for name, kind, _, _ in columns_of(table):
        for shown in (stored, listed):
            assert isinstance(shown[name], OF_SQL[kind]), (name, shown[name])
        if name in bodies[table]:
            assert listed[name] == bodies[table][name]
    if table == "knowledge":
        assert (stored["confidence"], stored["source"]) == (1.0, "user")


@pytest.mark.parametrize("table", ["knowledge", "episodes", "artifacts"])
def test_columns_have_the_words_of_their_comments(api: Api, table: str) -> None:
    (line,) = endpoints(f"POST /api/memory/{table}")
    body: dict[str, Any] = {"knowledge": {"project": "swarm", "key": "k", "value": "v"}, "episodes": EPISODE}.get(
        table, ARTIFACT
    )
    (name, words) = next((name, words) for name, _, _, words in columns_of(table) if len(words) > 2)
    for word in words:
        stored = api.ask("agent-1", line, {**body, name: word}, status=200 if table == "knowledge" else 201)
        assert stored[name] == word
    if table != "knowledge":
        api.ask("agent-1", line, {**body, name: "other"}, status=422)


def test_sources_come_back_as_they_were_given(api: Api) -> None:
    (post,) = endpoints("POST /api/memory/knowledge")
    for source in ("agent-1", "user", "orchestrator"):
        body = {"project": "swarm", "category": "fact", "key": source, "value": "v", "source": source}
        assert api.ask("agent-1", post, body)["source"] == source
    unsaid = api.ask("agent-2", post, {"project": "swarm", "category": "fact", "key": "k", "value": "v"})
    assert unsaid["source"] == "agent-2"


def test_the_three_examples_are_kept_and_asked_for_by_project_and_category(api: Api) -> None:
    get, post, _ = endpoints("GET /api/memory/knowledge", "POST /api/memory/knowledge", "DELETE /api/memory/knowledge")
    for example in examples():
        assert api.ask("orchestrator", post, example)["value"] == example["value"]
    for example in examples():
        asked = get.replace("project=X", f"project={example['project']}").replace(
            "category=Y", f"category={example['category']}"
        )
        (found,) = api.ask("agent-1", asked)
        assert {name: found[name] for name in example} == example
    assert api.ask("agent-1", get) == []


def test_knowledge_is_one_value_per_project_category_and_key(api: Api) -> None:
    get, post, delete = endpoints(
        "GET /api/memory/knowledge", "POST /api/memory/knowledge", "DELETE /api/memory/knowledge"
    )
    body = {"project": "X", "category": "Y", "key": "imports", "value": "Use node: prefix for builtins"}
    first = api.ask("agent-1", post, body)
    second = api.ask("agent-1", post, {**body, "value": "Sort them"})
    assert (second["id"], second["version"]) == (first["id"], 2)
    api.ask("agent-1", post, {**body, "category": "Z"})
    assert [one["value"] for one in api.ask("agent-2", get)] == ["Sort them"]
    api.ask("agent-2", delete, status=403, id=first["id"])
    api.ask("orchestrator", delete, status=204, id=first["id"])
    assert api.ask("agent-2", get) == []
    api.ask("orchestrator", delete, status=404, id=first["id"])


def test_of_conflicting_entries_the_surer_stands_and_the_orchestrator_decides(api: Api) -> None:
    (get, post) = endpoints("GET /api/memory/knowledge", "POST /api/memory/knowledge")
    body = {"project": "X", "category": "Y", "key": "port"}
    first = api.ask("agent-1", post, {**body, "value": "8080", "confidence": 0.6})
    waits = api.ask("agent-2", post, {**body, "value": "9090", "confidence": 0.6}, status=202)
    assert (first["applied"], waits["applied"], waits["status"]) == (True, False, "inbox")
    assert (waits["standing"]["id"], waits["standing"]["value"]) == (first["id"], "8080")
    assert "orchestrator" in waits["decided_by"]
    surer = api.ask("agent-2", post, {**body, "value": "9091", "confidence": 0.9})
    assert (surer["applied"], surer["id"]) == (True, first["id"])
    assert [one["value"] for one in api.ask("agent-1", get)] == ["9091"]
    # The one opinion that still waits, and the orchestrator's word in the matter.
    (candidate,) = api.ask("orchestrator", "GET /api/memory/knowledge/candidates?project=X")
    held = api.ask("orchestrator", f"POST /api/memory/knowledge/{candidate['id']}/arbitrate", {})
    assert (held["value"], held["applied"]) == ("9090", True)
    own = api.ask("orchestrator", post, {**body, "value": "7077", "confidence": 0.1})
    assert (own["applied"], [one["value"] for one in api.ask("agent-1", get)]) == (True, ["7077"])


def test_an_equal_entry_of_another_agent_confirms(api: Api) -> None:
    (post,) = endpoints("POST /api/memory/knowledge")
    body = examples()[0]
    first = api.ask("agent-1", post, {**body, "confidence": 0.7})
    confirmed = api.ask("agent-2", post, {**body, "confidence": 0.8})
    assert (confirmed["id"], confirmed["confidence"], confirmed["confirmations"]) == (first["id"], 0.8, 1)
    (link,) = api.ask("agent-1", f"GET /api/memory/{first['id']}/links")
    assert (link["relation"], link["created_by"]) == ("supports", "agent-2")


# Episodic logs


def test_episodes_are_logged_and_asked_for_by_task_and_by_failures_of_an_agent(api: Api) -> None:
    by_task, by_agent, post = endpoints(
        "GET /api/memory/episodes?task", "GET /api/memory/episodes?agent", "POST /api/memory/episodes"
    )
    for who, changed in (("agent-1", {}), ("agent-1", {"action": "retried"}), ("agent-2", {"task_id": "Z"})):
        api.ask(who, post, {**EPISODE, "agent_id": who, **changed}, status=201)
    assert [one["action"] for one in api.ask("orchestrator", by_task)] == ["retried", "failed"]
    found = api.ask("orchestrator", by_agent.replace("agent_id=X", "agent_id=agent-1"))
    assert [(one["agent_id"], one["action"]) for one in found] == [("agent-1", "failed")]
    # Who did it is who asked: only the orchestrator logs for others.
    api.ask("agent-2", post, EPISODE, status=403)
    assert api.ask("orchestrator", post, EPISODE, status=201)["agent_id"] == "agent-1"


def test_the_ledger_tells_success_by_approach_and_by_agent_over_time(api: Api) -> None:
    (post,) = endpoints("POST /api/memory/episodes")
    for who, action in (("agent-1", "failed"), ("agent-1", "completed"), ("agent-2", "completed")):
        api.ask(who, post, {**EPISODE, "agent_id": who, "action": action}, status=201)
    rates = "GET /api/memory/episodes/success-rates?by="
    (approach,) = api.ask("orchestrator", f"{rates}approach")
    assert (approach["name"], round(approach["rate"], 2)) == (EPISODE["approach"], 0.67)
    assert {one["name"]: one["rate"] for one in api.ask("orchestrator", f"{rates}agent")} == {
        "agent-1": 0.5,
        "agent-2": 1.0,
    }
    (today,) = api.ask("orchestrator", f"{rates}day")
    assert (today["completed"], today["failed"]) == (2, 1)


def test_the_orchestrator_asks_what_was_tried_and_agents_what_worked(api: Api) -> None:
    (post,) = endpoints("POST /api/memory/episodes")
    worked = {**EPISODE, "task_id": "W", "action": "completed", "approach": "replace the driver of the printer"}
    for body in (EPISODE, worked):
        api.ask("agent-1", post, body, status=201)
    tried = api.ask("orchestrator", "POST /api/tasks/before", {"task": "the driver of the printer", "task_id": "X"})
    assert [one["approach"] for one in tried["tried"]] == [EPISODE["approach"]]
    assert [one["approach"] for one in tried["avoid"]] == [EPISODE["approach"]]
    similar = api.ask("agent-2", "GET /api/memory/episodes/similar?task=driver+of+the+printer&action=completed")
    assert [one["episode"]["approach"] for one in similar] == [worked["approach"]]


def test_episodes_are_kept_for_thirty_days_unless_the_policy_says_otherwise(tmp_path: Path) -> None:
    clock = ManualClock()
    with open_workspace(tmp_path / "data", clock=clock) as workspace:
        workspace.add_team("swarm")
        workspace.add_member("agent-1", team="swarm")
        ledger = workspace.as_member("agent-1").episodes
        for kept, days in (("30d", (29, 2)), ("7d", (6, 2))):
            assert workspace.as_operator("swarm").policy().episodes_kept is not None
            if kept != "30d":
                workspace.as_operator("swarm").set_policy(episodes_kept=kept)
            ledger.log(action="attempted", approach=f"kept {kept}", task_id=kept)
            clock.move(timedelta(days=days[0]))
            workspace.maintain()
            assert len(ledger.list(task_id=kept)) == 1
            clock.move(timedelta(days=days[1]))
            workspace.maintain()
            assert not ledger.list(task_id=kept)


# Artifact memory


def test_artifacts_are_registered_listed_by_task_and_type_and_deregistered(api: Api) -> None:
    by_task, by_type, post, delete = endpoints(
        "GET /api/memory/artifacts?task",
        "GET /api/memory/artifacts?type",
        "POST /api/memory/artifacts",
        "DELETE /api/memory/artifacts",
    )
    test = api.ask("agent-1", post, ARTIFACT, status=201)
    patch = {**ARTIFACT, "type": "patch", "path": "fix.patch"}
    api.ask("agent-1", post, patch, status=201)
    assert {one["path"] for one in api.ask("agent-2", by_task)} == {ARTIFACT["path"], "fix.patch"}
    assert [one["path"] for one in api.ask("orchestrator", by_type)] == [ARTIFACT["path"]]
    (by_path,) = api.ask("agent-2", f"GET /api/memory/artifacts?path={ARTIFACT['path']}")
    assert by_path["id"] == test["id"]
    api.ask("agent-2", delete, status=403, id=test["id"])
    api.ask("agent-1", delete, status=204, id=test["id"])
    assert api.ask("orchestrator", by_type) == []


def test_paths_are_relative_and_checksums_are_of_the_content_at_that_time(api: Api) -> None:
    (post,) = endpoints("POST /api/memory/artifacts")
    write("src/queue.ts", "export {};\n")
    stored = api.ask("agent-1", post, {"task_id": "X", "type": "file", "path": "src/queue.ts"}, status=201)
    assert (stored["size_bytes"], stored["checksum"]) == (11, hashlib.sha256(b"export {};\n").hexdigest())
    verify = f"POST /api/memory/artifacts/{stored['id']}/verify"
    assert api.ask("agent-2", verify, {})["state"] == "unchanged"
    write("src/queue.ts", "export default 1;\n")
    assert api.ask("agent-2", verify, {})["state"] == "changed"
    for path in ("/etc/passwd", "../outside.ts"):
        api.ask("agent-1", post, {"task_id": "X", "type": "file", "path": path}, status=422)


def test_artifacts_can_be_given_an_end(tmp_path: Path) -> None:
    clock = ManualClock()
    with open_workspace(tmp_path / "data", clock=clock) as workspace:
        workspace.add_team("swarm")
        workspace.add_member("agent-1", team="swarm")
        memory = workspace.as_member("agent-1")
        short, lasting = (memory.artifacts.register(path=path, content=path, task_id="X") for path in ("a", "b"))
        memory.update(short.id, ttl="30d")
        clock.move(timedelta(days=31))
        workspace.maintain()
        assert [one.id for one in memory.artifacts.list(task_id="X")] == [lasting.id]


# Integration points


def test_the_orchestrator_plans_by_what_is_remembered(api: Api) -> None:
    """Plan, execute, observe, plan again: the outcomes, the conventions and the outputs of the first turn are in it."""
    write("profile.txt", "90 % in parse()\n")
    done = {
        "task_id": "X",
        "action": "failed",
        "approach": "cache the parsed files",
        "what_went_wrong": "the cache grew without bounds",
        "artifacts": [{"path": "profile.txt", "type": "document"}],
        "project": "swarm",
    }
    first = api.ask("orchestrator", "POST /api/tasks/before", {"task": "import faster", "task_id": "X"})
    assert (first["tried"], first["artifacts"]) == ([], [])
    api.ask("agent-1", "POST /api/tasks/after", done)
    (post,) = endpoints("POST /api/memory/knowledge")
    api.ask(
        "orchestrator",
        post,
        {"project": "swarm", "category": "convention", "key": "memory", "value": "512 MB at most."},
    )
    asked = {"task": "import faster, within memory", "task_id": "X", "project": "swarm"}
    second = api.ask("orchestrator", "POST /api/tasks/before", asked)
    assert [one["approach"] for one in second["avoid"]] == ["cache the parsed files"]
    assert [one["key"] for one in second["knowledge"]] == ["memory"]
    assert [one["path"] for one in second["artifacts"]] == ["profile.txt"]


def test_completing_or_failing_a_task_logs_its_episode_and_links_its_artifacts(api: Api) -> None:
    (by_task, artifacts) = endpoints("GET /api/memory/episodes?task", "GET /api/memory/artifacts?task")
    failed = {"task_id": "X", "what_went_wrong": "deadlock", "approach": "lock the table"}
    api.ask("agent-1", "POST /api/tasks/fail", failed, status=202)
    done = {"task_id": "X", "output": "it runs", "approach": "lock single rows"}
    api.ask("agent-2", "POST /api/tasks/complete", done, status=202)
    found = [(one["agent_id"], one["action"], one["approach"]) for one in api.ask("orchestrator", by_task)]
    assert found == [("agent-2", "completed", "lock single rows"), ("agent-1", "failed", "lock the table")]
    api.ask("agent-2", "POST /api/memory/artifacts", {"task_id": "X", "path": "fix.patch", "content": "+1"}, status=201)
    (linked,) = api.ask("orchestrator", artifacts)
    assert (linked["path"], linked["agent_id"]) == ("fix.patch", "agent-2")


def test_pages_show_knowledge_the_timeline_of_a_task_and_its_artifacts(api: Api) -> None:
    (post, log, register) = endpoints(
        "POST /api/memory/knowledge", "POST /api/memory/episodes", "POST /api/memory/artifacts"
    )
    example = examples()[2]
    api.ask("orchestrator", post, example)
    for action in ("failed", "retried"):
        api.ask("agent-1", log, {**EPISODE, "action": action, "approach": f"{action} it"}, status=201)
    api.ask("agent-1", register, ARTIFACT, status=201)
    client = api.clients["agent-2"]
    token = client.headers["authorization"].removeprefix("Bearer ")

    def page(address: str) -> str:
        shown = client.get(address, headers={"cookie": f"mycel_token={token}", "accept": "text/html"})
        assert shown.status_code == 200
        return shown.text

    knowledge = page("/browse/knowledge?project=swarm")
    assert example["key"] in knowledge
    assert "Single API_KEY exchanged for JWT via" in knowledge
    task = page("/tasks/X")
    for shown in ("failed it", "retried it", ARTIFACT["path"]):
        assert shown in task


# Where it is kept, and what comes along


@pytest.mark.files_only
def test_it_is_a_single_sqlite_file_in_wal_mode_that_outlives_the_process(tmp_path: Path) -> None:
    persistent = tmp_path / "persistent"
    with mycel.open(persistent) as workspace:
        workspace.add_team("swarm")
        workspace.add_member("agent-1", team="swarm")
        workspace.as_member("agent-1").knowledge.upsert(**examples()[0])
    (file,) = persistent.glob("teams/*/memory.sqlite")
    connection = sqlite3.connect(file)
    try:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    finally:
        connection.close()
    with mycel.open(persistent) as workspace:
        assert [one.content for one in workspace.as_member("agent-1").knowledge.list()] == [examples()[0]["value"]]


def test_shared_markdown_becomes_knowledge_and_stays(api: Api) -> None:
    text = "# Conventions\n- **imports**: Use node: prefix for builtins\n\n# Decisions\n- **orm**: No ORM\n"
    write("CONTEXT.md", text)
    told = {"text": Path("CONTEXT.md").read_text("utf-8"), "name": "CONTEXT.md", "project": "X", "confidence": 1.0}
    report = api.ask("agent-1", "POST /api/memory/knowledge/import", told)
    assert {one["key"]: (one["category"], one["outcome"]) for one in report["entries"]} == {
        "imports": ("convention", "created"),
        "orm": ("decision", "created"),
    }
    again = api.ask("agent-2", "POST /api/memory/knowledge/import", told)
    assert {one["outcome"] for one in again["entries"]} == {"unchanged"}
    assert Path("CONTEXT.md").read_text("utf-8") == text
