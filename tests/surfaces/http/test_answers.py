"""What HTTP has words for: conditions, retries, pages, places, statuses, deleting and purging."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.embedded.workspace import Workspace
from tests.asking import asking, bearer
from tests.template import ABSENT

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def squad(workspace: Workspace) -> Workspace:
    workspace.add_team("squad")
    workspace.add_team("below", parent="squad")
    workspace.add_member("swe-1", team="squad")
    workspace.add_member("swe-2", team="squad")
    workspace.add_member("lead-1", team="squad", role="lead")
    return workspace


@pytest.fixture
def client(squad: Workspace) -> Iterator[TestClient]:
    with asking(squad) as client:
        client.headers.update(bearer(squad.issue_token("swe-1")))
        yield client


def saved(client: TestClient, content: str = "herons fish", **fields: Any) -> dict[str, Any]:
    answer = client.post("/api/memory", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_what_is_made_has_a_status_and_a_place(client: TestClient) -> None:
    answer = client.post("/api/memory", json={"content": "herons fish"})
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/api/memory/{answer.json()['id']}"
    assert answer.headers["etag"] == '"1"'
    read = client.get(answer.headers["location"]).json()
    assert {**read, "freshness": None, "validity": None} == answer.json()
    assert "location" not in client.get(answer.headers["location"]).headers


@pytest.mark.parametrize("path", ["/api/memory", "/api/stats", "/api/memory/tree", "/api/memory/recent"])
def test_an_answer_that_has_not_changed_is_not_sent_again(client: TestClient, path: str) -> None:
    saved(client)
    tag = client.get(path).headers["etag"]
    same = client.get(path, headers={"if-none-match": tag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    saved(client, "herons fly")
    changed = client.get(path, headers={"if-none-match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/memory/artifacts/{id}", None),
        ("POST", "/api/memory/artifacts/{id}/verify", None),
        ("GET", "/api/memory/knowledge/{id}/history", None),
        ("POST", "/api/memory/{id}/links", {"to_id": ABSENT[:-1] + "1", "relation": "supports"}),
    ],
)
def test_what_is_not_there_beside_what_is_differs_from_what_is_not_there(
    client: TestClient, method: str, path: str, body: dict[str, Any] | None
) -> None:
    id = saved(client)["id"]
    answers = [client.request(method, path.replace("{id}", one), json=body) for one in (id, ABSENT)]
    assert [(one.status_code, one.json()["code"]) for one in answers] == [(409, "dangling"), (404, "not_found")]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/ingest", {"content": "x"}),
        ("/api/memory/episodes", {"action": "failed", "approach": "x"}),
        ("/api/memory/artifacts", {"path": "a.txt", "content": "x"}),
        ("/api/capture/session", {"messages": "user: x"}),
        ("/api/tasks/complete", {"task_id": "t", "output": "x"}),
    ],
)
def test_what_was_made_or_begun_is_found_at_its_place(client: TestClient, path: str, body: dict[str, Any]) -> None:
    answer = client.post(path, json=body)
    assert client.get(answer.headers["location"]).json()["id"] == answer.json()["id"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/memory", {"content": "x"}, 201),
        ("/api/ingest", {"content": "x"}, 201),
        ("/api/memory/batch", {"items": [{"content": "x"}]}, 201),
        ("/api/memory/episodes", {"action": "failed", "approach": "x"}, 201),
        ("/api/memory/episodes/batch", {"items": [{"action": "failed", "approach": "x"}]}, 201),
        ("/api/memory/artifacts", {"path": "a.txt", "content": "x"}, 201),
        ("/api/memory/index", {"path": "a.md", "content": "# x\ny"}, 202),
        ("/api/capture/session", {"messages": "user: x"}, 202),
        ("/api/capture/conversation", {"messages": "user: x"}, 202),
        ("/api/capture/thread", {"messages": "user: x"}, 202),
        ("/api/tasks/complete", {"task_id": "t", "output": "x"}, 202),
        ("/api/tasks/fail", {"task_id": "t", "what_went_wrong": "x"}, 202),
        ("/api/tasks/after", {"task_id": "t", "action": "completed", "output": "x"}, 200),
        ("/api/memory/knowledge", {"key": "k", "value": "x"}, 200),
        ("/api/memory/search", {"query": "x"}, 200),
    ],
)
def test_what_is_done_now_made_or_begun_is_told_apart(
    client: TestClient, path: str, body: dict[str, Any], status: int
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "private, no-cache"


def test_nothing_to_say_has_no_body(client: TestClient) -> None:
    one, other = saved(client), saved(client, "owls sleep")
    link = {"to_id": other["id"], "relation": "supports"}
    assert client.post(f"/api/memory/{one['id']}/links", json=link).status_code == 200
    for answer in (
        client.post(f"/api/memory/{one['id']}/rate", json={"useful": True}),
        client.delete(f"/api/memory/{one['id']}/links", params=link),
        client.delete(f"/api/memory/{one['id']}"),
    ):
        assert (answer.status_code, answer.content) == (204, b"")
        assert "content-type" not in answer.headers


def test_a_memory_that_has_not_changed_is_not_sent_again(client: TestClient) -> None:
    memory = saved(client)
    path = f"/api/memory/{memory['id']}"
    for known in ('"1"', 'W/"1"', '"7", "1"'):
        answer = client.get(path, headers={"if-none-match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", '"1"')
    for other in ('"2"', "1", '"11"', ""):
        assert client.get(path, headers={"if-none-match": other}).status_code == 200
    client.put(path, json={"content": "herons sleep"})
    changed = client.get(path, headers={"if-none-match": '"1"'})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')


def test_a_change_of_what_has_moved_on_is_refused(client: TestClient) -> None:
    memory = saved(client)
    path = f"/api/memory/{memory['id']}"
    first = client.put(path, json={"content": "second"}, headers={"if-match": '"1"'})
    assert (first.status_code, first.headers["etag"], first.json()["version"]) == (200, '"2"', 2)
    late = client.put(path, json={"content": "third"}, headers={"if-match": '"1"'})
    assert (late.status_code, late.json()["code"]) == (412, "precondition_failed")
    by_field = client.put(path, json={"content": "third", "expected_version": 1})
    assert (by_field.status_code, by_field.json()["code"]) == (409, "conflict")
    assert client.get(path).json()["content"] == "second"
    assert client.put(path, json={"content": "third"}, headers={"if-match": "*"}).status_code == 200


@pytest.mark.parametrize("given", ["1", '"x"', '"1", "2"', 'W/"1"', "", '"1'])
def test_a_condition_that_cannot_be_checked_is_an_error(client: TestClient, given: str) -> None:
    memory = saved(client)
    answer = client.put(f"/api/memory/{memory['id']}", json={"content": "x"}, headers={"if-match": given})
    assert (answer.status_code, answer.json()["field"]) == (422, "If-Match")
    both = client.put(
        f"/api/memory/{memory['id']}", json={"content": "x", "expected_version": 2}, headers={"if-match": '"1"'}
    )
    assert (both.status_code, both.json()["field"]) == (409, "expected_version")


def test_a_value_is_replaced_only_as_it_was_read(client: TestClient) -> None:
    body = {"key": "orm", "value": "none", "category": "decision"}
    first = client.post("/api/memory/knowledge", json=body, headers={"if-match": '"0"'})
    assert first.status_code == 200
    again = client.post("/api/memory/knowledge", json={**body, "value": "some"}, headers={"if-match": '"0"'})
    assert again.status_code == 412
    known = client.get("/api/memory/knowledge/value", params={"key": "orm", "category": "decision"})
    assert (known.json()["content"], known.headers["etag"]) == ("none", first.headers["etag"])


@pytest.mark.parametrize(
    ("path", "body", "other"),
    [
        ("/api/memory", {"content": "x"}, {"content": "y"}),
        ("/api/memory/episodes", {"action": "failed", "approach": "x"}, {"action": "failed", "approach": "y"}),
        ("/api/memory/knowledge", {"key": "k", "value": "x"}, {"key": "k", "value": "y"}),
        ("/api/memory/artifacts", {"path": "a", "content": "x"}, {"path": "b", "content": "x"}),
    ],
)
def test_a_request_that_is_sent_twice_is_made_once(
    client: TestClient, path: str, body: dict[str, Any], other: dict[str, Any]
) -> None:
    headers = {"idempotency-key": "once"}
    first, second = (client.post(path, json=body, headers=headers) for _ in range(2))
    assert first.is_success
    assert (first.status_code, first.json()["id"]) == (second.status_code, second.json()["id"])
    changed = client.post(path, json=other, headers=headers)
    assert (changed.status_code, changed.json()["code"]) == (409, "conflict")
    both = client.post(path, json={**body, "idempotency_key": "twice"}, headers=headers)
    assert (both.status_code, both.json()["field"]) == (409, "idempotency_key")


def test_a_change_that_is_sent_twice_is_made_once(client: TestClient) -> None:
    memory = saved(client)
    headers = {"idempotency-key": "once"}
    path = f"/api/memory/{memory['id']}"
    answers = [client.put(path, json={"content": "second"}, headers=headers) for _ in range(2)]
    assert [answer.json()["version"] for answer in answers] == [2, 2]


def test_a_key_is_its_callers_own(squad: Workspace, client: TestClient) -> None:
    headers = {"idempotency-key": "once"}
    first = client.post("/api/memory", json={"content": "x"}, headers=headers)
    teammate = {**headers, **bearer(squad.issue_token("swe-2"))}
    second = client.post("/api/memory", json={"content": "y"}, headers=teammate)
    assert (second.status_code, second.json()["id"] != first.json()["id"]) == (201, True)


def test_deleting_is_undone_until_it_is_purged(client: TestClient) -> None:
    memory = saved(client)
    path = f"/api/memory/{memory['id']}"
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.delete(path).status_code == 404
    assert [one["id"] for one in client.get("/api/memory", params={"deleted": "true"}).json()] == [memory["id"]]
    assert client.post(f"{path}/restore").json()["id"] == memory["id"]
    assert client.get(path).status_code == 200
    receipt = client.post(f"{path}/purge")
    assert (receipt.status_code, receipt.json()["memory_id"]) == (200, memory["id"])
    assert client.get(path).status_code == client.post(f"{path}/restore").status_code == 404
    assert client.get(f"{path}/receipt").json()["memory_id"] == memory["id"]
    assert client.get(f"/api/memory/{ABSENT}/receipt").status_code == 404


def test_deleting_belongs_to_whoever_may(squad: Workspace, client: TestClient) -> None:
    memory = saved(client)
    teammate = bearer(squad.issue_token("swe-2"))
    for method, path in (("DELETE", ""), ("POST", "/purge")):
        answer = client.request(method, f"/api/memory/{memory['id']}{path}", headers=teammate)
        assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")
    lead = bearer(squad.issue_token("lead-1"))
    assert client.delete(f"/api/memory/{memory['id']}", headers=lead).status_code == 204


def walked(client: TestClient, path: str, **query: Any) -> tuple[list[dict[str, Any]], int]:
    """Everything of a list, page by page as the links say, and how many pages it had."""
    found: list[dict[str, Any]] = []
    answer = client.get(path, params=query)
    for pages in range(1, 50):
        assert answer.status_code == 200, answer.text
        found += answer.json()
        link = answer.headers.get("link")
        if link is None:
            return found, pages
        following = re.fullmatch(r'<([^>]+)>; rel="next"', link)
        assert following is not None, link
        assert following[1].startswith(path)
        answer = client.get(following[1])
    raise AssertionError("it never ends")


def filled(squad: Workspace) -> None:
    """Five of everything that is listed in pages."""
    author, lead = squad.as_member("swe-1"), squad.as_member("lead-1")
    for number in range(5):
        author.save(f"note {number} of herons", key=f"k{number}", category="fact", tags=["bird"])
        squad.as_member("swe-2").knowledge.upsert(key=f"k{number}", value=f"weaker {number}", confidence=0.1)
        squad.as_member("swe-2").save(f"waits {number}", needs_review=True)
        author.episodes.log(action="failed", approach=f"way {number}", task_id="t")
        author.artifacts.register(path=f"{number}.txt", content=str(number), task_id="t")
        author.capture_conversation(f"user: talk {number}", capture_mode="store")
        lead.cascade(lead.save(f"sent {number}").id)
        lead.consolidate()


@pytest.mark.parametrize(
    ("path", "query", "least"),
    [
        ("/api/memory", {"tags": "bird"}, 5),
        ("/api/memory", {"order_by": "title", "status": "any"}, 20),
        ("/api/memory/knowledge", {}, 5),
        ("/api/memory/knowledge/candidates", {}, 5),
        ("/api/memory/episodes", {"task_id": "t"}, 5),
        ("/api/memory/artifacts", {"task_id": "t"}, 5),
        ("/api/inbox", {}, 5),
        ("/api/sources", {}, 5),
        ("/api/events", {}, 5),
        ("/api/reports", {}, 5),
        ("/api/cascades", {}, 5),
    ],
)
def test_links_lead_through_a_list(
    squad: Workspace, client: TestClient, path: str, query: dict[str, str], least: int
) -> None:
    filled(squad)
    client.headers.update(bearer(squad.issue_token("lead-1")))
    whole, one = walked(client, path, **query, limit=100)
    parts, many = walked(client, path, **query, limit=2)
    assert (one, many) == (1, -(-len(whole) // 2))
    assert len(whole) >= least
    identity: Callable[[dict[str, Any]], object] = lambda one: one.get("id") or one.get("memory", one)  # noqa: E731
    assert [identity(one) for one in parts] == [identity(one) for one in whole]


def test_links_lead_through_the_changes(squad: Workspace, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(squad)
    whole, _ = walked(client, "/api/memory/changes")
    monkeypatch.setattr("mycel.surfaces.http.streams.MOST_CHANGES", 10)
    parts, pages = walked(client, "/api/memory/changes")
    assert parts == whole
    assert pages > 2


def test_a_filter_stays_on_every_page_and_is_written_as_text(squad: Workspace, client: TestClient) -> None:
    squad.as_member("swe-1").save_many([{"content": f"{n}", "tags": ["a&b =ü", "c"]} for n in range(5)])
    squad.as_member("swe-1").save("other")
    found, pages = walked(client, "/api/memory", tags="a&b =ü", limit=2)
    assert (len(found), pages) == (5, 3)


def test_camel_case_is_our_snake_case_and_what_people_name_stays_theirs(client: TestClient) -> None:
    memory = saved(client, sessionId="s-1", taskId="t-1", allowedRoles=["lead"], visibility="role", metadata={"aB": 1})
    assert (memory["session_id"], memory["task_id"], memory["allowed_roles"]) == ("s-1", "t-1", ["lead"])
    assert memory["metadata"] == {"aB": 1}
    found = client.get("/api/memory", params={"sessionId": "s-1"}).json()
    assert [one["id"] for one in found] == [memory["id"]]
    batch = client.post("/api/memory/batch", json={"items": [{"content": "x", "taskId": "t-2"}]})
    assert batch.json()[0]["task_id"] == "t-2"
    twice = client.post("/api/memory", json={"content": "x", "taskId": "a", "task_id": "b"})
    assert (twice.status_code, twice.json()["field"]) == (422, "task_id")
    asked_twice = client.get("/api/memory", params={"taskId": "a", "task_id": "b"})
    assert (asked_twice.status_code, asked_twice.json()["field"]) == (422, "task_id")
