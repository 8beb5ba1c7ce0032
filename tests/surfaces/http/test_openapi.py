"""The description of the API: complete, and true of the service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, cast

import pytest
import schemathesis
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.described_route import About, DescribedRoute, described
from mycel.surfaces.http.openapi import openapi, path_of
from mycel.wire.operations import OPERATIONS
from mycel.wire.vocabulary import OVERRIDES, WORDS
from tests.surfaces.http.described_api import (
    MEMBERS,
    Service,
    closed_answers,
    prove,
    routes_of,
    run_schemathesis,
    throw_away_service,
)

pytestmark = pytest.mark.each_database(slow=True)


ORIGIN = "http://127.0.0.1:7077"
MAX_PAGE_BYTES = 200_000
# Those that are no operations, by the routes of the app.
OTHERS = [
    *(("GET", path) for path in ("/health", "/health/live", "/health/ready", "/metrics", "/openapi.json", "/docs")),
    *(("GET", "/api/memory/changes"), ("GET", "/api/export"), ("POST", "/api/import")),
    *(("POST", "/api/sign-in-links"), ("POST", "/api/sign-in")),
]
OPERATION_ROUTES = [(operation.method, path_of(operation)) for operation in OPERATIONS]
ROUTES = [*OPERATION_ROUTES, *OTHERS]
FEW, FEWER = 2, 1


@pytest.fixture(scope="module")
def service(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with throw_away_service(tmp_path_factory.mktemp("data")) as service:
        yield service


@pytest.fixture
def app(workspace: Workspace) -> Starlette:
    return create_app(workspace)


@pytest.fixture
def client(app: Starlette) -> TestClient:
    return TestClient(app, base_url=ORIGIN)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """As the app serves it, without a workspace of its own."""
    app = create_app(cast(Workspace, None))
    return openapi(described(app.routes))


@pytest.fixture(scope="module")
def schema(document: dict[str, Any]) -> Any:
    return schemathesis.openapi.from_dict(closed_answers(document))


def references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in cast(dict[str, object], value).items():
            if name == "$ref":
                yield str(one)
            yield from references(one)
    elif isinstance(value, list):
        for one in cast(list[object], value):
            yield from references(one)


def test_every_route_is_described(document: dict[str, Any]) -> None:
    assert sorted(routes_of(document)) == sorted(ROUTES)


def test_every_description_says_what_it_is_about(document: dict[str, Any]) -> None:
    abouts = [about for item in document["paths"].values() for about in item.values()]
    ids = [about["operationId"] for about in abouts]
    assert len(set(ids)) == len(ids)
    assert all(about["summary"] and about["tags"] for about in abouts)
    # Texts that Python itself has under the names of some methods.
    assert not any("virtual subclass" in about["summary"] + about.get("description", "") for about in abouts)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in set(references(document)):
        _, part, kind, name = reference.split("/")
        assert part == "components"
        assert name in document["components"][kind]


def test_every_word_is_used_and_every_name_has_one(document: dict[str, Any]) -> None:
    taken = {name for operation in OPERATIONS for name in operation.fields}
    assert WORDS.keys() == taken | {"after"}
    by_name = {operation.name: operation for operation in OPERATIONS}
    for operation, words in OVERRIDES.items():
        unused = words.keys() - by_name[operation].fields.keys()
        # Some words are shared by operations that do not have all of them.
        assert unused <= {"status", "cursor", "team", "project"}, operation


def test_no_two_paths_differ_only_by_the_names_of_their_parts(document: dict[str, Any]) -> None:
    shapes = [re.sub(r"\{\w+\}", "{}", path) for path in document["paths"]]
    assert len(set(shapes)) == len(shapes)


def test_what_may_be_answered_is_told_with_its_problems(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for method, about in item.items():
            statuses = {int(status) for status in about["responses"]}
            assert {400, 421, 500} <= statuses, (method, path)
            if about.get("security") != []:
                assert {401, 403, 404, 422, 429, 503} <= statuses, (method, path)
            sent = about.get("requestBody", {"content": {}})["content"]
            assert bool(sent) <= (413 in statuses), (method, path)
            assert ("application/json" in sent) <= (415 in statuses), (method, path)
    for status, response in document["components"]["responses"].items():
        assert list(response["content"]) == ["application/problem+json"], status


def test_headers_are_told_where_they_come(document: dict[str, Any]) -> None:
    def told(method: str, path: str, status: str) -> set[str]:
        return set(document["paths"][path][method]["responses"][status].get("headers", {}))

    assert told("post", "/api/memory", "201") == {"ETag", "Location"}
    assert told("get", "/api/memory", "200") == {"ETag", "Link"}
    assert told("get", "/api/memory/{id}", "304") == {"ETag"}
    responses = document["components"]["responses"]
    assert "Retry-After" in responses["ServiceUnavailable"]["headers"]
    assert "WWW-Authenticate" in responses["Unauthorized"]["headers"]
    assert {one["name"] for one in document["components"]["parameters"].values()} == {
        *("Mycel-As", "Mycel-Team", "Mycel-Naming", "Idempotency-Key", "If-Match", "If-None-Match"),
    }


@pytest.mark.parametrize("path", ["/openapi.json", "/docs"])
def test_the_description_asks_for_no_token(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == HTTPStatus.OK


def test_the_description_is_served_as_it_is(client: TestClient, document: dict[str, Any]) -> None:
    answer = client.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == document
    # Patterns name characters that cannot be seen.
    assert answer.content.isascii()


def test_the_page_needs_nothing_from_elsewhere(client: TestClient, document: dict[str, Any]) -> None:
    answer = client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|<script(?! src=\"/static/)|\son\w+=", answer.text)
    assert not re.search(r"(src|href)=\"(?!#|/(?!/))", answer.text)
    for method, path in routes_of(document):
        assert f'<b class="{method.lower()}">{method}</b> <code>{path}</code>' in answer.text


def test_the_page_is_no_larger_than_any_other_and_tells_each_error_once(
    client: TestClient, document: dict[str, Any]
) -> None:
    answer = client.get("/docs")
    assert len(answer.content) <= MAX_PAGE_BYTES
    for one in document["components"]["responses"].values():
        told = re.sub(r"`([^`]+)`", r"<code>\1</code>", one["description"])
        assert answer.text.count(told) == 1, told


def test_what_is_asked_for_in_a_query_is_a_field_of_its_own_also_where_fields_depend_on_each_other(
    client: TestClient,
) -> None:
    (call,) = re.findall(r'<details class="call" id="explain".*?</details>', client.get("/docs").text, re.DOTALL)
    assert set(re.findall(r'data-in="query"><b>(\w+)</b>', call)) == {"recall_id", "missing", "memory_id"}


def test_the_page_escapes_what_it_shows() -> None:
    from mycel.surfaces.http.docs_pages import operations_of

    async def endpoint(_request: Request) -> Response:
        return Response()

    about = About(tag="odd", summary="<script>alert(1)</script>", public=True)
    calls = operations_of("odd", openapi([DescribedRoute("/odd", endpoint, {"GET": about})]))
    assert "<script" not in calls
    assert "&lt;script&gt;" in calls


def test_a_route_brings_its_own_description() -> None:
    async def endpoint(_request: Request) -> Response:
        return Response()

    about = About(
        tag="odd",
        summary="Odd",
        answers=list[str],
        query={"limit": WORDS["limit"]},
        required=frozenset({"limit"}),
        body={"type": "object"},
    )
    found = openapi([DescribedRoute("/odd/{name}", endpoint, {"POST": about})])["paths"]["/odd/{name}"]["post"]
    assert [(one["name"], one["in"], one.get("required", False)) for one in found["parameters"]] == [
        ("name", "path", True),
        ("limit", "query", True),
    ]
    assert found["responses"]["200"]["content"]["application/json"]["schema"] == {
        "type": "array",
        "items": {"type": "string"},
    }
    assert "415" in found["responses"]


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_the_service_does_as_described_for_the_operator(schema: Any, service: Service, route: tuple[str, str]) -> None:
    prove(schema, service, route, token=service.tokens["operator"], examples=FEW)


@pytest.mark.parametrize(
    "route",
    # The operator's calls have been through all of them.
    [pytest.param(one, marks=[pytest.mark.proof] * (place % 3 > 0)) for place, one in enumerate(OPERATION_ROUTES)],
    ids=" ".join,
)
def test_the_service_does_as_described_for_a_member(schema: Any, service: Service, route: tuple[str, str]) -> None:
    """What is wrong is so for everybody; who may do what differs."""
    prove(schema, service, route, token=service.tokens["swe-1"], examples=FEWER, forbidden=False)


@pytest.mark.proof
@pytest.mark.files_only
@pytest.mark.parametrize("who", ["operator", *MEMBERS])
@pytest.mark.parametrize(
    ("phases", "bounds"),
    # The first ends by itself.
    [("examples,coverage", []), ("fuzzing", ["--max-time=420"]), ("stateful", ["--max-time=300"])],
    ids=["examples and coverage", "fuzzing", "stateful"],
)
def test_an_outsider_finds_nothing_that_is_not_as_described(
    tmp_path_factory: pytest.TempPathFactory, who: str, phases: str, bounds: list[str]
) -> None:
    with throw_away_service(tmp_path_factory.mktemp("data")) as service:
        folder = tmp_path_factory.mktemp("schemathesis")
        run = run_schemathesis(service, f"--phases={phases}", *bounds, token=service.tokens[who], folder=folder)
    assert run.returncode == 0, run.stdout[-10_000:]
