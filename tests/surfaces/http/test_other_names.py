"""A name that is none is refused with the nearest one and the list, and other names are read, by every operation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.domain.names import ALIASES, find_name
from mycel.errors import InvalidInput
from mycel.settings import Settings
from mycel.surfaces.http.app import create_app
from mycel.surfaces.mcp.tool_call import read_arguments
from mycel.surfaces.mcp.tools import TOOLS
from mycel.wire.operations import OPERATIONS, Operation
from tests.conformance.tenancy_calls import ALSO, NOBODY, PLAIN
from tests.template import copy_template, make_workspace

ORIGIN = "http://127.0.0.1:7077"
EVERY = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
# Objects with names of their own, by the field that holds them.
NESTED = [
    ("save_many", lambda one: {"items": [one]}, "items[0].", {"content": "x"}),
    ("episodes.log_many", lambda one: {"items": [one]}, "items[0].", {"action": "failed", "approach": "x"}),
    ("after_task", lambda one: {"result": one}, "", {"task_id": "t", "output": "x"}),
    ("ingest", lambda one: {"memory_input": one}, "memory_input.", {"content": "x"}),
    ("search", lambda one: {"query": "x", "filters": one}, "filters.", {}),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all: nothing here depends on what is stored."""
    data = tmp_path_factory.mktemp("data")
    copy_template(make_workspace, data)
    with open_workspace(data) as workspace:
        headers = {"Authorization": f"Bearer {workspace.issue_token('operator')}"}
        app = create_app(workspace, settings=Settings(data=data, requests_per_second=1e6))
        with TestClient(app, base_url=ORIGIN, headers=headers) as client:
            yield client


def names_of(operation: Operation) -> list[str]:
    """As a request has them."""
    renamed = {ours: theirs for theirs, ours in (operation.renamed or {}).items()}
    return [renamed.get(name, name) for name in operation.fields if name not in operation.in_path]


def send(client: TestClient, operation: Operation, given: Mapping[str, Any]) -> httpx2.Response:
    path = operation.path
    for name in operation.in_path:
        path = path.replace(f"{{{name}}}", NOBODY)
    if not operation.in_query:
        return client.request(operation.method, path, json=dict(given))
    texts = {name: json.dumps(one) if isinstance(one, dict) else one for name, one in given.items()}
    return client.request(operation.method, f"{path}?{urlencode(texts, doseq=True)}")


@EVERY
def test_an_unknown_name_is_refused_with_the_nearest_one_and_the_list(client: TestClient, operation: Operation) -> None:
    names = names_of(operation)
    for name in [*(f"{name}x" for name in names), "zzzzzzzz"]:
        answer = send(client, operation, {name: "x"})
        assert answer.status_code == 422, (name, answer.text)
        told = answer.json()
        assert (told["code"], told["field"]) == ("invalid_input", name)
        assert told["detail"].endswith(f": it takes {', '.join(names) or 'nothing'}"), name
        if name.removesuffix("x") in names:
            assert f"(do you mean {name.removesuffix('x')}?)" in told["detail"]


@EVERY
def test_another_name_is_read_as_ours_and_refused_beside_another_value(
    client: TestClient, operation: Operation
) -> None:
    if operation.name == "update":
        # It takes the whole memory, which has both names, and holds them to what is stored: nothing is stored here.
        return
    for alias in ALIASES:
        ours = find_name(alias, operation.fields)
        if ours is None or ours == alias or ours in operation.in_path:
            continue
        value = [NOBODY] if ours in {"ids", "over"} else NOBODY
        other = ["019a0000-0000-7000-8000-000000000001"] if ours in {"ids", "over"} else "another"
        needed = {name: PLAIN[name] for name in operation.required if name not in operation.in_path}
        needed = {**needed, **ALSO.get(operation.name, {})}
        needed = {name: one for name, one in needed.items() if name not in {ours, "memory_id"}}
        theirs = {one: name for name, one in (operation.renamed or {}).items()}.get(ours, ours)
        if alias == theirs:
            continue
        by_ours, by_alias, by_both = (
            send(client, operation, {**needed, **given}).status_code
            for given in ({theirs: value}, {alias: value}, {theirs: value, alias: value})
        )
        assert by_ours == by_alias == by_both, (alias, by_ours, by_alias, by_both)
        refused = send(client, operation, {**needed, theirs: value, alias: other})
        assert refused.status_code == 422
        assert refused.json()["field"] == alias
        assert refused.json()["detail"] == f"{alias}: is also given as {ours}, with another value"


@pytest.mark.parametrize(("name", "wrapped", "within", "needed"), NESTED, ids=[one[0] for one in NESTED])
def test_names_in_objects_are_read_and_refused_alike(
    client: TestClient, name: str, wrapped: Any, within: str, needed: dict[str, Any]
) -> None:
    operation = next(one for one in OPERATIONS if one.name == name)
    assert send(client, operation, wrapped({**needed, "project_id": "atlas"})).is_success
    refused = send(client, operation, wrapped({**needed, "projct": "atlas"}))
    assert refused.status_code == 422
    assert refused.json()["field"] == f"{within}projct"
    assert "(do you mean project?): it takes " in refused.json()["detail"]
    twice = send(client, operation, wrapped({**needed, "project": "atlas", "project_id": "borealis"}))
    assert twice.status_code == 422
    assert twice.json()["field"] == f"{within}project_id"


@EVERY
def test_filters_come_as_one_object_too(client: TestClient, operation: Operation) -> None:
    if operation.unpacks != "filters":
        return
    needed = {name: PLAIN[name] for name in operation.required if name not in operation.in_path}
    [name] = [one for one in ("project", "memory_id") if one in operation.fields]
    value = NOBODY if name == "memory_id" else "atlas"
    assert send(client, operation, {**needed, "filters": {name: value}}).is_success
    refused = send(client, operation, {**needed, name: value, "filters": {name: "another"}})
    assert refused.status_code == 422
    assert refused.json()["field"] == f"filters.{name}"
    if operation.in_query:
        for wrong in ("{", "[1]", '"x"', '{"project": "\\u0000"}', "[" * 3000):
            broken = send(client, operation, {**needed, "filters": wrong})
            assert (broken.status_code, broken.json()["field"].partition(".")[0]) in {
                (422, "filters"),
                (422, "project"),
            }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_tools_read_the_same_names_and_refuse_in_the_same_words(tool: Any) -> None:
    given = {name: PLAIN.get(name, "x") for name in tool.needs}
    for alias in ALIASES:
        ours = find_name(alias, tool.takes)
        if ours is None or ours == alias:
            continue
        rest = {name: one for name, one in given.items() if name != ours}
        assert read_arguments(tool, {**rest, alias: "x"})[ours] == "x"
        assert read_arguments(tool, {**rest, ours: "x", alias: "x"})[ours] == "x"
        with pytest.raises(InvalidInput, match=f"{alias}: is also given as {ours}, with another value"):
            read_arguments(tool, {**rest, ours: "x", alias: "y"})
    with pytest.raises(InvalidInput, match="is not an argument of") as refused:
        read_arguments(tool, {**given, "zzzzzzzz": "x"})
    assert all(name in str(refused.value) for name in tool.takes)
