"""What the document "Team-Scoped Agent Memory" shows, run as it stands there."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

import mycel
from mycel.adapters.team_memory import TeamMemory
from mycel.domain.rendering import estimate_tokens
from mycel.errors import Conflict, InvalidInput, Misconfigured, NotFound
from tests.acceptance.documents.conftest import client_of
from tests.surfaces.hooks.hooking import recorded, run_hook

SHOWN = Path(__file__).parent / "team_scoped_memory"
ORG = SHOWN / "org"
LESSON = "GitHub answers 403 when the rate limit is used up."


@pytest.fixture
def org(workspace: mycel.Workspace) -> mycel.Workspace:
    """Load the team files of the document; what `OrgLoader` does at boot."""
    workspace.load_org(ORG)
    return workspace


class Tools:
    """The tools of one agent, as an MCP client calls them."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        self._http.headers["accept"] = "application/json, text/event-stream"
        who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
        self._ask("initialize", who)

    def list(self) -> dict[str, dict[str, Any]]:
        return {tool["name"]: tool for tool in self._ask("tools/list", {})["tools"]}

    def call(self, name: str, **arguments: object) -> dict[str, Any]:
        found = self._ask("tools/call", {"name": name, "arguments": arguments})
        assert not found["isError"], found
        return found["structuredContent"]

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        came = self._http.post("/mcp?tools=team", json=body)
        assert came.status_code == 200, came.text
        self._http.headers.setdefault("mcp-session-id", came.headers.get("mcp-session-id", ""))
        return json.loads(came.text[came.text.index("{") :])["result"]


@pytest.fixture
def tools(org: mycel.Workspace, service: str) -> Iterator[Callable[[str], Tools]]:
    with ExitStack() as opened:
        yield lambda member: Tools(opened.enter_context(client_of(org, service, member)))


@pytest.fixture
def agent_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand where the document's paths begin, with nothing there but the user layer."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ORG, tmp_path / "org")
    return tmp_path / "agent"


def database(team: str) -> str:
    return f"agent/org/teams/{team}/memory.sqlite"


# Goals


def test_knowledge_outlasts_a_restart(agent_layer: Path) -> None:
    with TeamMemory(database("engineering")) as memory:
        id = memory.save("swe-1", "lesson", LESSON, "api,github,rate-limits")
    with TeamMemory(database("engineering")) as memory:
        assert [one.id for one in memory.recent(10)] == [id]
        assert [one.id for one in memory.search("rate limit")] == [id]


@pytest.mark.each_database
def test_teammates_share_and_other_teams_see_nothing(org: mycel.Workspace) -> None:
    org.add_member("swe-2", team="engineering")
    org.as_member("swe-1").save(LESSON, type="lesson")
    assert [hit.memory.agent_id for hit in org.as_member("swe-2").search("rate limit").hits] == ["swe-1"]
    assert org.as_member("pm-1").search("rate limit", min_relevance=0).hits == ()
    assert list(org.as_member("ceo").recent()) == []


@pytest.mark.each_database
def test_decisions_cascade_down_the_hierarchy(org: mycel.Workspace) -> None:
    decision = org.as_operator("executive").save("No releases in the last week of a quarter.", type="decision")
    org.as_operator("executive").cascade(decision.id)
    org.run_pending()
    for member in ("swe-1", "pm-1"):
        [copy] = org.as_member(member).recent()
        assert (copy.content, copy.agent_id) == (decision.content, "operator")


# Storage layout


def test_each_team_has_one_file_made_on_its_first_write(agent_layer: Path) -> None:
    teams = ("engineering", "product", "executive")
    memories = {team: TeamMemory(database(team)) for team in teams}
    assert [memory.recent(10) + memory.search("anything") for memory in memories.values()] == [[], [], []]
    assert not agent_layer.exists()
    made: list[str] = []
    for team, agent in zip(teams, ("swe-1", "pm-1", "ceo"), strict=True):
        memories[team].save(agent, "fact", f"A fact of {team}.")
        made.append(team)
        assert sorted(file.parent.name for file in agent_layer.rglob("memory.sqlite")) == sorted(made)
        assert Path(database(team)).is_file()
    for memory in memories.values():
        memory.close()


