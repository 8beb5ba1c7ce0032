"""What the service logs of requests and failures, and above all what it does not."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from mycel.errors import NotFound
from mycel.surfaces.http.log import RequestLog, begin_logs, log_event

SECRET = "the-vault-opens-with-1234"


class Written(io.StringIO):
    """All that was logged before one looks."""

    def getvalue(self) -> str:
        for handler in logging.getLogger().handlers:
            handler.flush()
        return super().getvalue()


class Terminal(Written):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """As they were, whatever a test makes of them."""
    names = [None, "mycel", "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"]
    levels = {name: logging.getLogger(name).level for name in names}
    handlers = logging.getLogger().handlers
    hooks = threading.excepthook, sys.excepthook
    yield
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    for handler in set(logging.getLogger().handlers) - set(handlers):
        handler.close()
    logging.getLogger().handlers = handlers
    threading.excepthook, sys.excepthook = hooks
    logging.captureWarnings(False)


def begun(level: str = "info") -> io.StringIO:
    stream = Written()
    begin_logs(level, stream=stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


async def memory(request: Request) -> PlainTextResponse:
    request.state.route = "/api/memories/{id}"
    request.state.member, request.state.team = "swe-1", "engineering"
    return PlainTextResponse(f"for {request.state.request_id}")


async def health(request: Request) -> PlainTextResponse:
    request.state.route = "/health"
    return PlainTextResponse("ok")


async def broken(request: Request) -> PlainTextResponse:
    request.state.route = "/broken"
    raise ValueError(SECRET)


async def socket(websocket: WebSocket) -> None:
    websocket.state.route = "/ws"
    if "refuse" in websocket.query_params:
        await websocket.close()
        return
    await websocket.accept()
    await websocket.send_text("hello")
    await websocket.close()


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/api/memories/{id}", memory), Route("/health", health), Route("/broken", broken)]
    app = Starlette(routes=[*routes, WebSocketRoute("/ws", socket)])
    return TestClient(RequestLog(app), raise_server_exceptions=False)


def test_a_request_is_one_line_of_what_was_asked_by_whom(client: TestClient) -> None:
    stream = begun()
    client.get("/api/memories/0199", params={"q": SECRET}, headers={"Authorization": f"Bearer {SECRET}"})
    [line] = lines(stream)
    assert line.pop("ms") >= 0
    assert line.pop("time").endswith("Z")
    assert len(line.pop("request_id")) == 16
    assert line == {
        "level": "info",
        "event": "request",
        "method": "GET",
        "route": "/api/memories/{id}",
        "status": 200,
        "member": "swe-1",
        "team": "engineering",
    }
    assert "0199" not in stream.getvalue()
    assert SECRET not in stream.getvalue()


def test_a_path_that_no_route_has_is_not_told(client: TestClient) -> None:
    stream = begun()
    assert client.get(f"/{SECRET}").status_code == 404
    [line] = lines(stream)
    assert (line["route"], line["status"]) == (None, 404)
    assert SECRET not in stream.getvalue()


def test_who_watches_the_service_fills_no_log(client: TestClient) -> None:
    stream = begun()
    client.get("/health")
    assert lines(stream) == []
    stream = begun("debug")
    client.get("/health")
    assert [(line["level"], line["route"]) for line in lines(stream)] == [("debug", "/health")]


@pytest.mark.parametrize("given", ["a", "A.b_c-9", "x" * 64])
def test_the_id_of_a_request_is_kept_and_handed_back(client: TestClient, given: str) -> None:
    stream = begun()
    answer = client.get("/api/memories/1", headers={"X-Request-Id": given})
    assert (answer.headers.get_list("x-request-id"), answer.text) == ([given], f"for {given}")
    assert lines(stream)[0]["request_id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", 'a"b', "a\\b", "ä", "a,b"])
def test_an_id_that_is_none_is_replaced(client: TestClient, given: str) -> None:
    answer = client.get("/api/memories/1", headers=[(b"X-Request-Id", given.encode())])
    [id] = answer.headers.get_list("x-request-id")
    assert id != given
    assert answer.text == f"for {id}"


def test_of_two_ids_neither_is_kept(client: TestClient) -> None:
    answer = client.get("/api/memories/1", headers=[("X-Request-Id", "a"), ("X-Request-Id", "b")])
    assert answer.headers.get_list("x-request-id")[0] not in {"a", "b"}


def test_a_failure_is_an_error_without_its_text(client: TestClient) -> None:
    stream = begun()
    assert client.get("/broken").status_code == 500
    [line] = lines(stream)
    assert (line["level"], line["route"], line["status"]) == ("error", "/broken", 500)


def test_sockets_are_logged_when_they_end(client: TestClient) -> None:
    stream = begun()
    with client.websocket_connect("/ws", headers={"X-Request-Id": "mine"}) as websocket:
        assert websocket.receive_text() == "hello"
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws?refuse"):
        pass
    assert [(line["method"], line["route"], line["status"]) for line in lines(stream)] == [
        ("WEBSOCKET", "/ws", 101),
        ("WEBSOCKET", "/ws", 403),
    ]
    assert lines(stream)[0]["request_id"] == "mine"


def test_a_person_at_a_terminal_reads_short_lines(client: TestClient) -> None:
    stream = Terminal()
    begin_logs("info", stream=stream)
    client.get("/api/memories/1")
    log_event("listening", "Mycel listens", url="http://127.0.0.1:1")
    logging.getLogger("mycel.engine").warning("team \x1b[31m: %s", "later")
    first, second, third = (line.partition(" ")[2] for line in stream.getvalue().splitlines())
    assert first.startswith("GET /api/memories/{id} 200 ")
    assert first.endswith(" ms swe-1 engineering")
    assert second == "Mycel listens"
    assert third == "warning: team \\x1b[31m: later"


def test_errors_are_told_by_their_kind_and_way(client: TestClient) -> None:
    stream = begun()
    try:
        raise ExceptionGroup(SECRET, [ValueError(SECRET)])
    except ExceptionGroup:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    [line] = lines(stream)
    assert (line["event"], line["message"], line["error"]) == (
        "uvicorn.error",
        "Exception in ASGI application",
        "ValueError",
    )
    assert SECRET not in stream.getvalue()


def test_the_way_of_an_error_names_modules_and_lines_alone() -> None:
    stream = begun()
    try:
        json.loads(f"{SECRET}{{")
    except ValueError:
        logging.getLogger("mycel.engine").exception("it failed")
    [line] = lines(stream)
    assert line["error"] == "JSONDecodeError"
    assert line["trace"][-1].startswith("json.decoder:")
    assert line["trace"][-1].endswith(" raw_decode")
    assert SECRET not in stream.getvalue()


def test_our_own_errors_keep_their_text() -> None:
    stream = begun()
    try:
        raise NotFound("no such token")
    except NotFound:
        logging.getLogger("mycel.http").exception("it failed")
    assert lines(stream)[0]["error"] == "not_found: no such token"


def test_of_what_others_log_only_the_first_line_of_warnings_is_kept() -> None:
    stream = begun("debug")
    for name in ("uvicorn.error", "websockets.server", "openai", "httpx2"):
        logging.getLogger(name).info("GET /?q=%s", SECRET)
        logging.getLogger(name).debug("> TEXT %s", SECRET)
    logging.getLogger("uvicorn.access").info("GET /?q=%s", SECRET)
    logging.getLogger("asyncio").error("Task exception was never retrieved\nfuture: %r", ValueError(SECRET))
    assert [line["message"] for line in lines(stream)] == ["Task exception was never retrieved"]


def test_a_task_that_nobody_awaited_keeps_its_text_to_itself() -> None:
    stream = begun()

    async def fail() -> None:
        raise ValueError(SECRET)

    async def main() -> None:
        task = asyncio.get_running_loop().create_task(fail())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task

    asyncio.run(main())
    assert [line["error"] for line in lines(stream)] == ["ValueError"]
    assert SECRET not in stream.getvalue()


def test_a_thread_that_fails_is_logged_without_its_text() -> None:
    stream = begun()

    def fail() -> None:
        raise ValueError(SECRET)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    [line] = lines(stream)
    assert (line["level"], line["event"], line["error"]) == ("critical", "failure", "ValueError")
    assert SECRET not in stream.getvalue()


def test_warnings_are_lines_too() -> None:
    stream = begun()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    [line] = lines(stream)
    assert line["event"] == "py.warnings"


@pytest.mark.parametrize(("level", "kept"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_the_level_says_what_is_kept(level: str, kept: int) -> None:
    stream = begun(level)
    logger = logging.getLogger("mycel.engine")
    for log in (logger.debug, logger.info, logger.warning, logger.error):
        log("it happened")
    assert len(lines(stream)) == kept
