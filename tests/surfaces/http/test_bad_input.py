"""Whatever comes in over HTTP, the answer is a problem that names the part, and nothing of it is stored."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mycel.app import open_workspace
from mycel.settings import Settings
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.bodies import MAX_BODY_BYTES, MAX_CAPTURE_BYTES
from mycel.wire.operations import OPERATIONS, Operation
from mycel.wire.request_schemas import MAX_IN_QUERY, arguments
from tests.serving import served

pytestmark = pytest.mark.each_database(slow=True)

ORIGIN = "http://127.0.0.1:7077"
SOME_ID = "019a0000-0000-7000-8000-000000000000"
JSON = {"content-type": "application/json"}
# Tests whose input is odd, but right.
STORING = {"test_a_capture_may_be_longer", "test_the_syntax_of_an_index_is_plain_words"}
WRONG, TOO_LARGE = HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@pytest.fixture(scope="module")
def client(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One service for all: bad input leaves no trace."""
    with open_workspace(tmp_path_factory.mktemp("data")) as workspace:
        token = workspace.issue_token("operator")
        app = create_app(workspace, settings=Settings(data=Path(), requests_per_second=1e6))
        with TestClient(app, base_url=ORIGIN, headers={"authorization": f"Bearer {token}"}) as client:
            yield client


@pytest.fixture(autouse=True)
def nothing_is_stored(client: TestClient, request: pytest.FixtureRequest) -> Iterator[None]:
    before = client.get("/api/stats").json()
    yield
    if request.node.originalname not in STORING:
        assert client.get("/api/stats").json() == before


def names_taken(operation: Operation) -> list[str]:
    schema = arguments(operation)
    return list(schema["properties"]) if "properties" in schema else list(operation.fields)


def path_of(operation: Operation) -> str:
    path = operation.path
    for name in operation.in_path:
        path = path.replace(f"{{{name}}}", SOME_ID)
    return path


