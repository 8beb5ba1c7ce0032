"""What anybody who reaches the port can do without a token has a bound: how it is exceeded, and what comes of it.

While each of them is exceeded the service answers everybody else, and its memory stays flat.
"""

from __future__ import annotations

import http.client
import json
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.connections import LOOK_SECONDS
from tests.serving import served
from tests.template import settings_of

pytestmark = pytest.mark.each_database(slow=True)


MIB = 1024 * 1024
SMALL = {
    "max_header_bytes": 16 * 1024,
    "header_seconds": 0.5,
    "stall_seconds": 1.0,
    "max_connections": 60,
    "max_connections_per_address": 50,
    "max_discarded_bytes": 64 * MIB,
}
PATIENCE = 30.0
# On a machine that runs other tests as well.
QUICK_SECONDS = 2.0
MOST_GROWTH_BYTES = 48 * MIB


@dataclass
class Door:
    workspace: Workspace
    url: str
    token: str

    def connected(self) -> socket.socket:
        parts = urlsplit(self.url)
        line = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE)
        line.settimeout(PATIENCE)
        return line

    @property
    def host(self) -> bytes:
        return urlsplit(self.url).netloc.encode()

    def head(self, method: str, path: str, *lines: bytes) -> bytes:
        return b"\r\n".join((f"{method} {path} HTTP/1.1".encode(), b"host: " + self.host, *lines))


