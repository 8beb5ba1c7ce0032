"""The little HTTP of the hooks, against servers that answer in the ways servers do."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.service import Line
from mycel.wire.http1 import Address, read_address

pytestmark = pytest.mark.each_database(slow=True)

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n3;x=y\r\nefg\r\n0\r\n\r\n"


@contextlib.contextmanager
def answering(*answers: bytes, at_once: int = 0) -> Iterator[tuple[Line, list[bytes]]]:
    """One answer for each request, all on one connection, in small parts if asked for."""
    heard: list[bytes] = []

    def serve(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            line, _ = server.accept()
            with line:
                for answer in answers:
                    heard.append(line.recv(65536))
                    step = at_once or len(answer) or 1
                    for at in range(0, len(answer), step):
                        line.sendall(answer[at : at + step])

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        line = Line(read_address(f"http://127.0.0.1:{server.getsockname()[1]}/base"), Deadline(10))
        try:
            yield line, heard
        finally:
            line.close()
            thread.join(10)


@pytest.mark.parametrize("at_once", [0, 1, 7])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", (200, b"hello")),
        (b"HTTP/1.1 204 No Content\r\n\r\n", (204, b"")),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", (503, b"")),
        (CHUNKED, (200, b"abcdefg")),
    ],
)
def test_answers_are_read_however_they_come(answer: bytes, expected: tuple[int, bytes], at_once: int) -> None:
    with answering(answer, answer, at_once=at_once) as (line, heard):
        assert line.ask("POST", "/api/x", body=b"{}", headers={"a": "b"}) == expected
        assert line.ask("GET", "/health") == expected
    assert heard[0].startswith(b"POST /base/api/x HTTP/1.1\r\nhost: 127.0.0.1:")
    assert heard[0].endswith(b"a: b\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
    assert heard[1].startswith(b"GET /base/health HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", b"no HTTP at all\r\n\r\n", b"x" * 100_000],
)
def test_what_is_no_answer_is_nobody(answer: bytes) -> None:
    with answering(answer) as (line, _), pytest.raises(Unreachable):
        line.ask("GET", "/")


def test_nobody_there_is_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Unreachable):
        Line(Address(False, "127.0.0.1", port, ""), Deadline(10)).ask("GET", "/")


def test_a_deadline_that_is_over_asks_nobody() -> None:
    with pytest.raises(TimeUp):
        Line(Address(False, "127.0.0.1", 9, ""), Deadline(0)).ask("GET", "/")


def test_a_name_cannot_add_a_header() -> None:
    with answering(b"") as (line, heard):
        with pytest.raises(Unreachable):
            line.ask("GET", "/", headers={"mycel-as": "swe-1\r\nauthorization: Bearer x"})
        assert heard == []
        socket.create_connection((line._address.host, line._address.port)).close()


@pytest.mark.parametrize(
    ("url", "address", "host"),
    [
        ("http://127.0.0.1:7077", (False, "127.0.0.1", 7077, ""), "127.0.0.1:7077"),
        ("https://memory.example.org/mycel/", (True, "memory.example.org", 443, "/mycel"), "memory.example.org"),
        ("HTTP://[::1]:80", (False, "::1", 80, ""), "[::1]"),
        ("https://[::1]", (True, "::1", 443, ""), "[::1]"),
    ],
)
def test_addresses_are_read(url: str, address: tuple[bool, str, int, str], host: str) -> None:
    assert read_address(url) == address
    assert read_address(url).authority == host


@pytest.mark.parametrize("url", ["", "memory.example.org", "ftp://x"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        read_address(url)