def refused(answer: Any, field: str, *, status: int = WRONG) -> None:
    problem = answer.json()
    assert (answer.status_code, problem["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["field"] == field
    assert problem["code"] == "invalid_input"


WITH_BODY = [pytest.param(one, id=f"{one.method} {one.path}") for one in OPERATIONS if not one.in_query]
WITH_QUERY = [pytest.param(one, id=f"{one.method} {one.path}") for one in OPERATIONS if one.in_query]
DEEP = "[" * 900 + "]" * 900
NEVER_RIGHT = {
    "a lone surrogate": '"\\ud800"',
    "NUL": '"a\\u0000b"',
    "a number above 64 bits": str(2**63),
    "a number below 64 bits": str(-(2**63) - 1),
    "many digits": "9" * 5000,
    "900 deep": DEEP,
    "NaN": "NaN",
    "infinity": "Infinity",
    "minus infinity": "-Infinity",
    "1e999": "1e999",
    "a surrogate inside": '{"a": ["\\udfff"]}',
    "a name with NUL": '{"a\\u0000": 1}',
}


@pytest.mark.parametrize("operation", WITH_BODY)
def test_no_field_of_a_body_takes_what_cannot_be_kept(client: TestClient, operation: Operation) -> None:
    kinds = list(NEVER_RIGHT)
    for place, name in enumerate(names_taken(operation)):
        # Everything to the first field, and to each of the others two kinds that are never right, and one in turn.
        for what in kinds if place == 0 else {*kinds[:2], kinds[place % len(kinds)]}:
            body = f'{{"{name}": {NEVER_RIGHT[what]}}}'.encode()
            answer = client.request(operation.method, path_of(operation), content=body, headers=JSON)
            # More digits than Python turns into a number are no JSON to it; entries of a list are named by their place.
            deep = what == "900 deep" and answer.json()["field"].endswith("]")
            refused(answer, "body" if what == "many digits" else f"{name}[0]" if deep else name)


@pytest.mark.parametrize("operation", WITH_QUERY)
def test_no_part_of_a_query_takes_what_cannot_be_kept(client: TestClient, operation: Operation) -> None:
    path = path_of(operation)
    for name in names_taken(operation):
        for text in ("%00", "a%00b", "%ED%A0%80", "%FF", "%C3%28", "a" * (MAX_IN_QUERY + 1)):
            refused(client.request(operation.method, f"{path}?{name}={text}"), name)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_unknown_names_are_refused(client: TestClient, operation: Operation) -> None:
    path = path_of(operation)
    if operation.in_query:
        refused(client.request(operation.method, f"{path}?colour=red"), "colour")
        refused(client.request(operation.method, f"{path}?=red"), "")
    else:
        refused(client.request(operation.method, path, json={"colour": "red"}), "colour")
        refused(client.request(operation.method, f"{path}?colour=red", json={}), "colour")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_a_naming_that_is_none_is_refused_wherever_it_is_asked_for(client: TestClient, operation: Operation) -> None:
    path, sent = path_of(operation), {} if operation.in_query else {"json": {}}
    for query in ("naming=pascal", "naming=", "naming=camel&naming=snake"):
        refused(client.request(operation.method, f"{path}?{query}", **sent), "naming")
    refused(client.request(operation.method, path, headers={"mycel-naming": "pascal"}, **sent), "Mycel-Naming")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/memory/changes"), ("GET", "/api/export"), ("POST", "/api/import")]
)
def test_routes_that_are_no_operations_refuse_the_same(client: TestClient, method: str, path: str) -> None:
    for query, field in (("colour=red", "colour"), ("=red", ""), ("=", ""), ("%00=1", "query"), ("%FF=1", "query")):
        refused(client.request(method, f"{path}?{query}"), field)


@pytest.mark.parametrize("operation", WITH_BODY)
def test_a_body_is_one_json_object_sent_as_json(client: TestClient, operation: Operation) -> None:
    path = path_of(operation)
    for content in (b"{", b"\n", b"[]", b'"text"', b"null", b"{}{}", b"\xff\xfe", b'{"a": 1,}', b"{'a': 1}"):
        refused(client.request(operation.method, path, content=content, headers=JSON), "body")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json-seq", ""):
        answer = client.request(operation.method, path, content=b"{}", headers={"content-type": kind})
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"content": "a", "taskId": "1", "task_id": "1"}, "task_id"),
        ({"content": "a", "source": {"threadId": "1", "thread_id": "1"}}, "source.thread_id"),
        ({"content": "a", "type": None}, "type"),
        ({"content": None}, "content"),
        ({}, "content"),
        ({"content": "  \n"}, "content"),
        ({"content": 5}, "content"),
        ({"content": {"base64": "aGVsbG8="}}, "content"),
        ({"content": "a", "metadata": {"a": [1, {"b": 2}], "mycel_review": "no"}}, "metadata"),
        ({"content": "a", "metadata": {"a": "x" * 20_000}}, "metadata"),
        ({"content": "a", "confidence": True}, "confidence"),
        ({"content": "a" * 70_000}, "content"),
        ({"content": "a", "expires_at": "2026-01-01"}, "expires_at"),
        ({"content": "a", "ttl": "7d", "expires_at": "2126-01-01T00:00:00Z"}, "ttl"),
        ({"content": "a", "visibility": "role"}, "allowed_roles"),
    ],
)
def test_a_wrong_field_of_a_memory_is_named(client: TestClient, body: dict[str, Any], field: str) -> None:
    refused(client.post("/api/memory", json=body), field)