def test_the_files_of_teams_are_independent(agent_layer: Path) -> None:
    for team, agent in (("engineering", "swe-1"), ("product", "pm-1")):
        with TeamMemory(database(team)) as memory:
            memory.save(agent, "fact", f"A fact of {team}.")
    with sqlite3.connect(database("engineering")) as opened:
        assert [row[1] for row in opened.execute("PRAGMA database_list")] == ["main"]
        assert opened.execute("SELECT count(*) FROM memories").fetchone() == (1,)
    opened.close()
    Path(database("product")).write_bytes(b"no database" * 1000)
    with TeamMemory(database("engineering")) as memory:
        assert [one.content for one in memory.recent(10)] == ["A fact of engineering."]


def test_the_user_layer_is_only_read_and_memories_are_apart(agent_layer: Path) -> None:
    before = {file: file.read_bytes() for file in Path("org").rglob("*") if file.is_file()}
    with mycel.open("agent/org") as workspace:
        workspace.load_org("org")
        workspace.as_member("swe-1").save(LESSON, type="lesson")
    assert {file: file.read_bytes() for file in Path("org").rglob("*") if file.is_file()} == before
    assert sorted(path.name for path in Path().iterdir()) == ["agent", "org"]


# Schema


def test_the_table_has_the_columns_of_the_document(agent_layer: Path) -> None:
    with TeamMemory(database("engineering")) as memory:
        id = memory.save("swe-1", "lesson", LESSON, "api,github,rate-limits")
        [shown] = memory.recent(1)
    opened = sqlite3.connect(database("engineering"))
    [row] = opened.execute((SHOWN / "schema.sql").read_text()).fetchall()
    opened.close()
    assert row[:4] == (id, "swe-1", "lesson", LESSON)
    assert UUID(id).version == 7
    assert json.loads(row[4]) == ["api", "github", "rate-limits"]
    # Microseconds in the file, milliseconds where the document's class shows them.
    assert (row[5] // 1000, row[6] // 1000) == (shown.created_at, shown.updated_at)


@pytest.mark.parametrize("type", ["decision", "lesson", "fact"])
def test_the_three_types_are_saved_and_found(agent_layer: Path, type: str) -> None:
    with TeamMemory(database("engineering")) as memory:
        memory.save("swe-1", type, LESSON)
        assert [one.type for one in memory.search("rate limit", type=type)] == [type]
        other = "fact" if type != "fact" else "lesson"
        assert memory.search("rate limit", type=other) == []
        with pytest.raises(InvalidInput, match="type"):
            memory.save("swe-1", "opinion", LESSON)


@pytest.mark.each_database
def test_words_are_found_by_their_stems_in_content_and_tags_and_follow_every_change(org: mycel.Workspace) -> None:
    agent = org.as_member("swe-1")
    memory = agent.save("Retries of failed uploads are limited to three.", type="lesson", tags="api,github,rate-limits")

    def finds(query: str) -> bool:
        return memory.id in {hit.memory.id for hit in agent.search(query).hits}

    assert finds("retry upload")
    assert finds("limiting failures of uploads")
    assert finds("github")
    agent.update(memory.id, content="Backoff doubles after each attempt.", tags="network")
    assert finds("attempts")
    assert finds("network")
    assert not finds("github")
    agent.delete(memory.id)
    assert not finds("attempts")


# Team resolution


def test_agents_resolve_to_the_teams_of_the_table(agent_layer: Path) -> None:
    rows = [line.strip("| ").split(" | ") for line in (SHOWN / "resolution.md").read_text().splitlines()[2:]]
    with mycel.open("agent/org") as workspace:
        workspace.load_org("org")
        members = {member.id: member for member in workspace.members()}
        for agent, title, team, file in rows:
            assert workspace.resolve_team(agent) == team
            assert members[agent].title == title
            workspace.as_member(agent).save(f"A fact of {agent}.", type="fact")
            assert Path(file.strip("`")).is_file()
        assert len(rows) == 3


@pytest.mark.each_database
def test_an_agent_that_no_file_lists_belongs_to_executive(org: mycel.Workspace) -> None:
    assert org.resolve_team("stranger-1") == "executive"
    saved = org.as_member("stranger-1", may_be_new=True).save("A fact of a stranger.", type="fact")
    assert saved.team == "executive"
    assert [one.id for one in org.as_member("ceo").recent()] == [saved.id]


@pytest.mark.each_database
def test_a_director_searches_its_team_and_executive_merged(org: mycel.Workspace) -> None:
    org.as_member("swe-1").save("The release of the importer slips by a week.", type="fact")
    org.as_member("ceo").save("No release of an importer without a security review.", type="decision")
    hits = org.as_member("eng-director").search("release of the importer").hits
    assert {hit.team: hit.memory.agent_id for hit in hits} == {"engineering": "swe-1", "executive": "ceo"}
    assert [hit.team for hit in org.as_member("swe-1").search("release of the importer").hits] == ["engineering"]


@pytest.mark.each_database
def test_executive_sees_no_raw_memories_of_a_team_but_what_a_director_escalates(org: mycel.Workspace) -> None:
    org.as_member("swe-1").save("The importer drops rows with tabs.", type="fact")
    director, ceo = org.as_member("eng-director"), org.as_member("ceo")
    decision = director.save("We replace the importer in May.", type="decision")
    assert ceo.search("importer", min_relevance=0).hits == ()
    director.escalate(decision.id)
    org.run_pending()
    assert [hit.memory.content for hit in ceo.search("importer").hits] == ["We replace the importer in May."]


# Tools


@pytest.mark.each_database
def test_every_agent_has_the_two_tools_with_the_parameters_of_the_document(tools: Callable[[str], Tools]) -> None:
    for agent in ("swe-1", "eng-director", "ceo"):
        offered = tools(agent).list()
        save = offered["save_memory"]["inputSchema"]["properties"]
        assert {"decision", "lesson", "fact"} <= set(save["type"]["enum"])
        assert save["content"]["type"] == "string"
        assert "string" in save["tags"]["type"]
        search = offered["search_memory"]["inputSchema"]
        assert search["properties"]["query"]["type"] == "string"
        assert {"decision", "lesson", "fact"} <= set(search["properties"]["type"]["enum"])
        assert search["required"] == ["query"]
        assert search["properties"]["limit"]["default"] == 10


@pytest.mark.each_database
def test_save_memory_writes_to_the_agents_team_with_comma_separated_tags(
    org: mycel.Workspace, tools: Callable[[str], Tools]
) -> None:
    saved = tools("swe-1").call("save_memory", type="lesson", content=LESSON, tags="api,github,rate-limits")
    memory = org.as_member("swe-1").get(saved["id"])
    assert (memory.team, memory.agent_id, memory.type.value) == ("engineering", "swe-1", "lesson")
    assert memory.tags == ("api", "github", "rate-limits")
    with pytest.raises(NotFound):
        org.as_member("ceo").get(saved["id"])


@pytest.mark.each_database
def test_search_memory_takes_a_type_and_a_limit_which_is_ten(
    org: mycel.Workspace, tools: Callable[[str], Tools]
) -> None:
    writer, others = org.as_member("swe-1"), ("cache", "queue", "index", "parser", "router", "worker")
    subjects = [f"{one} of the {other}" for one in others for other in others if one != other][:14]
    writer.save_many([{"content": f"The deploy of the {name} needs a canary.", "type": "fact"} for name in subjects])
    writer.save("A deploy without a canary broke search.", type="lesson")
    director = tools("eng-director")
    assert len(director.call("search_memory", query="deploy canary", min_relevance=0)["results"]) == 10
    assert len(director.call("search_memory", query="deploy canary", limit=3)["results"]) == 3
    found = director.call("search_memory", query="deploy canary", type="lesson", limit=10)["results"]
    assert [one["type"] for one in found] == ["lesson"]


@pytest.mark.each_database
def test_a_directors_tool_merges_team_and_executive(org: mycel.Workspace, tools: Callable[[str], Tools]) -> None:
    tools("swe-1").call("save_memory", type="fact", content="The audit of the ledger begins in June.")
    tools("ceo").call("save_memory", type="decision", content="Every audit of the ledger is announced.")
    found = tools("eng-director").call("search_memory", query="audit of the ledger")["results"]
    assert {(one["team"], one["author"]) for one in found} == {("engineering", "swe-1"), ("executive", "ceo")}
    assert len(tools("swe-1").call("search_memory", query="audit of the ledger")["results"]) == 1


# Hybrid retrieval


@pytest.mark.each_database
def test_the_ten_newest_stand_in_the_block_as_the_document_writes_it(org: mycel.Workspace) -> None:
    agent = org.as_member("swe-1")
    assert agent.context_for().to_team_memory() == ""
    for number in range(12):
        type = ("decision", "lesson", "fact")[number % 3]
        # One author alone, and the same words twice.
        agent.save(f"Deploy step {number // 2} is checked by hand.", type=type, tags="deploys")
    recent = agent.recent(10)
    lines = [f"[{one.type}][{one.agent_id}] {one.content}" for one in recent]
    assert len(lines) == 10
    assert [one.created_at for one in recent] == sorted((one.created_at for one in recent), reverse=True)
    block = agent.context_for().to_team_memory()
    body = "## Recent Team Memory\n" + "\n".join(lines)
    assert body in block
    assert block == f"<stored-notes>\n{block.splitlines()[1]}\n\n{body}\n</stored-notes>"


@pytest.mark.each_database
def test_ten_long_memories_stay_within_the_tokens_of_the_document(org: mycel.Workspace) -> None:
    agent = org.as_member("swe-1")
    for number in range(10):
        agent.save(f"Service {number} " + "answers slowly under load, which is known. " * 40, type="fact")
    block = agent.context_for(token_budget=1000).to_team_memory()
    lines = [line for line in block.splitlines() if line.startswith("[fact]")]
    assert len(lines) == 10
    assert all(line.endswith("…") for line in lines)
    assert 500 <= estimate_tokens(block) <= 1000


def test_each_message_to_an_agent_begins_with_the_recent_memory_and_then_with_what_is_new(
    workspace: mycel.Workspace, service: str, tmp_path: Path
) -> None:
    workspace.load_org(ORG)
    agent, token = workspace.as_member("swe-1"), workspace.issue_token("swe-1")
    agent.save(LESSON, type="lesson")

    def message(text: str, *, session: str = "s", **env: str) -> str:
        payload = recorded("claude-code", "UserPromptSubmit", cwd=tmp_path, session_id=session, prompt=text)
        variables = {"MYCEL_URL": service, "MYCEL_TOKEN": token, **env}
        ran = run_hook("claude-code", "UserPromptSubmit", payload, data=tmp_path / "hooks", **variables)
        return ran.answer["hookSpecificOutput"]["additionalContext"] if ran.output else ""

    line = f"## Recent Team Memory\n[lesson][swe-1] {LESSON}\n"
    assert line in message("go on")
    assert message("go on") == ""
    agent.save("The importer is frozen.", type="decision")
    assert "## Recent Team Memory\n[decision][swe-1] The importer is frozen.\n</stored-notes>" in message("go on")
    for _ in range(2):
        assert line.splitlines()[1] in message("go on", MYCEL_HOOK_RECENT="every")
    assert "Recent Team Memory" not in message("go on", session="other", MYCEL_HOOK_RECENT="never")


# The class


def test_the_class_saves_searches_lists_and_deletes(agent_layer: Path) -> None:
    with TeamMemory(database("engineering")) as memory:
        first = memory.save("swe-1", "lesson", LESSON, "api,github,rate-limits")
        second = memory.save("eng-director", "decision", "We cache GitHub answers.")
        [found] = memory.search("rate limit", type="lesson", limit=10)
        assert (found.id, found.agent_id, found.type, found.content) == (first, "swe-1", "lesson", LESSON)
        assert found.tags == "api,github,rate-limits"
        assert isinstance(found.created_at, int)
        assert found.created_at == found.updated_at
        newest = memory.recent(1)
        assert [one.id for one in newest] == [second]
        assert newest[0].tags == ""
        assert newest[0].created_at >= found.created_at > 1_700_000_000_000
        memory.delete(first)
        assert [one.id for one in memory.recent(10)] == [second]
        assert memory.search("rate limit") == []
        for id in (first, "019a0000-0000-7000-8000-000000000000"):
            with pytest.raises(NotFound):
                memory.delete(id)


def test_the_class_is_the_same_store_with_the_same_rules(agent_layer: Path) -> None:
    with mycel.open("agent/org") as workspace, TeamMemory(database("engineering")) as memory:
        workspace.load_org("org")
        director = workspace.as_member("eng-director")
        id = memory.save("swe-1", "fact", "The ledger is frozen in June.")
        assert director.get(id).agent_id == "swe-1"
        for number in range(15):
            director.save(f"Salaries of the ledger, {number}.", visibility="role", allowed_roles=["lead"])
            director.save(f"A private word on the ledger, {number}.", visibility="private")
        assert [one.id for one in memory.recent(5)] == [one.id for one in memory.search("ledger", limit=5)] == [id]
        hidden = director.recent(1)[0]
        with pytest.raises(NotFound):
            memory.delete(hidden.id)
        with pytest.raises(Conflict, match="pm-1"):
            memory.save("pm-1", "fact", "A fact of another team.")
        memory.save("swe-7", "fact", "A fact of a new agent.")
        assert workspace.resolve_team("swe-7") == "engineering"


@pytest.mark.parametrize("path", ["memory.sqlite", "teams/engineering.sqlite", "engineering/memory.sqlite"])
def test_a_path_that_is_no_teams_file_is_refused(agent_layer: Path, path: str) -> None:
    with pytest.raises(InvalidInput, match="path"):
        TeamMemory(path)


def test_a_workspace_in_a_database_has_no_files_for_teams(agent_layer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_DATABASE_URL", "postgresql://127.0.0.1:1/none")
    with pytest.raises(Misconfigured, match="no file for each team"):
        TeamMemory(database("engineering")).save("swe-1", "fact", "x")


def test_agents_share_the_instance_of_their_team_across_threads(agent_layer: Path) -> None:
    with TeamMemory(database("engineering")) as memory, TeamMemory(database("engineering")) as same:
        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(lambda number: memory.save(f"swe-{number % 4}", "fact", f"Fact {number}."), range(40)))
        assert {one.id for one in same.recent(50)} == set(ids)
        memory.close()
        assert len(same.recent(50)) == 40


# Scaling


def test_a_team_is_split_into_sub_teams_with_files_of_their_own(agent_layer: Path) -> None:
    text = "# Storage\n\nParent: engineering\n\n- swe-3 (swe)\n- eng-manager-1 (eng-manager)\n"
    Path("org/teams/storage.md").write_text(text)
    with mycel.open("agent/org") as workspace:
        workspace.load_org("org")
        workspace.as_member("swe-3").save("Disks fill up on Mondays.", type="fact")
        workspace.as_member("swe-1").save("Disks are ordered by hand.", type="fact")
        workspace.as_member("ceo").save("Disks are bought in spring.", type="decision")
        assert Path(database("storage")).is_file()
        hits = workspace.as_member("eng-manager-1").search("disks").hits
        assert sorted(hit.team for hit in hits) == ["engineering", "executive", "storage"]
        assert [hit.team for hit in workspace.as_member("swe-3").search("disks").hits] == ["storage"]


def test_fifty_teams_of_twenty_write_without_contention(agent_layer: Path) -> None:
    teams = [
        {"name": f"team-{team}", "members": [f"swe-{team}-{number}" for number in range(20)]} for team in range(50)
    ]
    with mycel.open("agent/org") as workspace:
        workspace.arrange(teams)
        assert len(workspace.members()) == 1001

        def work(team: int) -> None:
            for number in range(20):
                workspace.as_member(f"swe-{team}-{number}").save(f"Agent {number} was here.", type="fact")

        with ThreadPoolExecutor(50) as pool:
            list(pool.map(work, range(50)))
        for team in range(50):
            found = workspace.as_member(f"swe-{team}-0").recent(100)
            assert {(one.team, one.agent_id) for one in found} == {
                (f"team-{team}", f"swe-{team}-{number}") for number in range(20)
            }
    assert len(list(agent_layer.rglob("memory.sqlite"))) == 50


def test_an_agent_saves_what_another_team_told_it(agent_layer: Path) -> None:
    with TeamMemory(database("engineering")) as engineering, TeamMemory(database("product")) as product:
        [told] = [product.save("pm-1", "fact", "Prices change at six.")]
        kept = engineering.save("swe-1", "fact", "Prices change at six, says pm-1.")
        assert [one.id for one in engineering.recent(10)] == [kept]
        assert [one.id for one in product.recent(10)] == [told]
        assert not re.search(told, str(engineering.search("prices")))


@pytest.mark.each_database
def test_nothing_is_remembered_that_nobody_saves(org: mycel.Workspace) -> None:
    agent = org.as_member("swe-1")
    agent.search("What did we decide about the importer? We decided to freeze it.")
    agent.context_for(task="Decision: we freeze the importer.")
    org.run_pending()
    assert agent.recent(10).items == ()
    assert agent.stats().memories == 0
