"""`/mcp` as part of the service: who is let in, whose a session is, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import signal
import time
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
import pytest

from tests.service_process import Service, connected
from tests.surfaces.mcp.clients import OLDER, Served, run, save

pytestmark = pytest.mark.each_database

ACCEPT = "application/json, text/event-stream"
OPENING: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


def post(served: Served, message: dict[str, Any], **headers: str) -> httpx2.Response:
    given = {"accept": ACCEPT, "content-type": "application/json", **headers}
    return httpx2.post(f"{served.service.url}/mcp", json=message, headers=given, timeout=30)


def bearer(served: Served, who: str) -> str:
    return f"Bearer {served.tokens[who]}"


@pytest.mark.parametrize("token", [None, "Bearer nothing", "Basic eDp5"])
def test_nobody_without_a_token_is_let_in(served: Served, token: str | None) -> None:
    headers = {} if token is None else {"authorization": token}
    answer = post(served, OPENING, **headers)
    assert answer.status_code == HTTPStatus.UNAUTHORIZED
    assert "www-authenticate" in answer.headers


@pytest.mark.parametrize("header", [{"host": "evil.example"}, {"origin": "https://evil.example"}])
def test_pages_of_other_sites_are_refused(served: Served, header: dict[str, str]) -> None:
    answer = post(served, OPENING, authorization=bearer(served, "swe-1"), **header)
    assert answer.status_code in {HTTPStatus.MISDIRECTED_REQUEST, HTTPStatus.FORBIDDEN}


@pytest.mark.parametrize("name", ["memory-get", "  memory-get  ", "\tmemory-get \t"])
def test_blanks_around_the_value_of_a_header_are_no_part_of_it(served: Served, name: str) -> None:
    prefix, version = "io.modelcontextprotocol/", "2026-07-28"
    meta = {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}
    params = {"name": "memory-get", "arguments": {"id": str(uuid4())}, "_meta": meta}
    headers = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name, "accept": ACCEPT}
    headers |= {"authorization": bearer(served, "swe-1"), "content-type": "application/json"}
    line = http.client.HTTPConnection(urlsplit(served.service.url).netloc, timeout=30)
    with contextlib.closing(line):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        line.request("POST", "/mcp", json.dumps(message), headers)
        assert line.getresponse().status == HTTPStatus.OK


def test_a_session_is_its_makers_alone(served: Served, database: str) -> None:
    """To others it is like one that nobody has begun; among several nodes that may be one of another node."""
    opened = post(served, OPENING, authorization=bearer(served, "swe-1"))
    session = opened.headers["mcp-session-id"]
    own = post(served, LISTING, authorization=bearer(served, "swe-1"), **{"mcp-session-id": session})
    others = post(served, LISTING, authorization=bearer(served, "swe-2"), **{"mcp-session-id": session})
    unknown = post(served, LISTING, authorization=bearer(served, "swe-2"), **{"mcp-session-id": uuid4().hex})
    assert own.status_code == HTTPStatus.OK
    assert (others.status_code, others.text) == (unknown.status_code, unknown.text)
    assert others.status_code == (HTTPStatus.NOT_FOUND if database == "files" else HTTPStatus.OK)


def test_a_revoked_token_ends_a_session(served: Served) -> None:
    with connected(served.service) as workspace:
        secret = workspace.issue_token("swe-2")
        opened = post(served, OPENING, authorization=f"Bearer {secret}")
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        assert post(served, LISTING, authorization=f"Bearer {secret}", **session).status_code == HTTPStatus.OK
        workspace.revoke_token(secret)
    time.sleep(1.0)
    answer = post(served, LISTING, authorization=f"Bearer {secret}", **session)
    assert answer.status_code == HTTPStatus.UNAUTHORIZED


def test_unknown_tool_sets_and_too_long_bodies_are_refused(served: Served) -> None:
    headers = {"authorization": bearer(served, "swe-1"), "accept": ACCEPT, "content-type": "application/json"}
    answer = httpx2.post(f"{served.service.url}/mcp?tools=all", json=OPENING, headers=headers)
    assert (answer.status_code, answer.json()["field"]) == (HTTPStatus.UNPROCESSABLE_ENTITY, "tools")
    long = {**OPENING, "params": {**OPENING["params"], "more": "x" * 2_000_000}}
    assert post(served, long, authorization=bearer(served, "swe-1")).status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 1}'])
def test_what_is_no_message_is_a_bad_request(served: Served, body: bytes) -> None:
    headers = {"authorization": bearer(served, "swe-1"), "accept": ACCEPT, "content-type": "application/json"}
    answer = httpx2.post(f"{served.service.url}/mcp", content=body, headers=headers)
    assert HTTPStatus.BAD_REQUEST <= answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR, answer.text


def test_a_service_stops_though_clients_listen(tmp_path: Path) -> None:
    running = Service(tmp_path / "data")
    try:
        with connected(running) as workspace:
            workspace.add_team("builders")
            workspace.add_member("swe-1", team="builders")
            served = Served(running, {"swe-1": workspace.issue_token("swe-1")})

        async def work() -> None:
            async with served.http("swe-1", mode=OLDER) as older, served.http("swe-1") as client:
                await save(older, "Both are here.")
                async with client.listen(resource_subscriptions=["memory://recent"]):
                    running.process.send_signal(signal.SIGTERM)
                    await asyncio.to_thread(running.process.wait, 10)

        # Both connections end under the clients; how they complain about it is theirs.
        with contextlib.suppress(Exception):
            run(work)
        assert running.process.poll() == 0
    finally:
        running.kill()
