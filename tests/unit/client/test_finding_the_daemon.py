"""Who is taken for the service of a data directory: only who knows the secret of its file."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from filelock import FileLock

from mycel import __version__
from mycel.client import daemon
from mycel.client.daemon import ensure_daemon, find_daemon
from mycel.errors import Unavailable
from mycel.wire.daemon_file import DAEMON_FILE, OPERATOR_TOKEN, SERVICE_LOCK, DaemonFile
from mycel.wire.proof import MAX_ANSWER_BYTES, proof_of

SECRET = "right"


class Answering(ThreadingHTTPServer):
    """Answers every request with the same bytes, or with none while it hangs; `knows` the secret, or another one."""

    daemon_threads = True
    status = 200
    body = b""
    hangs = False
    knows = ""
    version = "9.9.9"

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
        body = self.server.body
        if self.server.knows:
            challenge = self.path.partition("challenge=")[2]
            proof = proof_of(self.server.knows, challenge, self.request.getsockname()[:2])
            body = json.dumps({"status": "ok", "version": self.server.version, "proof": proof}).encode()
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

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
    (data / DAEMON_FILE).write_bytes(DaemonFile(url, SECRET, 7, "0.0.1", datetime.now(UTC)).render())


def test_the_one_that_knows_the_secret_is_found(tmp_path: Path, server: Answering) -> None:
    server.knows = SECRET
    name(tmp_path, server.url)
    (tmp_path / OPERATOR_TOKEN).write_text("mycel_secret\n")
    found = find_daemon(tmp_path)
    assert found is not None
    assert (found.url, found.token, found.version, found.pid) == (server.url, "mycel_secret", "9.9.9", 7)
    assert "mycel_secret" not in repr(found)
    assert SECRET not in repr(found)
    # Whoever it is, it does not get the token for a question.
    [(path, token)] = server.asked
    assert re.fullmatch(r"/health\?challenge=[0-9a-f]{64}", path)
    assert token is None


def test_every_question_is_another_one(tmp_path: Path, server: Answering) -> None:
    server.knows = SECRET
    name(tmp_path, server.url)
    for _ in range(3):
        assert find_daemon(tmp_path) is not None
    assert len({path for path, _ in server.asked}) == 3


def test_another_version_is_told(tmp_path: Path, server: Answering) -> None:
    server.knows, server.version = SECRET, __version__
    name(tmp_path, server.url)
    found = find_daemon(tmp_path)
    assert found is not None
    assert found.note is None
    server.version = "9.9.9"
    found = find_daemon(tmp_path)
    assert found is not None
    assert found.note == (
        f"the service at {server.url} is Mycel 9.9.9, this is {__version__}: restart it to have both alike"
    )


def test_one_that_knows_another_secret_is_not_the_service(tmp_path: Path, server: Answering) -> None:
    server.knows = "wrong"
    name(tmp_path, server.url)
    assert find_daemon(tmp_path) is None


def test_a_service_of_an_older_version_is_named_and_asked_nothing(
    tmp_path: Path, server: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it runs; of one that was killed only the file is left, and a new one is started."""
    named = DaemonFile(server.url, None, 7, "0.0.1", datetime.now(UTC))
    (tmp_path / DAEMON_FILE).write_bytes(named.render())
    (tmp_path / OPERATOR_TOKEN).write_text("mycel_secret\n")
    with (
        FileLock(tmp_path / SERVICE_LOCK),
        pytest.raises(Unavailable, match=r"is Mycel 0\.0\.1, which cannot prove .* end process 7"),
    ):
        ensure_daemon(tmp_path)

    class Started(Exception):
        pass

    def start(*_: object, **__: object) -> None:
        raise Started

    monkeypatch.setattr(daemon, "_start", start)
    with pytest.raises(Started):
        ensure_daemon(tmp_path)
    assert server.asked == []


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b'{"status": "ok", "version": "0.1.0", "proof": "wrong"}'),
        (200, b'{"status": "ok", "version": "0.1.0", "nonce": "right"}'),
        (200, b"<html>"),
        (200, b'"right"'),
        (200, b'{"proof": "' + b"x" * MAX_ANSWER_BYTES + b'"}'),
        (200, b""),
    ],
)
def test_another_program_on_the_port_is_not_the_service(
    tmp_path: Path, server: Answering, status: int, body: bytes
) -> None:
    server.status, server.body = status, body
    name(tmp_path, server.url)
    assert find_daemon(tmp_path) is None


@pytest.mark.parametrize("status", [503, 302, 204])
def test_an_error_is_no_proof(tmp_path: Path, server: Answering, status: int) -> None:
    server.knows, server.status = SECRET, status
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
