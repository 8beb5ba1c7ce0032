"""A request of the right form with an odd value somewhere inside: it is answered or refused by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.settings import Settings
from mycel.surfaces.http.app import create_app
from mycel.wire.operations import OPERATIONS, Operation
from tests.odd_json import with_odd_values

ORIGIN = "http://127.0.0.1:7077"
ID = "019a0000-0000-7000-8000-000000000000"
MEMORY: dict[str, Any] = {
    **{"content": "The queue is Kafka.", "tags": ["queue"], "metadata": {"a": [{"b": 1}]}, "alternatives": ["NATS"]},
    **{
        "source": {"type": "human", "author_id": "a", "uri": "https://example.org", "thread_id": "t"},
        "visibility": "role",
        "allowed_roles": ["lead"],
    },
    **{"valid_from": "2026-01-01", "valid_until": "2027-01-01T00:00:00Z", "confidence": 0.5, "ttl": "7d"},
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "say"}], "timestamp": "2026-01-01T00:00:00Z"},
    {"role": "assistant", "content": "done", "tool_calls": [{"function": {"name": "run", "arguments": "{}"}}]},
]
LINES = '{"type": [], "payload": {}}\n{"type": {"a": 1}, "uuid": "u", "message": {"role": "user"}}\n'
RESULT = {
    **{"task_id": "t-1", "status": "completed", "summary": "done", "agent_id": "operator", "duration_ms": 5},
    **{"artifacts": [{"path": "a.md", "content": "x"}], "messages": MESSAGES, "outcome": "it works"},
}
# What holds more than one level of values; of the others the description says all, and is proved elsewhere.
BODIES: dict[str, list[Any]] = {
    "save": [MEMORY, {**MEMORY, "similar": True, "supersedes": ID, "ttl": "never"}],
    "ingest": [{"memory_input": {**MEMORY, "source_ref": ID, "source_kind": "run", "status": "inbox"}}],
    "save_many": [{"items": [MEMORY]}],
    "update": [
        {**MEMORY, "reason": "it changed", "expected_version": 1},
        {
            **MEMORY,
            "agent_id": "operator",
            "created_at": "2026-01-01T00:00:00Z",
            "embedding": [0.5],
            "freshness": 0.5,
            "validity": "current",
            "source_ref": {"uri": "u"},
        },
    ],
    "search": [
        {"query": "queue", "filters": {"type": ["fact"]}, "tags": ["queue"], "as_of": "2026-01-01", "limit": 3},
        {"query": "queue", "orderBy": "created_at DESC", "embedding": True},
    ],
    "capture_session": [{"messages": MESSAGES}, {"messages": LINES, "scope": "project:web"}, {"source_ref": ID}],
    "capture_conversation": [{"messages": MESSAGES, "capture_mode": "store"}],
    "summarize_thread": [{"messages": MESSAGES, "thread_id": "t"}],
    "imports.take": [
        {"items": [{"id": "1", **MEMORY}, {"id": "2", "messages": MESSAGES}], "system": "mem0"},
        {"items": [{"from_id": "1", "to_id": "2", "relation": "related_to"}], "system": "mem0", "trust": "low"},
    ],
    "knowledge.upsert": [{"key": "queue", "value": "Kafka", "project": "web", "metadata": {"a": [1]}}],
    "episodes.log": [{"action": "failed", "approach": "by hand", "tags": ["a"], "metadata": {"a": [1]}}],
    "episodes.log_many": [{"items": [{"action": "failed", "approach": "by hand", "duration_ms": 1}]}],
    "artifacts.register": [{"path": "a.md", "content": {"base64": "aGVsbG8="}, "metadata": {"a": [1]}}],
    "context_for": [{"task": "queue", "project": "web", "token_budget": 500}],
    "before_task": [{"task": "queue", "task_id": "t", "project": "web"}],
    "after_task": [{"result": RESULT}, RESULT],
    "complete_task": [{"task_id": "t", "result": "done", "messages": MESSAGES, "artifacts": [{"path": "a.md"}]}],
    "fail_task": [{"task_id": "t", "error": "broken", "messages": MESSAGES}],
    "approve": [{"edits": {"content": "Kafka", "tags": ["queue"], "metadata": {"a": [1]}}, "expected_version": 1}],
    "approve_many": [{"ids": [ID]}],
    "reject_many": [{"ids": [ID], "reason": "no"}],
    "reviews.merge": [{"into": ID, "content": "both"}],
    "reviews.undo_writer": [{"agent_id": "swe-1", "since": "2026-01-01T00:00:00Z", "dry_run": True}],
    "activity.report": [{"text": "told", "occasion": "session", "memory_ids": [ID], "session_id": "s"}],
    "set_policy": [{"least_trust": "low", "review": ["fact"], "lives": {"manual": "7d", "extraction": "never"}}],
    "views.save": [{"name": "mine", "query": "queue", "filters": {"type": ["fact"]}, "tags": ["a"]}],
    "workspace.arrange": [{"teams": [{"name": "web", "parent": None, "members": [{"id": "swe-7", "role": "lead"}]}]}],
    "workspace.add_member": [{"id": "swe-8", "team": "web", "role": "agent", "kind": "agent", "trust": "low"}],
    "workspace.new_token": [{"member_id": "operator", "label": "laptop", "ttl": "7d"}],
    "upsert_profile_fact": [{"member_id": "operator", "content": "likes tea", "evidence": {"source_id": ID}}],
    "inject_learning": [{"content": "warm the cache", "tags": ["a"], "metadata": {"a": [1]}}],
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with open_workspace(tmp_path_factory.mktemp("data")) as workspace:
        workspace.add_team("web")
        workspace.add_member("swe-1", team="web", role="agent")
        headers = {"authorization": f"Bearer {workspace.issue_token('operator')}", "content-type": "application/json"}
        app = create_app(workspace, settings=Settings(data=Path(), requests_per_second=1e6))
        with TestClient(app, base_url=ORIGIN, headers=headers, raise_server_exceptions=False) as client:
            yield client


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.name in BODIES], ids=lambda one: one.path)
def test_an_odd_value_anywhere_is_answered_or_refused_by_name(client: TestClient, operation: Operation) -> None:
    path = operation.path
    for name in operation.in_path:
        # What is sent back is compared with what is there.
        path = path.replace(f"{{{name}}}", client.post("/api/memory", json=MEMORY).json()["id"])
    for body in BODIES[operation.name]:
        for what, odd in with_odd_values(body):
            answer = client.request(operation.method, path, content=json.dumps(odd))
            assert answer.status_code < 500, (what, answer.text)
            if answer.status_code == 422:
                assert "field" in answer.json(), what
