"""Sessions over HTTP have a bound and an end: by their number, when nobody uses them, and with their token."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from tests.serving import served
from tests.surfaces.mcp.test_endpoint import ACCEPT, LISTING, OPENING
from tests.template import settings_of

pytestmark = pytest.mark.each_database(slow=True)

PATIENCE = 30.0
LISTENING: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "subscriptions/listen",
    "params": {
        "notifications": {"resourceSubscriptions": ["memory://recent"]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


class Door:
    def __init__(self, workspace: Workspace, url: str) -> None:
        self.workspace = workspace
        self.url = f"{url}/mcp"

    def post(self, secret: str, message: dict[str, Any], session: str | None = None) -> httpx2.Response:
        return httpx2.post(self.url, json=message, headers=self.headers(secret, session), timeout=PATIENCE)

    def headers(self, secret: str, session: str | None = None) -> dict[str, str]:
        given = {"accept": ACCEPT, "authorization": f"Bearer {secret}"}
        return given if session is None else {**given, "mcp-session-id": session}

    def open(self, secret: str) -> str:
        answer = self.post(secret, OPENING)
        assert answer.status_code == 200, answer.text
        return answer.headers["mcp-session-id"]

    def lives(self, secret: str, session: str) -> bool:
        return self.post(secret, LISTING, session).status_code == 200

    @contextmanager
    def reading(self, secret: str, session: str) -> Iterator[httpx2.Response]:
        headers = {**self.headers(secret, session), "accept": "text/event-stream"}
        with httpx2.stream("GET", self.url, headers=headers, timeout=PATIENCE) as stream:
            assert stream.status_code == 200
            yield stream

    @contextmanager
    def listening(self, secret: str) -> Iterator[httpx2.Response]:
        """Of the newer protocol, which has no sessions but an answer that goes on."""
        headers = {
            **self.headers(secret),
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "subscriptions/listen",
        }
        with httpx2.stream("POST", self.url, json=LISTENING, headers=headers, timeout=PATIENCE) as stream:
            assert stream.status_code == 200, stream.read()
            yield stream


@contextmanager
def opened(folder: Path, **limits: Any) -> Iterator[Door]:
    settings = settings_of(folder, **limits)
    with open_workspace(settings=settings) as workspace:
        for member in ("swe-1", "swe-2"):
            workspace.add_member(member, team="executive")
        with served(workspace, settings=settings) as url:
            yield Door(workspace, url)


# Where another node might know the session, a request of it is answered by itself.
@pytest.mark.files_only
def test_one_more_ends_the_one_that_was_idle_for_longest(tmp_path: Path) -> None:
    """By whatever tokens of a member; others keep theirs."""
    with opened(tmp_path, max_mcp_sessions_per_member=3) as door:
        other = door.workspace.issue_token("swe-2")
        theirs = door.open(other)
        secrets = [door.workspace.issue_token("swe-1") for _ in range(5)]
        sessions = [door.open(secret) for secret in secrets]
        assert list(map(door.lives, secrets, sessions)) == [False, False, True, True, True]
        assert door.lives(other, theirs)


def test_one_that_is_in_use_does_not_end_for_another(tmp_path: Path) -> None:
    with opened(tmp_path, max_mcp_sessions_per_member=2, max_mcp_sessions=3) as door, ExitStack() as stack:
        secret, other = door.workspace.issue_token("swe-1"), door.workspace.issue_token("swe-2")
        for _ in range(2):
            stack.enter_context(door.reading(secret, door.open(secret)))
        refused = door.post(secret, OPENING)
        assert (refused.status_code, refused.json()["code"]) == (429, "limit_exceeded")
        door.open(other)
        refused = door.post(other, OPENING)
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")


# Where another node might know the session, a request of it is answered by itself.
@pytest.mark.files_only
def test_one_that_nobody_uses_ends(tmp_path: Path) -> None:
    with opened(tmp_path, mcp_idle_seconds=0.5) as door:
        secret = door.workspace.issue_token("swe-1")
        session, read = door.open(secret), door.open(secret)
        with door.reading(secret, read):
            # To ask whether it lives is to use it.
            for _ in range(10):
                time.sleep(1.0)
                if not door.lives(secret, session):
                    break
            assert door.lives(secret, read)
        assert not door.lives(secret, session)


@pytest.mark.parametrize("way", ["reading", "listening"])
def test_whatever_is_open_ends_with_the_token_it_came_from(tmp_path: Path, way: str) -> None:
    with opened(tmp_path) as door:
        root = door.workspace.issue_token("swe-1")
        secret = door.workspace.sign_in(root).workspace.issue_token("swe-1")
        other = door.workspace.issue_token("swe-1")
        kept = door.open(other)
        stream = door.reading(secret, door.open(secret)) if way == "reading" else door.listening(secret)
        with stream as following:
            assert following.headers["content-type"].startswith("text/event-stream")
            door.workspace.revoke_token(root)
            for _ in following.iter_raw():
                pass
        assert door.lives(other, kept)
