"""What is there is answered as the description says, and with nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
import schemathesis

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.described_route import described
from mycel.surfaces.http.openapi import openapi, path_of
from mycel.wire.naming import Naming
from mycel.wire.operations import OPERATIONS
from tests.serving import served
from tests.surfaces.http.described_api import closed_answers

pytestmark = pytest.mark.each_database(slow=True)


# What only the operator is told: see the tests of damage, and of backups.
OPERATORS = {"workspace.damages", "workspace.backups"}
READ = [operation for operation in OPERATIONS if operation.method == "GET" and operation.name not in OPERATORS]
SAID = "user: We decided to count herons at the lake, because nobody else does."


@pytest.fixture(scope="module")
def workspace(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_workspace(tmp_path_factory.mktemp("data")) as workspace:
        workspace.add_team("engineering")
        workspace.add_member("swe-1", team="engineering")
        workspace.add_member("eng-director", team="engineering", role="lead")
        yield workspace


@pytest.fixture(scope="module")
def given(workspace: Workspace) -> Mapping[str, dict[str, Any]]:
    """By path, what is asked for; everything else is asked for nothing in particular."""
    agent, lead = workspace.as_member("swe-1"), workspace.as_member("eng-director")
    first = agent.save("herons stand in the lake", tags=["bird"], metadata={"seen": [1, None, {"at": "dawn"}]})
    second = agent.save("herons fly over the lake", project="lake", ttl="7d", needs_review=True)
    agent.update(first.id, content="herons stand in the shallow lake", summary="herons")
    agent.link(first.id, second.id, "contradicts")
    value = agent.knowledge.upsert(project="lake", category="birds", key="herons", value="12", confidence=0.9)
    agent.knowledge.upsert(project="lake", category="birds", key="herons", value="13", confidence=0.1)
    episode = agent.episodes.log(task_id="T-1", action="failed", approach="look at the lake", outcome="no heron")
    agent.episodes.log(task_id="T-2", action="completed", approach="look at the shore")
    artifact = agent.artifacts.register(path="notes/heron.md", content="a heron", task_id="T-1")
    event = agent.capture_session(SAID, session_id="s-1", project="lake")
    agent.projects.register("lake")
    agent.repos.register("herons")
    agent.views.save("birds", query="herons")
    gone = agent.save("to be forgotten")
    agent.purge(gone.id)
    lead.cascade(lead.save("for the teams below").id)
    workspace.run_pending()
    lead.save("herons stand in the shallow lake")
    report = lead.consolidate()
    assert report.actions
    recall = agent.search("herons in the lake")
    agent.activity.report(text="- herons stand in the lake", occasion="prompt", memory_ids=[first.id])
    lead.rate(first.id, useful=True)
    assert recall.hits
    ids = {"knowledge": value.id, "episodes": episode.id, "artifacts": artifact.id}
    return {
        **{f"/api/memory/{part}/{{id}}": {"id": id} for part, id in ids.items()},
        **{f"/api/memory/{{id}}{part}": {"id": first.id} for part in ("", "/history", "/links", "/usage", "/given")},
        **{"/api/memory/{id}/receipt": {"id": gone.id}, "/api/memory/knowledge/{id}/history": {"id": value.id}},
        **{"/api/reports/{id}": {"id": report.id}, "/api/sources/{id}": {"id": event.source_id}},
        "/api/inbox/{id}": {"id": agent.save("herons fly at night", needs_review=True).id},
        **{"/api/events/{id}": {"id": event.id}, "/api/members/{id}/team": {"id": "swe-1"}},
        "/api/memory/knowledge/value": {"project": "lake", "category": "birds", "key": "herons"},
        **{f"/api/memory/episodes/{part}": {"task": "look for herons"} for part in ("similar", "best-agents")},
        **{"/api/memory/search": {"q": "herons"}, "/api/views/results": {"name": "birds"}},
        **{"/api/explain": {"recall_id": recall.id}, "/api/memory/episodes/success-rates": {"by": "agent"}},
        "/api/locate": {"id": first.id},
        "/api/embedding": {"team": "engineering"},
    }


@pytest.fixture(scope="module", params=list(Naming))
def naming(request: pytest.FixtureRequest) -> Naming:
    return request.param


@pytest.fixture(scope="module")
def document(naming: Naming) -> dict[str, Any]:
    """In one naming alone: an answer in the other is none."""
    routes = described(create_app(cast(Workspace, None)).routes)
    return closed_answers(openapi(routes, namings=(naming,)))


@pytest.fixture(scope="module")
def url(workspace: Workspace, given: object) -> Iterator[str]:
    with served(workspace) as url:
        yield url


# Who asks, where it is not just any member.
OPERATORS = {"/api/locate": "operator"}


@pytest.mark.parametrize("operation", READ, ids=lambda operation: operation.path)
def test_what_is_there_is_answered_as_described(
    workspace: Workspace,
    url: str,
    document: dict[str, Any],
    naming: Naming,
    given: Mapping[str, dict[str, Any]],
    operation: Any,
) -> None:
    path = path_of(operation)
    asked = dict(given.get(path, {}))
    in_path = {"id": asked.pop("id")} if "{id}" in path else {}
    case = schemathesis.openapi.from_dict(document)[path]["GET"].Case(path_parameters=in_path, query=asked)
    headers = {"Authorization": f"Bearer {workspace.issue_token(OPERATORS.get(path, 'swe-1'))}", "Mycel-Naming": naming}
    answer = case.call_and_validate(base_url=url, headers=headers)
    assert answer.status_code == 200, answer.text
    # Nobody has been there before: an answer about nothing would prove nothing.
    assert answer.json() not in ([], {}), path
