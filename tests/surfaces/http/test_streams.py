"""Live changes over HTTP: what readers are told, how they come back, and how it ends."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from mycel.app import open_workspace
from mycel.client.workspace import RemoteWorkspace
from mycel.domain.change import Change
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.credentials import COOKIE
from mycel.surfaces.http.feeds import StreamLimits
from mycel.wire.events import Event, EventReader
from mycel.wire.reading import read_text
from tests.service_process import service
from tests.serving import served

pytestmark = pytest.mark.each_database(slow=True)


PATH = "/api/memory/changes"
PATIENCE = 20.0


class Squad:
    """A team of two, and how one of them reaches the service."""

    def __init__(self, workspace: Workspace) -> None:
        workspace.add_team("squad")
        workspace.add_team("other")
        for id in ("swe-1", "swe-2"):
            workspace.add_member(id, team="squad")
        self.workspace = workspace
        self.author = workspace.as_member("swe-1")
        self.reader = workspace.as_member("swe-2")
        self.token = workspace.issue_token("swe-2")

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}


@pytest.fixture
def squad(workspace: Workspace) -> Squad:
    return Squad(workspace)


@pytest.fixture
def url(squad: Squad) -> Iterator[str]:
    with served(squad.workspace) as address:
        yield address


Next = Callable[[], Event]


@contextmanager
def stream(url: str, headers: dict[str, str], **query: Any) -> Iterator[Next]:
    """Events one by one, after the first, which says where it begins. Comments are events without a name."""
    sent = {"accept": "text/event-stream", **headers}
    with httpx2.stream("GET", url + PATH, params=query, headers=sent, timeout=PATIENCE) as came:
        assert came.status_code == 200, came.read()
        assert came.headers["content-type"] == "text/event-stream"
        assert came.headers["cache-control"] == "no-store"
        assert came.headers["x-accel-buffering"] == "no"
        events = parsed(came.iter_raw())
        assert next(events).name == "cursor"
        yield lambda: next(events)


def parsed(parts: Iterator[bytes]) -> Iterator[Event]:
    reader = EventReader()
    for part in parts:
        if part.startswith(b":"):
            yield Event(None, "", part)
        yield from reader.read(part)


@contextmanager
def frames(url: str, headers: dict[str, str], **query: Any) -> Iterator[Next]:
    """The same over a WebSocket."""
    with connected(url, headers, **query) as socket:

        def next_frame() -> Event:
            found = json.loads(socket.recv(PATIENCE))
            return Event(found.get("id"), found["event"], json.dumps(found["data"]).encode())

        assert next_frame().name == "cursor"
        yield next_frame


def connected(url: str, headers: dict[str, str], **query: Any) -> ClientConnection:
    return connect(
        str(httpx2.URL(url.replace("http", "ws", 1) + PATH, params=query)), additional_headers=headers, proxy=None
    )


BOTH = pytest.mark.parametrize("open_live", [stream, frames])


def told(following: Next, count: int) -> list[Change]:
    found: list[Change] = []
    while len(found) < count:
        event = following()
        if event.name == "change":
            found.append(read_text(Change, event.data))
            assert event.id == found[-1].sequence
    return found


def ended(following: Next) -> dict[str, Any]:
    while (event := following()).name != "end":
        pass
    return json.loads(event.data)


@BOTH
def test_it_tells_in_order_what_a_plain_reading_gives(squad: Squad, url: str, open_live: Any) -> None:
    first = squad.author.save("a", path="/a")
    squad.author.save("b", visibility="private")
    with open_live(url, squad.headers, after=0) as following:
        squad.author.update(first.id, path="/b")
        squad.author.save("c", type="lesson", project="web")
        squad.author.link(first.id, "project:web", "applies_to")
        squad.author.delete(first.id)
        squad.author.restore(first.id)
        for place in range(250):
            squad.author.save(f"note {place}")
        expected = list(squad.reader.changes())
        assert len(expected) == 256
        assert told(following, len(expected)) == expected


@BOTH
def test_what_stops_being_readable_is_removed_and_not_told_of_again(squad: Squad, url: str, open_live: Any) -> None:
    with open_live(url, squad.headers, after=0) as following:
        memory = squad.author.save("a")
        assert [change.operation for change in told(following, 1)] == ["create"]
        squad.author.update(memory.id, visibility="private")
        squad.author.update(memory.id, content="a secret")
        squad.author.save("b")
        assert [(change.sequence, change.operation) for change in told(following, 2)] == [(2, "remove"), (4, "create")]


@BOTH
def test_filters_choose_what_is_told(squad: Squad, url: str, open_live: Any) -> None:
    with (
        open_live(url, squad.headers, after=0, path="/a", project="web", type=["fact", "lesson"]) as following,
        open_live(url, squad.headers, path="/last") as last,
    ):
        memory = squad.author.save("a", path="/a/b", project="web")
        squad.author.save("b", path="/a/b")
        squad.author.save("c", path="/a/b", project="web", type="decision")
        squad.author.update(memory.id, type="lesson")
        squad.author.update(memory.id, type="note")
        found = told(following, 3)
        assert [(one.sequence, one.operation) for one in found] == [(1, "create"), (4, "update"), (5, "remove")]
        assert found == list(squad.reader.changes(path="/a", project="web", type=["fact", "lesson"]))
        final = squad.author.save("d", path="/last")
        assert [change.memory_id for change in told(last, 1)] == [final.id]


@BOTH
def test_it_goes_on_from_any_cursor(squad: Squad, url: str, open_live: Any) -> None:
    for text in "abcdef":
        squad.author.save(text)
    for after in range(6):
        headers = {**squad.headers, "last-event-id": str(after)}
        # The header wins: a browser that comes back asks for the address it began with.
        with open_live(url, headers, after=3) as following:
            assert [change.sequence for change in told(following, 6 - after)] == list(range(after + 1, 7))
    with open_live(url, squad.headers, after=4) as following:
        assert [change.sequence for change in told(following, 2)] == [5, 6]


@BOTH
@pytest.mark.parametrize("query", [{}, {"after": "now"}])
def test_without_a_cursor_it_begins_now(squad: Squad, url: str, open_live: Any, query: dict[str, str]) -> None:
    squad.author.save("before")
    with open_live(url, squad.headers, **query) as following:
        later = squad.author.save("later")
        assert [change.memory_id for change in told(following, 1)] == [later.id]


def test_the_spelling_of_the_request_is_free_and_an_array_is_still_there(squad: Squad, url: str) -> None:
    squad.author.save("a")
    ask = {"headers": squad.headers, "timeout": PATIENCE}
    with httpx2.stream("GET", f"{url}{PATH}?follow=true", **ask) as came:
        assert came.headers["content-type"] == "text/event-stream"
    for query, count in (("", 1), ("?after=now", 0), ("?follow=false", 1), ("?after=1", 0)):
        answer = httpx2.get(url + PATH + query, **ask)
        assert (answer.status_code, len(answer.json())) == (200, count)
    assert httpx2.head(f"{url}{PATH}?follow=true", **ask).status_code == 200


def test_a_quiet_stream_shows_signs_of_life_and_how_far_it_has_looked(squad: Squad) -> None:
    with (
        served(squad.workspace, stream_limits=StreamLimits(heartbeat_seconds=0.2)) as url,
        stream(url, squad.headers, path="/nowhere") as following,
    ):
        assert (following().name, following().name) == ("", "")
        squad.author.save("not for this filter")
        while (event := following()).name == "":
            pass
        assert (event.name, event.id) == ("cursor", 1)
        assert following().name == ""


def test_much_that_passed_unseen_is_not_looked_at_again(squad: Squad, url: str) -> None:
    for _ in range(2):
        squad.author.save_many([{"content": f"note {place}"} for place in range(600)])
    began = time.monotonic()
    with stream(url, squad.headers, path="/nowhere", after=0) as following:
        event = following()
        assert (event.name, event.id) == ("cursor", 1200)
    assert time.monotonic() - began < StreamLimits().heartbeat_seconds


@BOTH
@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (lambda squad: squad.workspace.revoke_token(squad.token), "unauthenticated"),
        (lambda squad: squad.workspace.remove_member("swe-2"), "unauthenticated"),
        (lambda squad: squad.workspace.update_member("swe-2", team="other"), "not_found"),
    ],
    ids=["revoked", "removed", "moved"],
)
def test_whoever_may_no_longer_read_is_told_so_before_the_next_heartbeat(
    squad: Squad, url: str, open_live: Any, ending: Callable[[Squad], None], code: str
) -> None:
    with open_live(url, squad.headers) as following:
        ending(squad)
        began = time.monotonic()
        # Nothing is written meanwhile that would have it ask.
        assert ended(following)["code"] == code
        assert time.monotonic() - began < StreamLimits().heartbeat_seconds


@BOTH
def test_a_revoked_token_is_told_nothing_that_happens_a_second_later(
    squad: Squad, url: str, tmp_path: Path, open_live: Any
) -> None:
    """Nor is one that was issued with it."""
    written: dict[str, float] = {}
    child = squad.workspace.sign_in(squad.token).workspace.issue_token("swe-2")
    with open_live(url, {"authorization": f"Bearer {child}"}) as following, open_workspace(tmp_path) as elsewhere:
        squad.author.save("before")
        assert len(told(following, 1)) == 1
        elsewhere.revoke_token(squad.token)
        revoked = time.monotonic()
        # It is never quiet, so that there is always something at hand.
        while (moment := time.monotonic()) < revoked + 1.5:
            written[squad.author.save("note").id] = moment
            time.sleep(0.01)
        heard: list[Event] = []
        while not heard or heard[-1].name != "end":
            heard.append(following())
    late = [read_text(Change, event.data) for event in heard if event.name == "change"]
    assert [one for one in late if written[one.memory_id] > revoked + 1.0] == []
    assert json.loads(heard[-1].data)["code"] == "unauthenticated"


def test_a_socket_says_why_it_is_closed(squad: Squad, url: str) -> None:
    with connected(url, squad.headers) as socket:
        for rubbish in ("{}", b"\0\xff", "x" * 10_000):
            socket.send(rubbish)
        squad.author.save("heard all the same")
        assert [json.loads(socket.recv(PATIENCE))["event"] for _ in range(2)] == ["cursor", "change"]
        squad.workspace.revoke_token(squad.token)
        assert json.loads(socket.recv(PATIENCE))["event"] == "end"
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


@pytest.mark.parametrize(
    ("headers", "query", "status", "code"),
    [
        ({"authorization": "Bearer wrong"}, {}, 401, "unauthenticated"),
        ({"authorization": ""}, {}, 401, "unauthenticated"),
        ({}, {"team": "executive"}, 404, "not_found"),
        ({}, {"path": "notes"}, 422, "invalid_input"),
        ({}, {"type": "song"}, 422, "invalid_input"),
        ({}, {"after": "-1"}, 422, "invalid_input"),
        ({}, {"after": "later"}, 422, "invalid_input"),
        ({}, {"elsewhere": "x"}, 422, "invalid_input"),
        ({"last-event-id": "x"}, {}, 422, "invalid_input"),
        ({"last-event-id": "-1"}, {}, 422, "invalid_input"),
        ({"last-event-id": "9" * 20}, {}, 422, "invalid_input"),
        ({"origin": "http://evil.example"}, {}, 403, "unknown_origin"),
        ({"host": "evil.example"}, {}, 421, "unknown_host"),
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_before_it_begins(
    squad: Squad, url: str, headers: dict[str, str], query: dict[str, str], status: int, code: str
) -> None:
    sent = {**squad.headers, "accept": "text/event-stream", **headers}
    answer = httpx2.get(url + PATH, params=query, headers=sent)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    if "host" in headers:
        return
    with pytest.raises(InvalidStatus) as refused, connected(url, {**squad.headers, **headers}, **query):
        pass
    response = refused.value.response
    # A page of another site learns no more than that.
    if status == 403:
        assert response.status_code == 403
    else:
        assert (response.status_code, json.loads(response.body or b"{}")["code"]) == (status, code)


@BOTH
def test_a_browser_needs_no_header_but_its_cookie(squad: Squad, url: str, open_live: Any) -> None:
    with open_live(url, {"cookie": f"{COOKIE}={squad.token}", "origin": url}) as following:
        saved = squad.author.save("a")
        assert [change.memory_id for change in told(following, 1)] == [saved.id]


def test_streams_have_a_limit_for_each_member_and_for_all(squad: Squad) -> None:
    again = {"authorization": f"Bearer {squad.workspace.issue_token('swe-2')}"}
    squad.workspace.add_member("swe-7", team="executive")
    other = {"authorization": f"Bearer {squad.workspace.issue_token('operator')}"}
    third = {"authorization": f"Bearer {squad.workspace.issue_token('swe-7')}"}
    sent = {"accept": "text/event-stream"}
    with served(squad.workspace, stream_limits=StreamLimits(per_member=2, in_total=3)) as url:
        with stream(url, squad.headers), frames(url, squad.headers):
            for own in (squad.headers, again):
                refused = httpx2.get(url + PATH, headers={**own, **sent})
                assert (refused.status_code, refused.json()["code"]) == (429, "limit_exceeded")
            with stream(url, other):
                refused = httpx2.get(url + PATH, headers={**third, **sent})
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        # Those that have gone make room.
        with retried(url, third), retried(url, squad.headers), retried(url, squad.headers):
            pass
        wrong = httpx2.get(url + PATH, params={"team": "executive"}, headers={**squad.headers, **sent})
        assert wrong.status_code == 404
        with retried(url, third), retried(url, squad.headers), retried(url, squad.headers):
            pass


@contextmanager
def retried(url: str, headers: dict[str, str]) -> Iterator[None]:
    """That somebody has left is noticed a moment later."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with stream(url, headers):
                yield
                return
        except AssertionError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_a_slow_reader_does_not_slow_anybody_and_is_cut_off(tmp_path: Path) -> None:
    """In a service of its own, which has its connections at hand."""
    impatient = (
        "from mycel.surfaces.http import feeds;"
        "feeds.StreamLimits.__init__.__kwdefaults__['patience_seconds'] = 2.0;"
        "from mycel.surfaces.cli.main import main; main()"
    )
    data = tmp_path / "data"
    command = (sys.executable, "-c", impatient, "--data", str(data), "serve", "--json", "--port", "0")
    with service(data, command=command) as one:
        operator = RemoteWorkspace(one.url, token=(data / "operator.token").read_text().strip())
        operator.add_team("squad")
        operator.add_member("swe-1", team="squad")
        author = operator.as_member("swe-1")
        token = operator.issue_token("swe-1")
        reader = author.changes(after=None, follow=True)
        slow = connect_raw(one.url, token)
        try:
            took = time.monotonic()
            # More than sockets hold for a reader that takes nothing.
            for _ in range(20):
                author.save_many([{"content": f"note {place}", "path": "/" + "long" * 100} for place in range(500)])
                assert len(list(islice(reader, 500))) == 500
            took = time.monotonic() - took
            assert took < PATIENCE * 2
            deadline = time.monotonic() + PATIENCE
            while (requests := [event for event in one.events() if event.get("route") == PATH]) == []:
                assert time.monotonic() < deadline, "the slow reader is still there"
                time.sleep(0.05)
            assert [event["status"] for event in requests] == [200]
            assert "error" not in {event["level"] for event in one.events()}
        finally:
            slow.close()
            reader.close()  # pyright: ignore[reportAttributeAccessIssue]
            operator.close()


def connect_raw(url: str, token: str) -> socket.socket:
    """A reader that asks for everything and then reads nothing."""
    parts = httpx2.URL(url)
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    found.connect((parts.host, parts.port))
    found.sendall(
        f"GET {PATH}?after=0&follow=true HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n".encode()
    )
    return found


def test_stopping_the_service_ends_every_stream_soon_and_cleanly(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with service(data) as running:
        headers = {"authorization": f"Bearer {(data / 'operator.token').read_text().strip()}"}
        with stream(running.url, headers) as following, connected(running.url, headers) as socket:
            assert json.loads(socket.recv(PATIENCE))["event"] == "cursor"
            assert running.stop() == 0
            assert ended(following)["code"] == "unavailable"
            assert json.loads(socket.recv(PATIENCE))["event"] == "end"
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
        assert "error" not in {event["level"] for event in running.events()}