@pytest.fixture(scope="module")
def door(kept_for_the_module: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    folder = tmp_path_factory.mktemp("bounds")
    settings = settings_of(folder, **SMALL)
    with open_workspace(settings=settings) as workspace, served(workspace, settings=settings) as url:
        yield Door(workspace, url, workspace.issue_token("operator"))


@contextmanager
def others_go_on(door: Door) -> Iterator[None]:
    """Somebody asks all the while; the memory of this process, which is the service's too, hardly grows."""
    slow: list[float] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            began = time.monotonic()
            with suppress(ConnectionError), closing(door.connected()) as line:
                line.sendall(door.head("GET", "/health", b"connection: close", b"", b""))
                while line.recv(65536):
                    pass
            slow.append(time.monotonic() - began)
            time.sleep(0.05)

    asking = threading.Thread(target=ask)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    asking.start()
    try:
        yield
    finally:
        stop.set()
        asking.join()
    assert max(slow) < QUICK_SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < MOST_GROWTH_BYTES


def answer_to(line: socket.socket, *sent: bytes) -> bytes:
    """Whatever comes back, to the end; also where the other side does not want to read all of it."""
    with suppress(ConnectionError):
        for part in sent:
            line.sendall(part)
    came = b""
    with suppress(ConnectionError):
        while part := line.recv(65536):
            came += part
    return came


def one_long_header(door: Door, line: socket.socket) -> bytes:
    return answer_to(line, door.head("GET", "/health", b"x: "), *[b"a" * MIB] * 32)


def many_headers(door: Door, line: socket.socket) -> bytes:
    lines = b"".join(b"\r\nx-%d: y" % number for number in range(40_000))
    return answer_to(line, door.head("GET", "/health") + lines + b"\r\n\r\n")


def long_path(door: Door, line: socket.socket) -> bytes:
    return answer_to(line, b"GET /" + b"a" * MIB * 8)


def long_trailer(door: Door, line: socket.socket) -> bytes:
    head = door.head("POST", "/api/sign-in", b"transfer-encoding: chunked", b"content-type: application/json", b"", b"")
    return answer_to(line, head, b"2\r\n{}\r\n0\r\nx: ", *[b"a" * MIB] * 8)


def long_chunk_extension(door: Door, line: socket.socket) -> bytes:
    head = door.head("POST", "/api/sign-in", b"transfer-encoding: chunked", b"content-type: application/json", b"", b"")
    return answer_to(line, head, b"2;", *[b"a" * MIB] * 8)


def nothing_at_all(_door: Door, line: socket.socket) -> bytes:
    return answer_to(line)


def half_a_head(door: Door, line: socket.socket) -> bytes:
    return answer_to(line, door.head("GET", "/health"))


def half_a_second_head(door: Door, line: socket.socket) -> bytes:
    line.sendall(door.head("GET", "/health", b"", b""))
    assert b"200 OK" in line.recv(65536)
    return answer_to(line, b"GET /hea")


def line_ends_for_ever(door: Door, line: socket.socket) -> bytes:
    """No request has begun, and none has ended."""
    line.sendall(door.head("GET", "/health", b"", b""))
    assert b"200 OK" in line.recv(65536)
    return answer_to(line, b"\r\n")


def dripping_head(door: Door, line: socket.socket) -> bytes:
    with suppress(ConnectionError):
        for letter in door.head("GET", "/health", b"x: " + b"y" * 200):
            line.sendall(bytes([letter]))
            time.sleep(0.05)
    return answer_to(line)


def half_a_body(door: Door, line: socket.socket) -> bytes:
    head = door.head("POST", "/api/sign-in", b"content-type: application/json", b"content-length: 100", b"", b"")
    return answer_to(line, head, b"{")


def dripping_body(door: Door, line: socket.socket) -> bytes:
    head = door.head("POST", "/api/sign-in", b"content-type: application/json", b"content-length: 8000", b"", b"")
    line.sendall(head)
    with suppress(ConnectionError):
        for _ in range(200):
            line.sendall(b"x")
            time.sleep(0.05)
    return answer_to(line)


def body_without_a_token(door: Door, line: socket.socket) -> bytes:
    head = door.head("POST", "/api/memory", b"content-type: application/json", b"content-length: 33554432")
    return answer_to(line, head + b"\r\nconnection: close\r\n\r\n", *[b"x" * MIB] * 32)


def many_requests_at_once(door: Door, line: socket.socket) -> bytes:
    return answer_to(line, door.head("GET", "/health", b"", b"") * 5000)


def no_http(_door: Door, line: socket.socket) -> bytes:
    return answer_to(line, b"\x16\x03\x01\x02\x00\x01\x00" + b"\0" * 512)


CLOSED = b""
EXCEEDED: list[tuple[Callable[[Door, socket.socket], bytes], bytes]] = [
    (one_long_header, b"431"),
    (many_headers, b"431"),
    (long_path, b"431"),
    (long_trailer, b"431"),
    (long_chunk_extension, b"431"),
    (nothing_at_all, CLOSED),
    (half_a_head, b"408"),
    (half_a_second_head, b"408"),
    (line_ends_for_ever, b"408"),
    (dripping_head, b"408"),
    (half_a_body, b"408"),
    (dripping_body, b"408"),
    (body_without_a_token, b"401"),
    (many_requests_at_once, CLOSED),
    (no_http, b"400"),
]


@pytest.mark.parametrize(("exceed", "status"), EXCEEDED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_bound_holds(door: Door, exceed: Callable[[Door, socket.socket], bytes], status: bytes) -> None:
    with others_go_on(door), closing(door.connected()) as line:
        came = exceed(door, line)
    assert came[9:12] == status
    if status:
        head, _, body = came.partition(b"\r\n\r\n")
        assert b"application/problem+json" in head
        assert json.loads(body)["status"] == int(status)


@pytest.mark.parametrize("size", [1, 8, 48])
@pytest.mark.parametrize("announced", [True, False], ids=["announced", "in chunks"])
@pytest.mark.parametrize("close", [True, False], ids=["close", "keep-alive"])
def test_whoever_sends_too_much_can_read_that_it_was_too_much(
    door: Door, size: int, announced: bool, close: bool
) -> None:
    """By the plainest of clients, which reads nothing before it has sent everything."""
    parts = urlsplit(door.url)
    part = b"x" * MIB
    headers = {"authorization": f"Bearer {door.token}", "content-type": "application/json"}
    headers |= {"connection": "close"} if close else {}
    headers |= {"content-length": str((size + 1) * MIB)} if announced else {"transfer-encoding": "chunked"}
    with others_go_on(door), closing(http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)) as client:
        body = (part for _ in range(size + 1))
        client.request("POST", "/api/memory", body, headers, encode_chunked=not announced)
        answer = client.getresponse()
        assert (answer.status, json.loads(answer.read())["code"]) == (413, "too_large")


def test_what_is_sent_after_an_answer_has_a_bound_too(door: Door) -> None:
    head = door.head("POST", "/api/memory", b"content-type: application/json", b"content-length: 999999999", b"", b"")
    with others_go_on(door), closing(door.connected()) as line:
        line.sendall(head)
        with pytest.raises(ConnectionError):
            send_all(line, 200)


def send_all(line: socket.socket, megabytes: int) -> None:
    for _ in range(megabytes):
        line.sendall(b"x" * MIB)


def test_an_answer_that_nobody_reads_is_not_kept(door: Door) -> None:
    asked = 15
    with others_go_on(door), closing(socket.socket()) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(PATIENCE)
        line.connect(("127.0.0.1", urlsplit(door.url).port))
        line.sendall(door.head("GET", "/openapi.json", b"", b"") * asked)
        time.sleep(3 * LOOK_SECONDS + SMALL["stall_seconds"])
        assert answer_to(line).count(b"HTTP/1.1 200") < asked


def test_idle_strangers_make_room_and_whoever_reads_a_stream_stays(door: Door) -> None:
    """From one address, with far more connections than it may have."""
    head = door.head("GET", "/api/memory/changes", b"accept: text/event-stream")
    known = head + f"\r\nauthorization: Bearer {door.token}\r\n\r\n".encode()
    with ExitStack() as opened:
        streams = [opened.enter_context(closing(door.connected())) for _ in range(30)]
        for line in streams:
            line.sendall(known)
            assert b"200 OK" in line.recv(65536)
        strangers = [opened.enter_context(closing(door.connected())) for _ in range(200)]
        with closing(door.connected()) as line:
            assert b"200 OK" in answer_to(line, door.head("GET", "/health", b"connection: close", b"", b""))
        assert sum(map(is_open, strangers)) <= SMALL["max_connections_per_address"] - len(streams)
        saved = door.workspace.as_operator().save("for all who read")
        for line in streams:
            came = b""
            while saved.id.encode() not in came:
                part = line.recv(65536)
                assert part
                came += part


def is_open(line: socket.socket) -> bool:
    line.settimeout(0.001)
    try:
        return line.recv(1) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


def test_where_everybody_is_at_work_the_next_one_is_told_so(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, max_connections=3)
    with open_workspace(settings=settings) as workspace, served(workspace, settings=settings) as url:
        door = Door(workspace, url, workspace.issue_token("operator"))
        head = door.head("GET", "/api/memory/changes", b"accept: text/event-stream")
        with ExitStack() as opened:
            for _ in range(3):
                line = opened.enter_context(closing(door.connected()))
                line.sendall(head + f"\r\nauthorization: Bearer {door.token}\r\n\r\n".encode())
                assert b"200 OK" in line.recv(65536)
            with closing(door.connected()) as line:
                assert b"503 Service Unavailable" in answer_to(line)
        with closing(door.connected()) as line:
            assert b"200 OK" in answer_to(line, door.head("GET", "/health", b"connection: close", b"", b""))
