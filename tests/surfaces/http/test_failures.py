"""What went wrong in one request is that request's own: its connection lives on, and others are answered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.routing import Route

from mycel.embedded.workspace import Workspace
from mycel.settings import Settings
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.bounded_protocol import HttpToolsProtocol
from mycel.surfaces.http.calls import Call
from mycel.surfaces.http.threads import Threads
from mycel.wire.operations import OPERATIONS
from tests.serving import served

pytestmark = pytest.mark.each_database(slow=True)

PATIENCE = 30.0
NOBODY = "019a0000-0000-7000-8000-000000000000"
# They answer without a thread, or for as long as somebody listens.
WITHOUT_A_THREAD = frozenset({"/health/live", "/openapi.json", "/docs/api"})


@pytest.fixture
def connection(workspace: Workspace) -> Iterator[HTTPConnection]:
    with served(workspace, settings=Settings(requests_per_second=1e6)) as url:
        address = urlsplit(url)
        connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
        connection.connect()
        yield connection
        connection.close()


def routes(workspace: Workspace) -> list[tuple[str, str]]:
    app = create_app(workspace)
    found = {(operation.method, operation.path) for operation in OPERATIONS}
    for route in app.routes:
        if isinstance(route, Route):
            found |= {(method, route.path) for method in route.methods or () if method != "HEAD"}
    return sorted((method, re.sub(r"\{\w+(:\w+)?\}", NOBODY, path)) for method, path in found)


def test_a_connection_lives_on_after_a_500(
    workspace: Workspace, connection: HTTPConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer did not say that it would be closed: whoever sends the next request over it is answered."""
    headers = {"authorization": f"Bearer {workspace.issue_token('operator')}"}
    run: Callable[..., Any] = Threads.run

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault of the test")

    failed = 0
    socket = connection.sock
    for method, path in routes(workspace):
        monkeypatch.setattr(Threads, "run", fail)
        body = b"{}" if method in {"POST", "PUT"} else None
        connection.request(method, path, body=body, headers={**headers, "content-type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        failed += answer.status == 500
        monkeypatch.setattr(Threads, "run", run)
        if answer.getheader("connection") == "close":
            # It said so; nobody's next request is lost.
            assert answer.status != 500, path
            connection.close()
            connection.connect()
            socket = connection.sock
        connection.request("GET", "/health", headers=headers)
        after = connection.getresponse()
        assert (after.status, json.loads(after.read())["status"], path) == (200, "ok", path)
        assert connection.sock is socket, path
    assert failed > 120


def test_requests_that_came_after_one_that_fails_are_answered(
    workspace: Workspace, connection: HTTPConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = workspace.issue_token("operator")
    answer = Call.answer

    def fail(call: Call, visit: Any) -> Any:
        if call.operation.name == "stats":
            raise RuntimeError("a fault of the test")
        return answer(call, visit)

    monkeypatch.setattr(Call, "answer", fail)
    paths = ["/api/stats", "/api/memory", "/api/stats", "/api/memory"]
    asked = [f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {secret}\r\n\r\n" for path in paths]
    asked[-1] = asked[-1].replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n")
    connection.sock.sendall("".join(asked).encode())
    came = b""
    while part := connection.sock.recv(65536):
        came += part
    assert re.findall(rb"HTTP/1.1 (\d+)", came) == [b"500", b"200", b"500", b"200"]


@pytest.mark.parametrize("where", ["work", "body"])
def test_a_service_without_room_in_memory_says_so(
    workspace: Workspace, connection: HTTPConnection, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """As under a limit of address space: nothing was wrong with the request, and later there may be room."""
    headers = {"authorization": f"Bearer {workspace.issue_token('operator')}", "content-type": "application/json"}
    body = json.dumps({"messages": "user: We decided to use port 8080."})

    def full(*_: Any) -> Any:
        raise MemoryError

    if where == "work":
        monkeypatch.setattr(Call, "answer", full)
    else:
        monkeypatch.setattr(HttpToolsProtocol, "on_body", full)
    connection.request("POST", "/api/capture/conversation", body=body, headers=headers)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    assert (answer.status, told["code"], answer.getheader("retry-after") is not None) == (503, "unavailable", True)
    monkeypatch.undo()
    connection.close()
    connection.connect()
    connection.request("POST", "/api/capture/conversation", body=body, headers=headers)
    assert connection.getresponse().status == 202
