"""What a conversation leaves behind: candidates for its trigger words, and a summary when a thread has ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import mycel
from tests.acceptance.documents.conftest import client_of

pytestmark = [pytest.mark.each_database, pytest.mark.usefixtures("with_judge")]

# The words of the document, each in a message that says it outright.
SAID = {
    "decided": "After discussion, we decided to adopt Option A for the pricing.",
    "chose": "I chose the blue theme for the dashboard.",
    "confirmed": "We confirmed that the budget is 40k.",
    "agreed": "Agreed, we ship on Tuesday.",
    "TODO": "TODO: rotate the signing keys before the release.",
    "action item": "Action item: order the new certificates by Friday.",
    "need to do": "need to do: update the DNS records of the shop.",
    "reference": "Reference: https://docs.example.com/pricing/tiers",
    "see also": "See also: docs/runbooks/failover.md",
}
TRIGGERS = {
    "decision": ("decided", "chose", "agreed"),
    "task_hint": ("TODO", "action item", "need to do"),
    "reference": ("reference", "see also"),
}
THREAD = [
    {"role": "user", "name": "eng-director", "content": "Which pricing should we offer to the first customers?"},
    {"role": "user", "name": "swe-1", "content": "Option A is the simplest one, and it needs no billing changes."},
    {"role": "user", "name": "eng-director", "content": "We decided to adopt Option A for the pricing."},
    {"role": "user", "name": "swe-2", "content": "Agreed, we ship on Tuesday."},
]


@pytest.fixture
def client(workspace: mycel.Workspace, service: str) -> Iterator[httpx2.Client]:
    workspace.add_team("product")
    workspace.add_member("eng-director", team="product", role="lead", kind="human")
    for id in ("swe-1", "swe-2"):
        workspace.add_member(id, team="product")
    with client_of(workspace, service, "eng-director") as opened:
        yield opened


def ended(workspace: mycel.Workspace, client: httpx2.Client, path: str, body: dict[str, Any]) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 202, answer.text
    workspace.run_pending()


def waiting(client: httpx2.Client) -> list[dict[str, Any]]:
    return [item["memory"] for item in client.get("/api/inbox?limit=50").json()]


@pytest.mark.parametrize("word", SAID)
def test_each_trigger_word_gives_a_candidate(workspace: mycel.Workspace, client: httpx2.Client, word: str) -> None:
    messages = [{"role": "user", "name": "swe-1", "content": SAID[word]}, {"role": "user", "content": "ok, thanks"}]
    body = {"messages": messages, "thread_id": "thread-xxx", "capture_mode": "extract"}
    ended(workspace, client, "/api/capture/conversation", body)
    (found,) = waiting(client)
    wanted = next((type for type, words in TRIGGERS.items() if word in words), "fact")
    assert (found["type"], found["status"]) == (wanted, "inbox")
    assert found["source_ref"]["thread_id"] == "thread-xxx"
    assert found["evidence_ref"]["source_id"] == found["source_ref"]["source_id"]


def test_a_detected_decision_has_a_title_and_the_words_of_its_message(
    workspace: mycel.Workspace, client: httpx2.Client
) -> None:
    ended(
        workspace,
        client,
        "/api/capture/conversation",
        {"messages": THREAD, "thread_id": "t-1", "capture_mode": "extract"},
    )
    found = [one for one in waiting(client) if one["type"] == "decision"]
    assert "Adopt Option A for the pricing" in [one["title"] for one in found]
    assert any("We decided to adopt Option A for the pricing." in one["content"] for one in found)


def test_what_is_only_quoted_or_supposed_gives_none(workspace: mycel.Workspace, client: httpx2.Client) -> None:
    said = ['The old mail says "we decided to use Oracle".', "If we agreed on Friday, would the client accept it?"]
    messages = [{"role": "user", "name": "swe-1", "content": one} for one in said]
    ended(workspace, client, "/api/capture/conversation", {"messages": messages, "capture_mode": "extract"})
    assert waiting(client) == []


def test_a_thread_that_ended_has_a_summary_with_its_title_and_its_decisions(
    workspace: mycel.Workspace, client: httpx2.Client
) -> None:
    body = {"messages": THREAD, "thread_id": "thread-xxx", "title": "Pricing of the first customers"}
    ended(workspace, client, "/api/capture/thread", body)
    (summary,) = client.get("/api/memory?type=thread-summary").json()
    assert (summary["type"], summary["status"]) == ("thread_summary", "active")
    assert summary["title"] == "Thread: Pricing of the first customers"
    assert (summary["made_by"], summary["source_ref"]["thread_id"]) == ("thread_summary", "thread-xxx")
    decided = summary["content"].partition("Decided:\n")[2].partition(":\n")[0]
    assert "- We decided to adopt Option A for the pricing. (eng-director)" in decided
    assert "- We ship on Tuesday. (swe-2)" in decided
    assert summary["content"].startswith("Asked:\n- Which pricing should we offer")
    # Ended once more, it is the same one.
    ended(workspace, client, "/api/capture/thread", body)
    assert len(client.get("/api/memory?type=thread-summary").json()) == 1


def test_a_talk_that_begins_with_its_decision_tells_it_under_decided(
    workspace: mycel.Workspace, client: httpx2.Client
) -> None:
    ended(workspace, client, "/api/capture/thread", {"messages": THREAD[2:], "thread_id": "t-2"})
    (summary,) = client.get("/api/memory?type=thread-summary").json()
    assert summary["title"].startswith("Thread: ")
    assert "Decided:\n- We decided to adopt Option A for the pricing." in summary["content"]


def test_a_language_model_summarizes_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {name: [] for name in ("asked", "done", "failed", "learned", "open", "files", "commands")}
    answer = {"summary": {**parts, "decided": ["The first customers get Option A."]}}
    program = tmp_path / "model.py"
    program.write_text(f"import json, sys\nsys.stdin.read()\nprint(json.dumps({answer!r}))\n", "utf-8")
    monkeypatch.setenv("MYCEL_LLM", "command")
    monkeypatch.setenv("MYCEL_LLM_COMMAND", f"{sys.executable} {program}")
    with mycel.open(tmp_path / "data") as workspace:
        workspace.add_team("product")
        workspace.add_member("swe-1", team="product")
        memory = workspace.as_member("swe-1")
        memory.summarize_thread(THREAD, thread_id="thread-xxx", title="Pricing")
        workspace.run_pending()
        (summary,) = memory.list(type="thread-summary")
    assert (summary.title, summary.content) == ("Thread: Pricing", "Decided:\n- The first customers get Option A.")
