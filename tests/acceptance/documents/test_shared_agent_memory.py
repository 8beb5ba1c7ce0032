"""What the document on shared agent memory, with its service and engine, asks for and shows."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import fields as fields_of
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import mycel
from mycel.app import open_workspace
from mycel.domain.link import Relation
from mycel.domain.memory import MemoryType, Scope, SourceKind, Status
from mycel.domain.names import ALIASES, OBJECTS
from mycel.domain.recall import Recall
from mycel.domain.source import EventState, IngestionEvent, Trigger
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import AccessDenied, InvalidInput, InvalidState, NotFound, Unavailable
from mycel.testing.clock import ManualClock
from mycel.wire.operations import OPERATIONS, Operation
from tests.acceptance.documents.conftest import client_of
from tests.conformance.tenancy_calls import ALSO, NOBODY, PLAIN
from tests.squad import wait_until, wide_embedder
from tests.template import copy_template, make_tables, settings_of

pytestmark = pytest.mark.each_database

SHOWN = Path(__file__).parent / "shared_agent_memory"
TEAM = "builders"
INPUT: dict[str, Any] = json.loads((SHOWN / "memory_input.json").read_text("utf-8"))
TALK: list[dict[str, Any]] = json.loads((SHOWN / "talk.json").read_text("utf-8"))
RECORD = (
    *(
        "id",
        "type",
        "scope",
        "status",
        "project_id",
        "repo_id",
        "agent_id",
        "source_kind",
        "title",
        "content",
        "summary",
    ),
    *("confidence", "freshness", "created_at", "updated_at", "observed_at", "source_ref", "evidence_ref"),
)


def make(data: Path) -> None:
    with open_workspace(settings=settings_of(data)) as workspace:
        workspace.add_team(TEAM)
        for id in ("swe-1", "swe-2"):
            workspace.add_member(id, team=TEAM)
        workspace.add_member("ana", team=TEAM, kind="human")
        workspace.add_member("lead-1", team=TEAM, role="lead")
        make_tables(workspace.as_member("swe-1"))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[mycel.Workspace]:
    """A team of two agents, a person and a lead; its folder is also the current one."""
    monkeypatch.chdir(tmp_path)
    copy_template(make, tmp_path / "data")
    with open_workspace(settings=settings_of(tmp_path / "data")) as opened:
        yield opened


@pytest.fixture
def agent(workspace: mycel.Workspace) -> TeamMemory:
    return workspace.as_member("swe-1")


@pytest.fixture
def person(workspace: mycel.Workspace) -> TeamMemory:
    return workspace.as_member("ana")


def ids(recall: Recall) -> list[str]:
    return [hit.memory.id for hit in recall.hits]


# The service API, by its literal names.


def test_ingest_takes_a_memory_input(workspace: mycel.Workspace, service: str, agent: TeamMemory) -> None:
    by_position, by_name = agent.ingest(INPUT), agent.ingest(**{"memory_input": INPUT})
    with client_of(workspace, service, "swe-1") as http:
        answers = [http.post("/api/ingest", json=body) for body in ({"memory_input": INPUT}, INPUT)]
        assert [answer.status_code for answer in answers] == [201, 201]
    for stored in [by_position, by_name, *(agent.get(answer.json()["id"]) for answer in answers)]:
        assert (stored.type, stored.scope, stored.status) == ("decision", "repo", "active")
        assert (stored.project_id, stored.repo_id, stored.agent_id) == ("atlas", "atlas-api", "swe-1")
        assert (stored.source_kind, stored.title, stored.summary) == ("run", INPUT["title"], INPUT["summary"])
        assert stored.rationale == INPUT["rationale"]
        assert stored.source_ref is not None
        assert stored.source_ref.uri == INPUT["source_ref"]
        assert stored.observed_at is not None
    assert agent.ingest({**INPUT, "status": "inbox"}).status is Status.INBOX
    with pytest.raises(InvalidInput, match="agent_id"):
        agent.ingest({**INPUT, "agent_id": "swe-2"})
    with pytest.raises(InvalidInput, match="project_id: is also given as project"):
        agent.ingest(INPUT, project="borealis")


def test_a_session_is_captured_by_its_source_and_scope(workspace: mycel.Workspace, agent: TeamMemory) -> None:
    stored = agent.capture_conversation(TALK, capture_mode="store", project="atlas")
    event = agent.capture_session(**{"source_ref": stored.source_id, "scope": "project:atlas"})
    assert (event.trigger, event.source_id, event.scope) == (Trigger.SESSION_CLOSE, stored.source_id, Scope.PROJECT)
    assert event.state is EventState.PENDING
    assert agent.capture_session(str(stored.source_id), "project:atlas") == event
    workspace.run_pending()
    summaries = agent.list(type="thread_summary")
    assert [one.project_id for one in summaries] == ["atlas"]
    with pytest.raises(InvalidState, match="scope"):
        agent.capture_session(str(stored.source_id), "global")
    with pytest.raises(NotFound):
        agent.capture_session(NOBODY, "global")


def test_a_conversation_is_captured_by_its_source_scope_and_mode(
    workspace: mycel.Workspace, service: str, person: TeamMemory
) -> None:
    raw = person.capture_conversation(TALK, "repo:atlas-api", "store")
    assert (raw.scope, raw.state, raw.outcome) == (Scope.REPO, EventState.DONE, "stored")
    workspace.run_pending()
    assert list(person.list(status="any")) == []
    with client_of(workspace, service, "ana") as http:
        body = {
            "source_ref": raw.source_id,
            "scope": "repo:atlas-api",
            "capture_mode": "extract",
            "repo_id": "atlas-api",
        }
        captured = http.post("/api/capture/conversation", json=body)
        assert captured.status_code == 202
        assert captured.json()["scope"] == "repo"
        other = http.post("/api/capture/conversation", json={**body, "scope": "repo:borealis", "repo_id": "borealis"})
        assert (other.status_code, other.json()["field"]) == (409, "repo")
    workspace.run_pending()
    [item] = person.inbox()
    assert (item.memory.scope, item.memory.repo_id, item.memory.status) == (Scope.REPO, "atlas-api", Status.INBOX)


def test_what_is_drawn_has_the_scope_that_was_asked_for(workspace: mycel.Workspace, agent: TeamMemory) -> None:
    event = agent.capture_session(TALK, "agent", project="atlas")
    workspace.run_pending()
    assert {item.memory.scope for item in agent.inbox()} == {Scope.AGENT} == {event.scope}
    assert agent.sources.event(event.id).scope is Scope.AGENT


def test_search_takes_scopes_and_filters(workspace: mycel.Workspace, service: str, agent: TeamMemory) -> None:
    here = agent.save("Deploys of atlas go out on Tuesdays.", project="atlas", type="project")
    agent.save("The team of borealis meets on Fridays.", project="borealis", type="project")
    agent.save("Deploys go out at noon.", type="lesson")
    asked: dict[str, Any] = {"scopes": ["project"], "filters": {"project_id": "atlas", "type": "project"}}
    assert ids(agent.search(query="when do deploys go out", **asked)) == [here.id]
    assert [one.id for one in agent.list(**{"filters": {"project_id": "atlas"}})] == [here.id]
    with client_of(workspace, service, "swe-1") as http:
        body = {"query": "when do deploys go out", **asked}
        found = http.post("/api/memory/search", json=body).json()["results"]
        assert [one["item"]["id"] for one in found] == [here.id]
        in_query = http.get("/api/memory/search", params={"q": "deploys", "filters": json.dumps(asked["filters"])})
        assert [one["item"]["id"] for one in in_query.json()["results"]] == [here.id]
        refused = http.post("/api/memory/search", json={**body, "projct": "atlas"}).json()
        assert "do you mean project?" in refused["detail"]


def test_filters_are_applied_before_anything_is_found(workspace: mycel.Workspace, agent: TeamMemory) -> None:
    stored = agent.ingest(INPUT)
    agent.save("The invoice queue is watched at night.", type="lesson")
    every = [
        *({"scope": "repo"}, {"project_id": "atlas", "repo_id": "atlas-api", "min_relevance": 0.0}),
        *({"type": "decision"}, {"status": "active", "type": "decision"}, {"since": "2026-11-01", "scopes": "repo"}),
    ]
    for asked in every:
        given = {name: one for name, one in asked.items() if name != "since"}
        assert stored.id in ids(agent.search("invoice queue", **given)), asked
    assert ids(agent.search("invoice queue", until="2026-01-01T00:00:00Z")) == []
    assert ids(agent.search("invoice queue", status="archived")) == []
    assert [one.type for one in (hit.memory for hit in agent.search("invoice queue", type="lesson").hits)] == ["lesson"]


def test_a_result_has_its_score_its_parts_its_scope_its_evidence_and_why(
    workspace: mycel.Workspace, service: str, person: TeamMemory
) -> None:
    person.capture_conversation(TALK, project="atlas")
    workspace.run_pending()
    [item] = person.inbox()
    person.approve(item.memory.id)
    with client_of(workspace, service, "swe-1") as http:
        answer = http.post("/api/memory/search", json={"query": "invoice queue RabbitMQ", "project_id": "atlas"}).json()
    [found] = answer["results"]
    assert found["item"]["id"] == item.memory.id
    assert found["score"] == pytest.approx(sum(found["breakdown"].values()))
    assert {"words", "recency", "confidence"} <= found["breakdown"].keys()
    assert found["matched_scope"] == "project"
    assert found["evidence"]["source_id"] == item.memory.source_ref.source_id  # pyright: ignore[reportOptionalMemberAccess]
    assert found["why"].endswith(".")
    [hit] = person.search("invoice queue RabbitMQ").hits
    quoted = person.sources.get(str(hit.evidence and hit.evidence.source_id)).text
    assert hit.evidence is not None
    assert "RabbitMQ" in quoted[hit.evidence.start : hit.evidence.end]


def test_a_context_is_for_a_project_repo_agent_and_task(workspace: mycel.Workspace, person: TeamMemory) -> None:
    profile = person.save("Ana prefers short answers in Portuguese.", type="profile")
    agent = workspace.as_member("swe-1")
    convention = agent.save(
        "Convention: run the linter on atlas before a push.", project="atlas", category="convention"
    )
    decision = agent.ingest(INPUT)
    elsewhere = agent.save("Borealis is written in Rust.", project="borealis", type="project")
    episode = agent.episodes.log(
        action="failed", approach="Moved the invoice queue by hand.", outcome="Lost messages.", project="atlas"
    )
    workspace.run_pending()
    bundle = agent.context_for("atlas", "atlas-api", "swe-1", "move the invoice queue")
    by_name = agent.context_for(project="atlas", repo="atlas-api", agent="swe-1", task="move the invoice queue")
    same = agent.context_for(
        **{"project_id": "atlas", "repo_id": "atlas-api", "agent_id": "swe-1", "task": "move the invoice queue"}
    )
    assert bundle.to_markdown() == by_name.to_markdown() == same.to_markdown()
    items = {item.memory.id: item for section in bundle.sections.values() for item in section}
    assert {profile.id, convention.id, decision.id, episode.memory.id} <= items.keys()
    assert elsewhere.id not in items
    assert all(item.why and item.citation for item in items.values())
    assert all(item.citation in bundle.to_markdown() for item in items.values())


def test_consolidate_takes_the_items_of_the_inbox(
    workspace: mycel.Workspace, service: str, agent: TeamMemory, person: TeamMemory
) -> None:
    for session in ("s-1", "s-2"):
        agent.capture_session(
            [{"role": "user", "content": "Turns out the invoice gateway listens on port 8080."}], session_id=session
        )
        workspace.run_pending()
    waiting = list(person.inbox())
    assert len(waiting) == 2
    planned = person.consolidate(**{"inbox_items": waiting}, dry_run=True)
    assert planned.actions == person.consolidate([one.memory.id for one in waiting], dry_run=True).actions
    with client_of(workspace, service, "ana") as http:
        items = http.get("/api/inbox").json()
        items = items["items"] if isinstance(items, dict) else items
        answer = http.post("/api/consolidate", json={"inbox_items": items, "dry_run": True})
        assert answer.status_code == 200
        assert len(answer.json()["actions"]) == len(planned.actions)
    merged = person.consolidate(**{"inbox_items": waiting})
    assert [action.kind for action in merged.actions] == [action.kind for action in planned.actions]
    assert "merge" in {action.kind for action in merged.actions}
    # What was merged keeps where it came from.
    [kept] = person.list(status=["inbox", "active"], type=[one.memory.type.value for one in waiting])
    derived = [link for link in person.links(kept.id) if link.relation in {Relation.DERIVED_FROM, Relation.SUPERSEDES}]
    assert derived
    assert kept.evidence_ref is not None


def test_a_profile_fact_needs_the_word_of_its_person(agent: TeamMemory, person: TeamMemory) -> None:
    said = agent.upsert_profile_fact("editor", "Ana uses vim.", about="ana")
    assert said.status is Status.INBOX
    assert ids(agent.search("which editor does Ana use")) == []
    assert agent.save("Ana likes tea.", type="profile").status is Status.INBOX
    with pytest.raises(AccessDenied):
        agent.approve(said.id)
    assert person.approve(said.id).status is Status.ACTIVE
    assert person.upsert_profile_fact("answers", "Short, in Portuguese.").status is Status.ACTIVE


def test_explain_takes_a_memory_or_a_retrieval(workspace: mycel.Workspace, service: str, agent: TeamMemory) -> None:
    stored = agent.ingest(INPUT)
    recall = agent.search("invoice queue")
    for explained in (agent.explain(stored.id), agent.explain(memory_id=stored.id)):
        assert explained.memory is not None
        assert explained.memory.id == stored.id
    for explained in (agent.explain(recall.id), agent.explain(**{"retrieval_id": recall.id})):
        assert explained.recall is not None
        assert [hit.memory_id for hit in explained.recall.hits] == ids(recall)
        assert all(hit.breakdown and hit.why for hit in explained.recall.hits)
    with client_of(workspace, service, "swe-1") as http:
        told = http.get("/api/explain", params={"retrieval_id": recall.id})
        assert told.json()["recall"]["query"] == "invoice queue"
        assert http.get("/api/explain", params={"memory_id": stored.id}).json()["memory"]["id"] == stored.id
    # A recall is its caller's own, and an id that is nothing looks like one that is hidden.
    for id in (recall.id, NOBODY):
        with pytest.raises(NotFound, match=f"no recall {id}"):
            workspace.as_member("swe-2").explain(id)


def test_an_export_is_imported_elsewhere(workspace: mycel.Workspace, service: str, tmp_path: Path) -> None:
    agent = workspace.as_member("swe-1")
    stored = agent.ingest(INPUT)
    with client_of(workspace, service, "swe-1") as http:
        archive = http.get("/api/export")
        assert archive.status_code == 200
        agent.delete(stored.id)
        taken = http.post("/api/import", content=archive.content)
        assert taken.status_code == 200
    [again] = agent.list(type="decision")
    assert (again.content, again.project_id, again.rationale) == (stored.content, "atlas", stored.rationale)


# The stable types.


def test_a_record_has_every_field(workspace: mycel.Workspace, service: str, agent: TeamMemory) -> None:
    stored = agent.ingest(INPUT)
    with client_of(workspace, service, "swe-1") as http:
        record = http.get(f"/api/memory/{stored.id}").json()
    assert set(RECORD) <= record.keys()
    assert 0 < record["freshness"] <= 1
    assert {name: record[name] for name in INPUT if name != "source_ref"} == {
        **{name: one for name, one in INPUT.items() if name != "source_ref"},
        "observed_at": "2026-11-01T09:00:00+00:00",
    }
    assert record["source_ref"]["uri"] == INPUT["source_ref"]


def test_the_classes_scopes_statuses_and_kinds_are_those_of_the_document(agent: TeamMemory) -> None:
    classes = ("profile", "project", "decision", "artifact", "episode", "task_hint")
    assert set(classes) <= {one.value for one in MemoryType}
    for kind in classes:
        assert agent.ingest({"content": f"A {kind} of its own.", "type": kind}).type == kind
    scopes = ("global", "project", "repo", "agent", "session")
    assert [one.value for one in Scope] == list(scopes)
    for scope in scopes:
        stored = agent.ingest({"content": f"It applies to one {scope}.", "scope": scope, "project_id": "atlas"})
        assert stored.scope == scope
        assert stored.id in [one.id for one in agent.list(**{"scope": scope})]
    kinds = ("manual", "conversation", "run", "document", "import")
    assert [one.value for one in SourceKind] == list(kinds)
    for kind in kinds:
        assert agent.ingest({"content": f"It comes from a {kind}.", "source_kind": kind}).source_kind == kind
    statuses = ("inbox", "active", "superseded", "contradicted", "archived")
    assert [one.value for one in Status] == list(statuses)
    stored = agent.save("The gate is open.")
    for status in statuses[2:]:
        assert agent.update(stored.id, status=status).status == status
        assert [one.id for one in agent.list(status=status)] == [stored.id]


def test_memories_are_linked_by_every_relation_of_the_document(agent: TeamMemory) -> None:
    first, second = agent.save("The queue is RabbitMQ."), agent.save("Invoices go through the queue.")
    between = ("supports", "contradicts", "supersedes", "derived_from", "related_to")
    for relation in between:
        assert agent.link(first.id, second.id, relation).relation == relation
    agent.link(first.id, "project:borealis", "applies_to")
    assert {link.relation for link in agent.links(first.id)} == {*between, "applies_to"}


class FailingModel:
    """A model endpoint that answers nobody."""

    model = "failing"
    max_characters = 10_000

    def answer(self, instructions: str, material: str, *, schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        raise OSError("the model is down")

    def close(self) -> None:
        pass


def test_a_failed_job_keeps_its_source_says_why_and_can_be_retried(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "failing")
    with open_workspace(settings=settings, language_model=FailingModel()) as workspace:
        agent = workspace.as_operator()
        event = agent.capture_session(TALK, "project:atlas")
        workspace.run_pending()
        failed = agent.sources.event(event.id)
        assert (failed.trigger, failed.source_id, failed.scope) == ("session_close", event.source_id, "project")
        assert (failed.state, failed.tries) == (EventState.FAILED, 1)
        assert failed.error
        assert failed.created_at <= failed.updated_at
        assert agent.sources.get(str(event.source_id)).text.count("RabbitMQ") == 1
    with open_workspace(settings=settings) as workspace:
        agent = workspace.as_operator()
        assert agent.sources.retry(event.id).state is EventState.PENDING
        workspace.run_pending()
        done = agent.sources.event(event.id)
        assert (done.state, done.error) == (EventState.DONE, None)
        assert done.outcome
    names = {one.name for one in fields_of(IngestionEvent)}
    wanted = {"id", "trigger", "source_id", "scope", "state", "created_at", "updated_at", "outcome", "tries", "error"}
    assert wanted <= names


# The pipeline.

CAPTURES: dict[str, Trigger] = {
    **dict.fromkeys(("capture_session", "complete_task", "fail_task", "after_task"), Trigger.SESSION_CLOSE),
    **dict.fromkeys(("capture_conversation", "summarize_thread", "imports.take"), Trigger.CONVERSATION_CAPTURE),
    **dict.fromkeys(("index_file", "knowledge.import_markdown"), Trigger.MANUAL_WRITE),
}


def plain_call(http: Any, operation: Operation) -> Any:
    """Call the operation as plainly as it goes."""
    given = {**{name: PLAIN[name] for name in operation.required}, **ALSO.get(operation.name, {})}
    given.pop("dry_run", None)
    if operation.name == "imports.take":
        given["items"] = [{"id": "talk-1", "messages": "user: plain words"}]
    path = operation.path
    for name in operation.in_path:
        path = path.replace(f"{{{name}}}", str(given.pop(name, NOBODY)))
    if not operation.in_query:
        return http.request(operation.method, path, json=given)
    return http.request(operation.method, path, params=given)


def test_nothing_is_ingested_but_what_was_handed_in(workspace: mycel.Workspace, service: str, tmp_path: Path) -> None:
    """Every operation is called; there is a new event after those that hand material in, with one of four triggers."""
    assert [one.value for one in Trigger] == ["manual_write", "session_close", "conversation_capture", "maintenance"]
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "README.md").write_text("We decided to use RabbitMQ because it is small.", "utf-8")
    workspace.as_member("swe-1").repos.register("atlas-api", folder=str(tmp_path / "repo"))
    known: set[str] = set()
    handed_in: set[str] = set()
    with client_of(workspace, service, "lead-1") as http:
        for operation in OPERATIONS:
            answer = plain_call(http, operation)
            assert answer.status_code < 500, (operation.name, answer.text)
            events = {one["id"]: one["trigger"] for one in http.get("/api/events", params={"limit": 200}).json()}
            new = {events[id] for id in events.keys() - known} - {Trigger.MAINTENANCE}
            known |= events.keys()
            assert new <= {CAPTURES.get(operation.name)}, operation.name
            if new:
                handed_in.add(operation.name)
        sources = http.get("/api/sources", params={"limit": 200}).json()
    assert handed_in == CAPTURES.keys()
    assert "README" not in json.dumps(sources)
    # What was said is a source and candidates at most: no talk is true by being talked.
    workspace.run_pending()
    assert not [one for one in workspace.as_member("ana").list() if one.made_by == "extraction"]


def test_material_goes_through_five_states(workspace: mycel.Workspace, agent: TeamMemory, person: TeamMemory) -> None:
    person.capture_conversation(TALK, "project:atlas", "store")
    [source] = agent.sources.list()
    [captured] = agent.sources.events()
    assert (captured.source_id, captured.trigger) == (source.id, "conversation_capture")
    person.capture_conversation(str(source.id), "project:atlas", "extract")
    workspace.run_pending()
    [item] = person.inbox()
    assert (item.memory.status, item.memory.scope, item.memory.project_id) == (Status.INBOX, "project", "atlas")
    assert item.memory.rationale == "Kafka needs a team of its own"
    assert item.evidence is not None
    # What stands equals nothing yet, so consolidation finds nothing to merge, and nobody has vouched for it.
    assert person.consolidate([item.memory.id]).actions == ()
    assert ids(agent.search("invoice queue")) == []
    promoted = person.approve(item.memory.id)
    assert (promoted.status, promoted.evidence_ref) == (Status.ACTIVE, item.memory.evidence_ref)
    assert ids(agent.search("invoice queue")) == [promoted.id]


def test_a_conversation_comes_in_only_on_purpose(workspace: mycel.Workspace, agent: TeamMemory) -> None:
    """As a transcript that is pasted, as a summary that an agent saves, as an artifact through the API."""
    pasted = agent.capture_conversation("ana: We decided to use RabbitMQ because Kafka needs a team of its own.")
    assert pasted.trigger == "conversation_capture"
    summary = agent.save("The team agreed on RabbitMQ for invoices.", type="thread_summary", source_kind="conversation")
    assert (summary.source_kind, summary.status) == ("conversation", "active")
    notes = agent.index_file("meetings/queue.md", "# Queue\n\nWe take RabbitMQ.")
    assert notes.trigger == "manual_write"
    artifact = agent.artifacts.register(path="meetings/queue.txt", content="We take RabbitMQ.")
    assert artifact.checksum
    assert len(agent.sources.list()) == 2


def test_a_manual_write_is_done_at_once_and_stands_in_the_audit_log(workspace: mycel.Workspace) -> None:
    agent = workspace.as_member("swe-1")
    stored = agent.ingest(INPUT)
    assert (stored.status, ids(agent.search("invoice queue"))) == (Status.ACTIVE, [stored.id])
    assert list(agent.sources.events()) == []
    [entry] = agent.audit(memory_id=stored.id)
    assert (entry.operation, entry.changed_by) == ("create", "swe-1")
    # A document or a list of facts that is handed in by hand is material, and has its event.
    assert agent.index_file("rules.md", "# Rules\n\nRun the linter.").trigger == "manual_write"


def test_maintenance_makes_vectors_and_looks_for_what_is_alike_by_itself(tmp_path: Path) -> None:
    copy_template(make, tmp_path / "other")
    clock, settings = ManualClock(), settings_of(tmp_path / "other")
    with open_workspace(settings=settings, clock=clock, embedder=wide_embedder()) as workspace:
        agent = workspace.as_member("swe-1")
        first = agent.save("The invoice gateway listens on port 8080.")
        agent.save("The invoice gateway listens on port 9090.")
        workspace.run_pending()
        clock.move(timedelta(hours=2))
        workspace.run_pending()
        assert workspace.embedding_progress(TEAM).embedded == 2
        assert "contradicts" in {link.relation.value for link in agent.links(first.id)}
        workspace.maintain()
        events = list(workspace.as_operator(TEAM).sources.events())
        assert {one.trigger for one in events} == {Trigger.MAINTENANCE}
        assert {step.value for one in events for step in one.steps} >= {"consolidate", "maintain"}
        assert {one.state for one in events} == {EventState.DONE}


def test_a_decision_says_why_or_waits(workspace: mycel.Workspace, service: str, agent: TeamMemory) -> None:
    hint = ("a decision without its rationale: an update with `rationale` says why it was made",)
    silent = agent.save("We use RabbitMQ.", type="decision")
    assert (silent.status, silent.notices) == (Status.ACTIVE, hint)
    assert agent.ingest(INPUT).notices == ()
    assert agent.update(silent.id, rationale="Kafka needs a team of its own.").notices == ()
    with client_of(workspace, service, "swe-1") as http:
        answer = http.post("/api/ingest", json={"memory_input": {"content": "We use vim.", "type": "decision"}}).json()
        assert answer["notices"] == list(hint)
    lead = workspace.as_member("lead-1")
    assert lead.policy().decisions_need_rationale is False
    assert lead.set_policy(decisions_need_rationale=True).decisions_need_rationale is True
    waiting = agent.save("We deploy on Tuesdays.", type="decision")
    assert waiting.status is Status.INBOX
    assert ids(agent.search("when do we deploy")) == []
    [item] = lead.inbox()
    assert item.reason == "the team's policy asks why a decision was made, and it has no rationale"
    assert agent.ingest(INPUT).status is Status.ACTIVE
    agent.update(waiting.id, rationale="Fridays went wrong.")
    [item] = lead.inbox()
    assert "was added later" in item.reason
    assert lead.approve(waiting.id).rationale == "Fridays went wrong."
    assert ids(agent.search("when do we deploy")) == [waiting.id]
    # What stands is not changed into a decision without a reason either.
    fact = agent.save("Lunch is at noon.")
    assert agent.update(fact.id, type="decision").status is Status.INBOX
    assert agent.get(fact.id).type == "fact"


def test_what_contradicts_or_comes_later_replaces_nothing_by_itself(agent: TeamMemory, person: TeamMemory) -> None:
    first = agent.save("The invoice gateway listens on port 8080.", confidence=0.9)
    later = agent.save("The invoice gateway listens on port 9090.", confidence=0.4)
    person.consolidate()
    now = {one.id: one for one in agent.list(status="any")}
    assert {now[first.id].content, now[later.id].content} == {first.content, later.content}
    assert now[first.id].status is Status.ACTIVE
    assert "contradicts" in {link.relation.value for link in agent.links(first.id)}
    assert all(hit.contested_by for hit in agent.search("invoice gateway port").hits)
    value = agent.knowledge.upsert(key="port", value="8080", confidence=0.9)
    unsure = agent.knowledge.upsert(key="port", value="9090", confidence=0.4)
    assert (unsure.status, agent.knowledge.get(key="port").id) == (Status.INBOX, value.id)


def test_agents_keep_episodes_and_candidates_by_themselves(workspace: mycel.Workspace, agent: TeamMemory) -> None:
    episode = agent.save("Tried the import by hand; it took an hour.", type="episode")
    assert episode.status is Status.ACTIVE
    agent.capture_session(TALK, "project:atlas")
    workspace.run_pending()
    summaries = [one for one in agent.list(type="episode") if one.id != episode.id]
    assert [one.made_by for one in summaries] == ["session_summary"]
    assert {one.status for one in agent.list(status="any") if one.made_by == "extraction"} == {Status.INBOX}


def test_storing_and_finding_need_no_embeddings(tmp_path: Path) -> None:
    """The index by meaning fails: everything is stored, read and found by its words, and vectors are made later."""
    embedder = wide_embedder()
    embedder.failing = Unavailable("the embedder is down")
    copy_template(make, tmp_path / "other")
    with open_workspace(settings=settings_of(tmp_path / "other"), embedder=embedder) as workspace:
        agent = workspace.as_member("swe-1")
        stored = agent.save("We prefer short answers.", type="project")
        agent.save("Lunch is served on the second floor.")
        assert agent.get(stored.id).content == stored.content
        recall = agent.search("short answers")
        assert (ids(recall), recall.degraded) == ([stored.id], ("meaning",))
        assert "meaning" not in recall.hits[0].breakdown
        embedder.failing = None
        assert workspace.embed_pending() == 2
        again = agent.search("which answers do we prefer")
        assert (ids(again), again.degraded) == ([stored.id], ())
        assert again.hits[0].breakdown["meaning"] > 0


def test_searches_are_by_words_and_meaning_and_weigh_place_time_and_confidence(tmp_path: Path) -> None:
    copy_template(make, tmp_path / "other")
    embedder = wide_embedder(["outage", "downtime"])
    with open_workspace(settings=settings_of(tmp_path / "other"), embedder=embedder) as workspace:
        agent = workspace.as_member("swe-1")
        sure = agent.save("Downtime costs customers, so page somebody.", project="atlas")
        agent.save("Lunch is served on the second floor.", project="atlas")
        workspace.run_pending()
        [hit] = agent.search("outage", project="atlas").hits
        assert hit.memory.id == sure.id
        assert {"words", "meaning", "scope", "recency", "confidence"} <= hit.breakdown.keys()
        assert hit.breakdown["words"] == 0 < hit.breakdown["meaning"]
        assert "in meaning" in hit.why
        # Fewer and stronger: what is off the topic is left out, however many may be asked for.
        assert ids(agent.search("outage", project="atlas", limit=100)) == [sure.id]
        # The same question in the same state is answered alike.
        once, twice = agent.search("outage", project="atlas"), agent.search("outage", project="atlas")
        assert [hit.breakdown for hit in once.hits] == [hit.breakdown for hit in twice.hits]


@pytest.mark.files_only
def test_the_store_is_sqlite_with_the_tables_and_indexes_of_the_document(tmp_path: Path) -> None:
    copy_template(make, tmp_path / "other")
    with open_workspace(settings=settings_of(tmp_path / "other"), embedder=wide_embedder()) as workspace:
        agent = workspace.as_member("swe-1")
        agent.projects.register("atlas")
        agent.repos.register("atlas-api", project="atlas")
        agent.ingest(INPUT)
        agent.capture_conversation(TALK, capture_mode="store")
        agent.views.save("queues", query="queue", project="atlas")
        agent.search("invoice queue")
        workspace.run_pending()
    store = sqlite3.connect(tmp_path / "other" / "teams" / TEAM / "memory.sqlite")
    count = {
        table: store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("projects", "repos", "memories", "memory_links", "sources", "ingestion_events", "saved_views")
    }
    assert count == {
        **{"projects": 1, "repos": 1, "memories": 1, "memory_links": 0},
        **{"sources": 1, "ingestion_events": 1, "saved_views": 1},
    }
    # What the document calls retrieval logs, the word index and the vectors: all in the one store.
    assert store.execute("SELECT query FROM recalls").fetchall() == [("invoice queue",)]
    assert store.execute("SELECT count(*) FROM memory_terms").fetchone() == (1,)
    assert store.execute("SELECT count(*) FROM embeddings").fetchone() == (1,)
    indexes = {name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {f"memories_by_{one}" for one in ("project", "repo", "type", "status", "time")} <= indexes
    store.close()


def test_retrievals_are_logged_and_can_be_looked_at(agent: TeamMemory) -> None:
    stored = agent.ingest(INPUT)
    recall = agent.search("invoice queue", filters={"project_id": "atlas"})
    logged = agent.explain(recall.id).recall
    assert logged is not None
    assert (logged.query, logged.request["filters"]) == ("invoice queue", {"project": "atlas"})
    assert [hit.memory_id for hit in logged.hits] == [stored.id]


def test_sources_are_of_every_kind_and_named_by_their_references(agent: TeamMemory) -> None:
    agent.capture_conversation(TALK, capture_mode="store", thread_id="t-1", uri="https://example.org/t-1")
    agent.capture_session([{"role": "user", "content": "Run the tests."}], session_id="s-1")
    agent.index_file("notes/queue.md", "# Queue\n\nWe take RabbitMQ.")
    kinds = {one.kind.value: one for one in agent.sources.list()}
    assert kinds.keys() == {"conversation", "run", "document"}
    assert (kinds["conversation"].uri, kinds["conversation"].thread_id) == ("https://example.org/t-1", "t-1")
    assert (kinds["run"].session_id, kinds["document"].uri) == ("s-1", "notes/queue.md")
    assert "RabbitMQ" in agent.sources.get(kinds["conversation"].id).text


def test_the_engine_works_beside_and_the_agent_goes_on(workspace: mycel.Workspace, agent: TeamMemory) -> None:
    workspace.work_beside()
    event = agent.capture_session(TALK, "project:atlas")
    assert event.state is EventState.PENDING
    assert agent.save("The agent went on.").status is Status.ACTIVE
    wait_until(lambda: agent.sources.event(event.id).state is EventState.DONE)
    assert agent.inbox()


def test_agents_share_one_service_and_everybody_sees_what_was_written(workspace: mycel.Workspace, service: str) -> None:
    with client_of(workspace, service, "swe-1") as one, client_of(workspace, service, "swe-2") as other:
        id = one.post("/api/ingest", json={"memory_input": INPUT}).json()["id"]
        assert other.get(f"/api/memory/{id}").json()["agent_id"] == "swe-1"
        found = other.post("/api/memory/search", json={"query": "invoice queue"}).json()["results"]
        assert [hit["item"]["id"] for hit in found] == [id]
    assert workspace.as_member("ana").get(id).title == INPUT["title"]


def test_what_one_project_knows_helps_another_when_it_is_linked(agent: TeamMemory) -> None:
    decision = agent.ingest(INPUT)
    agent.projects.register("borealis")
    assert ids(agent.search("queue", project="borealis")) == []
    agent.link(decision.id, "project:borealis", "applies_to")
    [hit] = agent.search("queue", project="borealis").hits
    assert (hit.memory.id, hit.memory.project_id) == (decision.id, "atlas")
    assert decision.id in {
        item.memory.id for items in agent.context_for("borealis", task="queue").sections.values() for item in items
    }


def test_a_snapshot_holds_everything_and_is_checked(workspace: mycel.Workspace, tmp_path: Path) -> None:
    agent = workspace.as_member("swe-1")
    agent.ingest(INPUT)
    agent.capture_conversation(TALK, capture_mode="store")
    workspace.backup(tmp_path / "snapshot")
    assert workspace.check_backup(tmp_path / "snapshot").problems == ()
    report = workspace.export(tmp_path / "team.jsonl.gz", team=TEAM)
    assert report.counts["memory"] == 1
    assert report.counts["source"] == 1
    assert report.counts["event"] == 1


def test_a_context_begins_with_short_forms_and_leads_to_the_whole(agent: TeamMemory) -> None:
    text = "The invoice queue is RabbitMQ. " + " ".join(f"Step {number} is done by hand." for number in range(200))
    stored = agent.save(text, type="lesson", project="atlas")
    bundle = agent.context_for("atlas", task="invoice queue", token_budget=300)
    [item] = [one for items in bundle.sections.values() for one in items if one.memory.id == stored.id]
    assert item.shortened
    assert agent.get(item.citation).content == text
    assert "/projects" in [folder.path for folder in agent.tree("/").subdirs]


def test_the_reference_lists_every_other_name_and_its_example_runs(
    agent: TeamMemory, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[3] / "docs/reference/python.md").read_text("utf-8")
    section = page.partition("### Other names")[2].partition("### Capturing")[0]
    for name in ALIASES:
        assert f"`{name}`" in section
    for name in OBJECTS:
        assert f"`{name}={{…}}`" in section
    code, printed = re.findall(r"```(?:python|text)\n(.*?)```", section, re.DOTALL)
    exec(code, {"memory": agent})
    assert capsys.readouterr().out == printed
