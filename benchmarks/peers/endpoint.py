"""A loopback server that answers as OpenAI's embeddings endpoint does, with vectors that were made beforehand."""

from __future__ import annotations

import base64
import json
import threading
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from benchmarks.peers.inside.driver import Vectors
from benchmarks.peers.prepared import Prepared

LARGEST_REQUEST_BYTES = 16 * 1024 * 1024


class Endpoint:
    """One path per prepared set; texts that are not in it are given to its embedder and counted."""

    def __init__(self, sets: Sequence[Prepared]) -> None:
        self._sets = {one.name: (Vectors(one.folder, endpoint=""), one.embedder) for one in sets}
        self._lock = threading.Lock()
        self.unknown = dict.fromkeys(self._sets, 0)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{name}/v1/embeddings"

    @contextmanager
    def running(self) -> Iterator[Endpoint]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def answer(self, name: str, request: Mapping[str, Any]) -> dict[str, Any]:
        given = request["input"]
        texts = [given] if isinstance(given, str) else given
        packed = request.get("encoding_format") == "base64"
        rows = [self._vector(name, text) for text in texts]
        return {
            "object": "list",
            "model": request.get("model", "given"),
            "usage": {"prompt_tokens": 0, "total_tokens": 0},
            "data": [
                {
                    "object": "embedding",
                    "index": place,
                    "embedding": base64.b64encode(row).decode() if packed else array("f", row).tolist(),
                }
                for place, row in enumerate(rows)
            ],
        }

    def _vector(self, name: str, text: str) -> bytes:
        vectors, embedder = self._sets[name]
        found = vectors.find(text)
        if found is not None:
            return found
        with self._lock:
            self.unknown[name] += 1
            return embedder.embed_documents([text])[0].astype(np.float32).tobytes()


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            name = self.path.strip("/").split("/")[0]
            length = int(self.headers.get("Content-Length", 0))
            if name not in endpoint.unknown or not 0 < length <= LARGEST_REQUEST_BYTES:
                self._send(404, {"error": {"message": "no such set, or a request of no usable length"}})
                return
            try:
                self._send(200, endpoint.answer(name, json.loads(self.rfile.read(length))))
            except (KeyError, ValueError) as error:
                self._send(400, {"error": {"message": repr(error)}})

        def log_message(self, *_: object) -> None:
            pass

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