def test_a_wrong_item_is_named_by_its_place(client: TestClient) -> None:
    items = [{"content": "fine"}, {"content": "a\0"}]
    refused(client.post("/api/memory/batch", json={"items": items}), "items[1].content")
    items = [{"content": "fine"}, {"content": "fine", "colour": "red"}]
    refused(client.post("/api/memory/batch", json={"items": items}), "items[1].colour")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=1&limit=2", "limit"),
        ("taskId=1&task_id=1", "task_id"),
        ("limit=", "limit"),
        ("limit=1.5", "limit"),
        ("limit=0x10", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("deleted=yes", "deleted"),
        ("since=yesterday", "since"),
        ("type=fact&type=colour", "type"),
        ("order_by=title;drop", "order_by"),
        ("path=..%2f..%2fetc", "path"),
        ("cursor=WyJjcmVhdGVkX2F0Il0", "cursor"),
        ("&".join(["type=fact"] * 501), "query"),
        ("%00=1", "query"),
        ("%ff=1", "query"),
    ],
)
def test_a_wrong_part_of_a_query_is_named(client: TestClient, query: str, field: str) -> None:
    refused(client.get(f"/api/memory?{query}"), field)


@pytest.mark.parametrize(
    "rubbish",
    [
        *("%00", "%FF", "%ED%A0%80", "..", "..%2f..%2fetc%2fpasswd", "%2e%2e", "%252e", "a%0d%0aSet-Cookie:x=1"),
        *("%20", "null", "a" * 5000, "😀", "%", "%zz", "{id}", "'; DROP TABLE memories; --"),
    ],
)
@pytest.mark.parametrize("before", ["/api/memory/", "/api/reports/", "/api/members/", "/api/inbox/"])
def test_rubbish_in_a_path_names_nothing(client: TestClient, before: str, rubbish: str) -> None:
    for after in ("", "/history", "/team"):
        answer = client.get(f"{before}{rubbish}{after}")
        assert answer.status_code in {200, 404, 405, 422}, answer.text
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
        assert "set-cookie" not in answer.headers


def test_an_idempotency_key_is_checked_like_a_field(client: TestClient) -> None:
    for key in ("", " ", "a" * 201):
        answer = client.post("/api/memory", json={"content": "a"}, headers={"idempotency-key": key})
        refused(answer, "idempotency_key")
    both = client.post("/api/memory", json={"content": "a", "idempotencyKey": "1"}, headers={"idempotency-key": "2"})
    assert (both.status_code, both.json()["code"], both.json()["field"]) == (409, "unfitting", "idempotency_key")


@pytest.mark.parametrize("match", ['"x"', "3", 'W/"3"', '"1", "2"', '"' + "9" * 30 + '"'])
def test_if_match_is_one_version(client: TestClient, match: str) -> None:
    refused(client.put(f"/api/memory/{SOME_ID}", json={"title": "a"}, headers={"if-match": match}), "If-Match")


@pytest.mark.parametrize("header", ["mycel-as", "mycel-team"])
@pytest.mark.parametrize("value", ["", "../x", "a b", "a\x00b", "\xff"])
def test_a_header_names_a_member_or_a_team_or_nothing(client: TestClient, header: str, value: str) -> None:
    answer = client.get("/api/me", headers=[(header.encode(), value.encode("latin-1"))])
    refused(answer, header.removeprefix("mycel-").replace("as", "member"))


