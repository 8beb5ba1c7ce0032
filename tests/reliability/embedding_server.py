"""A loopback embeddings endpoint that misbehaves on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request and what the script does about it."""

    protocol_version = "HTTP/1.1"
    server: EmbeddingServer
    body: dict[str, Any]

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(({name.lower(): value for name, value in self.headers.items()}, self.body))
        try:
            self.server.script(self)
        except OSError:
            # The client gave up first, as it should.
            self.close_connection = True

    def answer(self, content: bytes, *, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: stderr belongs to the tests."""


class EmbeddingServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.script: Script = good
        # What a hanging script waits for, so that no thread outlives its test.
        self.released = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def forget(self) -> None:
        """As new, for the next test."""
        self.released.set()
        self.released = threading.Event()
        self.requests = []
        self.script = good

    def stop(self) -> None:
        self.released.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: object, client_address: object) -> None:
        """Silent: clients that break off are what is tested."""


def rows(texts: list[str], *, dimensions: int = 4) -> list[dict[str, Any]]:
    return [
        {"object": "embedding", "index": index, "embedding": [1.0 + index, float(len(text)), *[0.5] * (dimensions - 2)]}
        for index, text in enumerate(texts)
    ]


def packed(entries: list[Any]) -> bytes:
    return json.dumps({"object": "list", "data": entries, "model": "m", "usage": {}}).encode()


def good(exchange: Exchange) -> None:
    exchange.answer(packed(rows(exchange.body["input"])))


def saying(content: bytes, *, status: int = 200, headers: dict[str, str] | None = None) -> Script:
    return lambda exchange: exchange.answer(content, status=status, headers=headers)


def hanging(exchange: Exchange) -> None:
    exchange.server.released.wait(30)


def trickling(exchange: Exchange) -> None:
    """A good answer, but a byte at a time."""
    content = packed(rows(exchange.body["input"]))
    exchange.send_response(200)
    exchange.send_header("Content-Length", str(len(content)))
    exchange.end_headers()
    _drip(exchange, content)


def trickling_headers(exchange: Exchange) -> None:
    _drip(exchange, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 100_000)


def _drip(exchange: Exchange, content: bytes) -> None:
    released = exchange.server.released
    for byte in content:
        if released.wait(0.02):
            return
        exchange.wfile.write(bytes([byte]))
        exchange.wfile.flush()


def endless_failure(exchange: Exchange) -> None:
    exchange.send_response(500)
    exchange.send_header("Transfer-Encoding", "chunked")
    exchange.end_headers()
    released = exchange.server.released
    while not released.is_set():
        exchange.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def truncated(exchange: Exchange) -> None:
    """The connection ends in the middle of the promised body."""
    content = packed(rows(exchange.body["input"]))
    exchange.send_response(200)
    exchange.send_header("Content-Length", str(len(content)))
    exchange.end_headers()
    exchange.wfile.write(content[: len(content) // 2])
    exchange.close_connection = True
