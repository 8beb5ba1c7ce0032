"""What holds for every route of the service, whatever it is for."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator

import pytest
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from mycel.embedded.workspace import Workspace
from mycel.errors import Unavailable
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.described_route import PageRoute
from mycel.surfaces.http.threads import Threads
from mycel.wire.operations import OPERATIONS
from tests.asking import ADDRESS, UNKNOWN, asking, bearer
from tests.conformance.tenancy_routes import PUBLIC

pytestmark = pytest.mark.each_database(slow=True)


NOBODY = "019a0000-0000-7000-8000-000000000000"


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with asking(workspace) as client:
        yield client


def routes(client: TestClient) -> list[tuple[str, str]]:
    """Method and path of each; parts of a path that vary are ids of nothing."""
    found = [(operation.method, operation.path) for operation in OPERATIONS]
    for route in client.app.routes:  # type: ignore[attr-defined]
        # Pages ask people to sign in instead, and have a walk of their own.
        if isinstance(route, Route) and not isinstance(route, PageRoute):
            found += [(method, route.path) for method in route.methods or ()]
    return [(method, re.sub(r"\{\w+\}", NOBODY, path)) for method, path in found]


def test_every_route_but_the_public_ones_wants_a_token(client: TestClient) -> None:
    asked = [(method, path) for method, path in routes(client) if path not in PUBLIC]
    assert len(asked) > 110
    for headers in ({}, bearer(UNKNOWN), {"cookie": f"mycel_token={UNKNOWN}", "origin": ADDRESS}):
        answers = {(method, path): client.request(method, path, headers=headers) for method, path in asked}
        assert {one: answer.status_code for one, answer in answers.items()} == dict.fromkeys(asked, 401)
        # HEAD has no body.
        bodies = {answer.text for (method, _), answer in answers.items() if method != "HEAD"}
        assert len(bodies) == 1


def test_every_live_route_wants_a_token(client: TestClient) -> None:
    for route in client.app.routes:  # type: ignore[attr-defined]
        if isinstance(route, WebSocketRoute):
            with pytest.raises(WebSocketDisconnect), client.websocket_connect(route.path) as live:
                live.receive()


@pytest.mark.parametrize("path", sorted(PUBLIC))
def test_public_routes_answer_everybody_alike(workspace: Workspace, client: TestClient, path: str) -> None:
    secret = bearer(workspace.issue_token("operator"))
    known, unknown = (client.get(path, headers=headers) for headers in (secret, {}))
    assert (known.status_code, known.text) == (unknown.status_code, unknown.text)


BAD_HOSTS = ["evil.example", "0.0.0.0", "127.0.0.1.evil.example", "10.0.0.1:7077", "localhost.", "[::]"]
BAD_ORIGINS = [
    "http://evil.example",
    "null",
    "http://127.0.0.1:8000",
    "https://localhost",
    "file://",
    "http://127.0.0.1",
]


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", "::", None])
def test_every_route_wants_a_host_and_an_origin_of_ours_wherever_it_listens(
    workspace: Workspace, bound: str | None
) -> None:
    headers = bearer(workspace.issue_token("operator"))
    with asking(workspace, host=bound) as client:
        asked = routes(client)
        for number, (method, path) in enumerate([*asked, ("GET", "/nowhere"), ("GET", "/api/nowhere")]):
            host = BAD_HOSTS[number % len(BAD_HOSTS)]
            origin = BAD_ORIGINS[number % len(BAD_ORIGINS)]
            misled = client.request(method, path, headers={**headers, "host": host})
            foreign = client.request(method, path, headers={**headers, "origin": origin})
            assert (method, path, misled.status_code, foreign.status_code) == (method, path, 421, 403)


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize(
    "headers", [*({"host": host} for host in BAD_HOSTS), *({"origin": origin} for origin in BAD_ORIGINS)]
)
def test_live_routes_want_a_host_and_an_origin_of_ours_too(
    workspace: Workspace, bound: str, headers: dict[str, str]
) -> None:
    client = TestClient(create_app(workspace, host=bound), base_url=ADDRESS)
    secret = bearer(workspace.issue_token("operator"))
    for path in ("/health", "/nowhere", *(route.path for route in client.app.routes)):  # type: ignore[attr-defined]
        with (
            pytest.raises(WebSocketDisconnect) as closed,
            client.websocket_connect(path, headers={**secret, **headers}),
        ):
            pass
        assert closed.value.code == 1008


def test_names_and_origins_of_the_settings_are_answered(workspace: Workspace) -> None:
    options = {"host": "0.0.0.0", "allowed_hosts": ("memory.example",), "allowed_origins": ("https://ui.example",)}
    with asking(workspace, **options) as client:
        assert client.get("/health", headers={"host": "memory.example:7077"}).status_code == 200
        assert client.get("/health", headers={"origin": "https://ui.example"}).status_code == 200
        assert client.get("/health", headers={"origin": "http://ui.example"}).status_code == 403
        assert client.get("/health", headers={"host": "0.0.0.0:7077"}).status_code == 421
        # Whatever stands before it to speak TLS.
        assert client.get("/health", headers={"host": "memory.example", "origin": "https://memory.example"}).is_success


def test_more_work_than_can_be_done_is_refused_at_once(workspace: Workspace) -> None:
    """One thread and one place to wait: the third request is told to come again."""
    going_on, release = threading.Event(), threading.Event()

    def work() -> str:
        going_on.set()
        release.wait(10)
        return "done"

    async def crowd() -> list[object]:
        threads = Threads(readers=1, writers=1, most_waiting=0)
        first = asyncio.create_task(threads.run(work))
        await asyncio.to_thread(going_on.wait, 10)
        second = asyncio.create_task(threads.run(lambda: "second"))
        await asyncio.sleep(0)
        try:
            with pytest.raises(Unavailable):
                await threads.run(lambda: "third")
        finally:
            release.set()
        return [await first, await second, await threads.run(lambda: "later"), threads.under_way]

    assert asyncio.run(crowd()) == ["done", "second", "later", 0]


def test_an_overloaded_service_says_when_to_come_again(
    workspace: Workspace, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer(workspace.issue_token("operator"))
    assert client.get("/api/memory", headers=headers).status_code == 200
    monkeypatch.setattr(client.app.state.service.threads, "_most", 0)  # type: ignore[attr-defined]
    for path in ("/api/memory", "/api/memory/changes"):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert answer.headers["retry-after"] == "1"
        assert answer.headers["content-type"] == "application/problem+json"
    # Whether it lives needs no thread.
    assert client.get("/health/live").status_code == 200
