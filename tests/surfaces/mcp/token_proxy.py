"""Passes requests on to a service with a token: the conformance suite of MCP can send none."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "content-length", "transfer-encoding"}
OWN_HOSTS = {"127.0.0.1", "localhost"}


@contextmanager
def token_proxy(url: str, token: str) -> Generator[str]:
    """Its address. A host or origin that is not the proxy's own goes on as it came."""
    service = urlsplit(url)

    class Passing(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)) or None
            line = http.client.HTTPConnection(service.hostname or "", service.port, timeout=60)
            try:
                line.request(self.command, self.path, body, self._sent())
                self._answer(line.getresponse())
            except OSError:
                self.close_connection = True
            finally:
                line.close()

        # Names that the library looks for.
        do_GET = do_DELETE = do_POST  # noqa: N815

        def _sent(self) -> dict[str, str]:
            given = {name.lower(): value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            if given["host"].partition(":")[0] in OWN_HOSTS:
                given["host"] = service.netloc
            if urlsplit(given.get("origin", "")).hostname in OWN_HOSTS:
                given["origin"] = url
            return {"authorization": f"Bearer {token}", **given}

        def _answer(self, answer: http.client.HTTPResponse) -> None:
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            while part := answer.read1(65536):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

    with ThreadingHTTPServer(("127.0.0.1", 0), Passing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
