"""The routes as the two documents write them that asked for them: one on team memory (M), one on agent memory (L)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.embedded.workspace import Workspace
from tests.asking import asking, bearer

pytestmark = pytest.mark.each_database(slow=True)


DECISION: dict[str, Any] = {
    "type": "decision",
    "title": "Pricing: a flat fee per seat",
    "content": "The pricing strategy is a flat fee per seat, after a long discussion.",
    "path": "/projects/pricing/decisions",
    "tags": ["pricing", "strategy"],
    "source": {"type": "agent", "authorId": "agent-1", "threadId": "thread-7", "messageId": "message-7"},
}
# One of each sort that L names.
KNOWLEDGE = [
    ("convention", "imports", "builtins carry the node: prefix"),
    ("decision", "orm", "none: prepared statements only"),
    ("architecture", "auth-flow", "one key is exchanged for a short token"),
]


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    workspace.add_team("squad")
    workspace.add_member("agent-1", team="squad")
    workspace.add_member("orchestrator", team="squad", role="orchestrator")
    with asking(workspace) as client:
        client.headers.update(bearer(workspace.issue_token("agent-1")))
        yield client


def written(client: TestClient, **fields: Any) -> dict[str, Any]:
    answer = client.post("/api/memory", json={**DECISION, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()


def as_read(item: dict[str, Any]) -> dict[str, Any]:
    """What was just written, once it is read: how fresh it is, no answer to a write says, and it alone has notices."""
    assert item["freshness"] is None
    stored = {name: one for name, one in item.items() if name != "notices"}
    return {**stored, "freshness": 1.0, "validity": "current"}


class TestTeamMemory:
    """M."""

    def test_create_memory_item(self, client: TestClient) -> None:
        item = written(client)
        assert {name: item[name] for name in ("type", "title", "content", "path", "tags")} == {
            name: DECISION[name] for name in ("type", "title", "content", "path", "tags")
        }
        assert item["team"] == "squad"
        assert item["source_ref"]["thread_id"] == "thread-7"
        assert item["source_ref"]["message_id"] == "message-7"
        assert (item["visibility"], item["allowed_roles"], item["expires_at"]) == ("team", [], None)

    def test_a_path_says_the_project(self, client: TestClient) -> None:
        item = written(client)
        assert (item["project_id"], item["scope"]) == ("pricing", "project")
        for project, shown in (("pricing", 1), ("billing", 0)):
            found = client.get("/api/memory/search", params={"q": "flat fee", "project": project}).json()["results"]
            assert len(found) == shown

    def test_what_was_deleted_since_is_read_as_it_was(self, client: TestClient) -> None:
        item = as_read(written(client))
        client.delete(f"/api/memory/{item['id']}")
        then = {"as_of": item["created_at"]}
        assert client.get(f"/api/memory/{item['id']}", params=then).json() == item
        assert client.get("/api/memory", params=then).json() == [item]
        [result] = client.get("/api/memory/search", params={"q": "flat fee", **then}).json()["results"]
        assert result["item"] == item

    def test_an_author_in_a_request_never_stands_for_the_caller(self, client: TestClient) -> None:
        item = written(client, source={"type": "human", "authorId": "orchestrator"})
        assert item["agent_id"] == "agent-1"

    @pytest.mark.parametrize(
        "kind", ["context", "decision", "document", "note", "reference", "thread-summary", "thread_summary"]
    )
    def test_every_type_of_memory(self, client: TestClient, kind: str) -> None:
        assert written(client, type=kind)["type"] == kind.replace("-", "_")

    @pytest.mark.parametrize("kind", ["human", "agent", "import", "auto"])
    def test_every_type_of_source(self, client: TestClient, kind: str) -> None:
        assert written(client, source={"type": kind})["agent_id"] == "agent-1"

    def test_permissions(self, client: TestClient) -> None:
        item = written(client, visibility="role", allowedRoles=["admin", "member", "agent"])
        assert (item["visibility"], sorted(item["allowed_roles"])) == ("role", ["admin", "agent", "member"])
        assert written(client, visibility="private")["visibility"] == "private"

    def test_an_optional_expiration_time(self, client: TestClient) -> None:
        assert written(client, expiresAt="2036-02-06T00:00:00Z")["expires_at"] == "2036-02-06T00:00:00+00:00"

    def test_update(self, client: TestClient) -> None:
        item = written(client)
        answer = client.put(f"/api/memory/{item['id']}", json={"title": "Pricing: by use", "tags": ["pricing"]})
        assert (answer.status_code, answer.json()["title"], answer.json()["version"]) == (200, "Pricing: by use", 2)

    def test_delete_is_soft(self, client: TestClient) -> None:
        item = written(client)
        assert client.delete(f"/api/memory/{item['id']}").status_code == 204
        assert client.get(f"/api/memory/{item['id']}").status_code == 404
        assert client.post(f"/api/memory/{item['id']}/restore").json()["title"] == DECISION["title"]

    def test_read_by_path(self, client: TestClient) -> None:
        item = written(client)
        written(client, path="/projects/other")
        answer = client.get("/api/memory?path=/projects/pricing")
        assert [one["id"] for one in answer.json()] == [item["id"]]

    def test_read_by_id(self, client: TestClient) -> None:
        item = as_read(written(client))
        assert client.get(f"/api/memory/{item['id']}").json() == item

    def test_list_directory(self, client: TestClient) -> None:
        below, here = written(client), written(client, path="/projects")
        answer = client.get("/api/memory/tree?path=/projects").json()
        assert [one["id"] for one in answer["items"]] == [here["id"]]
        assert answer["subdirs"] == ["/projects/pricing"]
        assert below["path"].startswith(answer["subdirs"][0])

    def test_semantic_search(self, client: TestClient) -> None:
        item = written(client)
        asked = {"query": "pricing strategy discussion", "type": "decision", "path": "/projects", "limit": 10}
        answer = client.post("/api/memory/search", json=asked).json()
        [result] = answer["results"]
        assert result["item"]["id"] == item["id"]
        assert isinstance(result["score"], float)
        assert "discussion" in result["highlight"]

    def test_full_text_search(self, client: TestClient) -> None:
        item = written(client)
        written(client, type="note", title="pricing strategy note")
        answer = client.get("/api/memory/search?q=pricing+strategy&type=decision").json()
        assert [result["item"]["id"] for result in answer["results"]] == [item["id"]]

    def test_an_agents_context_when_it_initialises(self, client: TestClient) -> None:
        context = written(client, type="context", path="/context", title="overview")
        decision = written(client)
        answer = client.get("/api/memory/agent-context", params={"agentId": "agent-1", "topic": "pricing strategy"})
        found = answer.json()
        assert answer.status_code == 200, answer.text
        assert [one["id"] for one in found["team_context"]] == [context["id"]]
        assert decision["id"] in [one["id"] for one in found["project_memory"]]
        assert [one["id"] for one in found["recent_decisions"]] == [decision["id"]]

    def test_an_agent_writes_items_that_need_review(self, client: TestClient) -> None:
        answer = client.post(
            "/api/memory",
            json={
                "type": "note",
                "content": "...",
                "source": {"type": "agent", "authorId": "agent-1"},
                "visibility": "team",
                "metadata": {"needsReview": True},
            },
        )
        assert (answer.status_code, answer.json()["status"]) == (201, "inbox")
        assert [one["memory"]["id"] for one in client.get("/api/inbox").json()] == [answer.json()["id"]]

    def test_a_thread_that_was_merged_is_summarised(self, client: TestClient) -> None:
        answer = client.post(
            "/api/capture/thread", json={"messages": "user: we take the flat fee", "threadId": "thread-7"}
        )
        assert answer.status_code == 202


class TestAgentMemory:
    """L."""

    @pytest.mark.parametrize(("category", "key", "value"), KNOWLEDGE)
    def test_knowledge_is_upserted_and_queried(self, client: TestClient, category: str, key: str, value: str) -> None:
        given = {"project": "swarm", "category": category, "key": key, "value": value}
        first = client.post("/api/memory/knowledge", json={**given, "confidence": 1.0})
        second = client.post("/api/memory/knowledge", json=given)
        assert (first.status_code, second.json()["id"]) == (200, first.json()["id"])
        client.post("/api/memory/knowledge", json={**given, "project": "other"})
        [entry] = client.get(f"/api/memory/knowledge?project=swarm&category={category}").json()
        assert given.items() <= entry.items()
        assert (entry["project_id"], entry["content"]) == ("swarm", value)
        assert (entry["confidence"], entry["source"], entry["agent_id"]) == (1.0, "agent-1", "agent-1")
        assert {"id", "created_at", "updated_at"} <= entry.keys()
        for answer in (first, client.get(f"/api/memory/knowledge/value?project=swarm&category={category}&key={key}")):
            assert given.items() <= answer.json().items()

    def test_a_value_that_waits_is_called_the_same(self, client: TestClient, workspace: Workspace) -> None:
        client.post("/api/memory/knowledge", json={"key": "orm", "value": "none"})
        other = bearer(workspace.issue_token("orchestrator"))
        workspace.add_member("agent-2", team="squad")
        doubt = {"key": "orm", "value": "some", "confidence": 0.4}
        client.post("/api/memory/knowledge", json=doubt, headers=bearer(workspace.issue_token("agent-2")))
        [waiting] = client.get("/api/memory/knowledge/candidates").json()
        assert (waiting["value"], waiting["project"], waiting["source"]) == ("some", None, "agent-2")
        held = client.post(f"/api/memory/knowledge/{waiting['id']}/arbitrate", json={}, headers=other).json()
        assert (held["value"], held["status"]) == ("some", "active")

    @pytest.mark.parametrize(("category", "key", "value"), KNOWLEDGE)
    def test_knowledge_is_found_by_its_key(self, client: TestClient, category: str, key: str, value: str) -> None:
        client.post(
            "/api/memory/knowledge", json={"project": "swarm", "category": category, "key": key, "value": value}
        )
        [result] = client.get("/api/memory/search", params={"q": key.replace("-", " ")}).json()["results"]
        assert (result["item"]["key"], result["highlight"]) == (key, f"**{key}**: {value}")

    def test_knowledge_is_removed(self, client: TestClient) -> None:
        entry = client.post("/api/memory/knowledge", json={"project": "swarm", "key": "orm", "value": "none"}).json()
        assert client.delete(f"/api/memory/knowledge/{entry['id']}").status_code == 204
        assert client.get("/api/memory/knowledge?project=swarm").json() == []

    def test_episodes_of_a_task_and_failures_of_an_agent(self, client: TestClient) -> None:
        given = {
            **{"task_id": "t-1", "action": "failed", "approach": "rebase by hand", "outcome": "conflicts"},
            **{"duration_ms": 1200, "tokens_in": 10, "tokens_out": 20},
        }
        made = client.post("/api/memory/episodes", json=given)
        client.post("/api/memory/episodes", json={**given, "action": "completed", "task_id": "t-2"})
        assert made.status_code == 201
        [episode] = client.get("/api/memory/episodes?task_id=t-1").json()
        assert given.items() <= episode.items()
        assert episode["agent_id"] == "agent-1"
        assert {"id", "created_at"} <= episode.keys()
        failures = client.get("/api/memory/episodes?agent_id=agent-1&action=failed").json()
        assert [one["id"] for one in failures] == [episode["id"]]

    @pytest.mark.parametrize("action", ["attempted", "completed", "failed", "retried"])
    def test_every_action_of_an_episode(self, client: TestClient, action: str) -> None:
        answer = client.post("/api/memory/episodes", json={"taskId": "t", "action": action, "approach": "x"})
        assert (answer.status_code, answer.json()["action"]) == (201, action)

    def test_artifacts_of_a_task_and_all_tests(self, client: TestClient) -> None:
        given = {"task_id": "t-1", "type": "test", "path": "src/ledger.test.ts", "description": "tests of the ledger"}
        made = client.post("/api/memory/artifacts", json={**given, "content": "it works"})
        client.post("/api/memory/artifacts", json={**given, "type": "file", "path": "src/a.ts", "task_id": "t-2"})
        assert made.status_code == 201
        for query in ("task_id=t-1", "type=test"):
            [artifact] = client.get(f"/api/memory/artifacts?{query}").json()
            assert given.items() <= artifact.items()
            assert (artifact["agent_id"], artifact["size_bytes"], len(artifact["checksum"])) == ("agent-1", 8, 64)

    @pytest.mark.parametrize("kind", ["file", "patch", "test", "document", "config"])
    def test_every_type_of_artifact(self, client: TestClient, kind: str) -> None:
        given = {"task_id": "t", "type": kind, "path": "a", "size_bytes": 3, "checksum": "ab" * 32}
        answer = client.post("/api/memory/artifacts", json=given)
        assert answer.status_code == 201
        assert given.items() <= answer.json().items()
        wrong = client.post("/api/memory/artifacts", json={**given, "checksum": "abc"})
        assert (wrong.status_code, wrong.json()["field"]) == (422, "checksum")

    def test_an_artifact_is_deregistered(self, client: TestClient) -> None:
        artifact = client.post("/api/memory/artifacts", json={"path": "a.ts", "content": "x"}).json()
        assert client.delete(f"/api/memory/artifacts/{artifact['id']}").status_code == 204
        assert client.get("/api/memory/artifacts").json() == []