def test_bodies_are_counted_and_not_believed(client: TestClient) -> None:
    def chunks(size: int) -> Iterator[bytes]:
        for _ in range(size // 65_536 + 1):
            yield b" " * 65_536

    for content in (b" " * (MAX_BODY_BYTES + 1), b" " * (20 * 1024 * 1024), chunks(MAX_BODY_BYTES)):
        answer = client.post("/api/memory", content=content, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (TOO_LARGE, "too_large")
    capture = client.post("/api/capture/session", content=chunks(MAX_CAPTURE_BYTES), headers=JSON)
    assert (capture.status_code, capture.json()["code"]) == (TOO_LARGE, "too_large")


def test_as_much_as_may_be_is_read(client: TestClient) -> None:
    """All of a body of the greatest length: what is wrong with it is what it says."""
    body = b'{"content": 5, "title": "' + b"a" * (MAX_BODY_BYTES - 27) + b'"}'
    assert len(body) == MAX_BODY_BYTES
    refused(client.post("/api/memory", content=body, headers=JSON), "content")


def test_a_capture_may_be_longer(client: TestClient) -> None:
    text = "user: the staging deploy needs a warm cache\n" * 50_000
    assert len(text) > 2 * MAX_BODY_BYTES
    assert client.post("/api/capture/session", json={"messages": text}).status_code == HTTPStatus.ACCEPTED


def test_a_length_that_lies_or_is_none_is_harmless(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as workspace:
        token = workspace.issue_token("operator")
        with served(workspace) as url:
            address = url.removeprefix("http://")
            host, port = address.split(":")
            head = (
                f"POST /api/memory HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n"
                "Content-Type: application/json\r\n"
            )
            huge = b"%x\r\n" % (MAX_BODY_BYTES + 1) + b" " * (MAX_BODY_BYTES + 1) + b"\r\n0\r\n\r\n"
            for length, body, expected in (
                ("Content-Length: 99999999999", b"{}", b"413"),
                ("Content-Length: -1", b"{}", b"400"),
                ("Content-Length: 5\r\nContent-Length: 6", b"{}    ", b"400"),
                ("Transfer-Encoding: chunked", huge, b"413"),
                # The rest is taken for the next request, which is none, perhaps before the first is answered.
                ("Content-Length: 2", b'{}{"content": "more"}', b"422 400"),
            ):
                with socket.create_connection((host, int(port)), timeout=10) as connection:
                    connection.sendall(f"{head}{length}\r\n\r\n".encode() + body)
                    assert connection.recv(4096).split(b" ")[1] in expected.split()
            assert workspace.as_operator().stats().memories == 0


SYNTAX = [
    '"',
    "foo AND",
    "AND",
    "col:x",
    "a-b",
    "*",
    "^",
    "NEAR(a b)",
    "(",
    ")",
    "' OR 1=1",
    "título:x",
    "\\",
    "%",
    "_",
]


@pytest.mark.parametrize("syntax", SYNTAX)
def test_the_syntax_of_an_index_is_plain_words(client: TestClient, syntax: str) -> None:
    text = f"cranes {syntax} wings"
    saved = client.post("/api/memory", json={"content": text}).json()["id"]
    for answer in (
        client.get("/api/memory/search", params={"q": text}),
        client.post("/api/memory/search", json={"query": text}),
    ):
        assert answer.status_code == HTTPStatus.OK
        assert saved in [hit["item"]["id"] for hit in answer.json()["results"]]
    assert client.get("/api/memory/search", params={"q": syntax}).status_code == HTTPStatus.OK


def test_a_question_of_20_000_words_is_cut_short(client: TestClient) -> None:
    words = " ".join(f"word{number}" for number in range(20_000))
    started = time.process_time()
    answer = client.post("/api/memory/search", json={"query": words})
    assert answer.status_code == HTTPStatus.OK
    assert time.process_time() - started < 2
    refused(client.get("/api/memory/search", params={"q": words[:60_000]}), "q")


def test_both_names_of_a_question_are_one_too_many(client: TestClient) -> None:
    refused(client.get("/api/memory/search", params={"q": "a", "query": "b"}), "q")


@pytest.mark.parametrize("text", ["aGVsbG8", "????", "\u0084", "a b", 5])
def test_bytes_that_are_no_base64_are_refused(client: TestClient, text: object) -> None:
    body = {"path": "a.bin", "content": {"base64": text}}
    answer = client.post("/api/memory/artifacts", json=body)
    refused(answer, "content.base64" if isinstance(text, str) else "content")


def test_a_problem_repeats_nothing_of_the_text(client: TestClient) -> None:
    answer = client.post("/api/memory", content=b'{"content": "a secret \\u0000"}', headers=JSON)
    assert "secret" not in answer.text
    answer = client.post("/api/memory", content=b'{"content": "a secret"', headers=JSON)
    assert "secret" not in answer.text
    assert json.loads(answer.text)["detail"].startswith("body: is not valid JSON at line 1")
