"""Who is taken for the service of a data directory: only what answers with the nonce of its file."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest

from mycel.client import daemon
from mycel.client.daemon import find_daemon
from mycel.wire.daemon_file import DAEMON_FILE, OPERATOR_TOKEN, DaemonFile


class Answering(ThreadingHTTPServer):
    """Answers every request with the same bytes, or with none while it hangs."""

    daemon_threads = True
    status = 200
    body = b""
    hangs = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, str | None]] = []
        self.done = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        if self.server.hangs:
            self.server.done.wait(10)
            return
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Answering]:
    with Answering() as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        found.done.set()
        found.shutdown()
        thread.join()


def name(data: Path, url: str) -> None:
    (data / DAEMON_FILE).write_bytes(DaemonFile(url, "right", 7, "0.0.1", datetime.now(UTC)).render())


def test_the_one_that_knows_the_nonce_is_found(tmp_path: Path, server: Answering) -> None:
    server.body = json.dumps({"status": "ok", "version": "9.9.9", "nonce": "right"}).encode()
    name(tmp_path, server.url)
    (tmp_path / OPERATOR_TOKEN).write_text("mycel_secret\n")
    found = find_daemon(tmp_path)
    assert found is not None
    assert (found.url, found.token, found.version, found.pid) == (server.url, "mycel_secret", "9.9.9", 7)
    assert "mycel_secret" not in repr(found)
    # Whoever it is, it does not get the token for a question.
    assert server.asked == [("/health", None)]


def test_another_version_is_told(tmp_path: Path, server: Answering) -> None:
    server.body = json.dumps({"version": version("mycel"), "nonce": "right"}).encode()
    name(tmp_path, server.url)
    found = find_daemon(tmp_path)
    assert found is not None
    assert found.note is None
    server.body = json.dumps({"version": "9.9.9", "nonce": "right"}).encode()
    found = find_daemon(tmp_path)
    assert found is not None
    assert found.note == (
        f"the service at {server.url} is Mycel 9.9.9, this is {version('mycel')}: restart it to have both alike"
    )


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b'{"status": "ok", "version": "0.1.0", "nonce": "wrong"}'),
        (200, b'{"status": "ok", "version": "0.1.0"}'),
        (200, b"<html>"),
        (200, b'"right"'),
        (200, b'{"nonce": "right", "more": "' + b"x" * daemon.MAX_HEALTH_BYTES + b'"}'),
        (503, b'{"nonce": "right"}'),
        (302, b'{"nonce": "right"}'),
    ],
)
def test_another_program_on_the_port_is_not_the_service(
    tmp_path: Path, server: Answering, status: int, body: bytes
) -> None:
    server.status, server.body = status, body
    name(tmp_path, server.url)
    assert find_daemon(tmp_path) is None


def test_one_that_hangs_is_left_in_time(tmp_path: Path, server: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "HEALTH_SECONDS", 0.2)
    server.hangs = True
    name(tmp_path, server.url)
    assert find_daemon(tmp_path) is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://127.0.0.1:port", "nowhere", "http://"])
def test_an_address_where_nobody_answers_is_no_service(tmp_path: Path, url: str) -> None:
    name(tmp_path, url)
    assert find_daemon(tmp_path) is None
