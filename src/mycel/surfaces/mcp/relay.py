"""`mycel mcp` while a service runs: messages of the agent go to the service's `/mcp`, and its answers come back.

The service has everything loaded already; a process that only passes lines on starts in a fraction of the time. It
imports little for that reason, and nothing of the MCP SDK.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple, Protocol, cast
from urllib.parse import quote, urlencode

from mycel.errors import MycelError
from mycel.wire import http1
from mycel.wire.http1 import Answer
from mycel.wire.proof import prove

PATH = "/mcp"
# A service that works on a long call sends nothing meanwhile; one that has died closes the connection.
ANSWER_SECONDS = 300.0
CONNECT_SECONDS = 5.0
# How long what is under way may take after the agent has closed its side.
FINISH_SECONDS = 2.0

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
_SESSION, _VERSION = "mcp-session-id", "mcp-protocol-version"
_VERSION_OF_REQUEST = "io.modelcontextprotocol/protocolVersion"
# Since 2026-07-28 these name what a request is about in a header too.
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_CANCELLED = "notifications/cancelled"
_LISTEN = "subscriptions/listen"
_SUBSCRIBE, _UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
_SET_LEVEL = "logging/setLevel"

Message = dict[str, Any]


class Endpoint(NamedTuple):
    """Where a service answers, and what every request to it says.

    With a `secret`, whoever answers there must prove on each connection that it knows it, before anything is sent.
    """

    url: str
    headers: Mapping[str, str]
    secret: str | None = None


class Find(Protocol):
    def __call__(self, *, again: bool) -> Endpoint: ...


class Relay:
    """One agent's connection. `find` gives the service; `again` where the one it gave before has ended since."""

    def __init__(self, find: Find, *, query: Mapping[str, str], out: BinaryIO) -> None:
        self._find = find
        self._query = urlencode(query, quote_via=quote)
        self._out = out
        self._writing = threading.Lock()
        self._locating = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._session = _Session()
        self._under_way: dict[object, _Exchange] = {}
        self._threads: list[threading.Thread] = []
        self._stream: threading.Thread | None = None

    def run(self, lines: Iterator[bytes]) -> None:
        """Until the agent closes its side."""
        for line in lines:
            if line.strip():
                self._take(line)
        for thread in self._threads:
            thread.join(FINISH_SECONDS)
        self._leave()

    def _take(self, line: bytes) -> None:
        try:
            message: object = json.loads(line)
        except (ValueError, RecursionError):
            self._answer_error(None, PARSE_ERROR, "not JSON")
            return
        if not isinstance(message, dict):
            self._answer_error(None, INVALID_REQUEST, "one message a line")
            return
        asked = cast("Message", message)
        if asked.get("method") == _CANCELLED and self._cancels(asked):
            return
        if asked.get("method") == "initialize" or "id" not in asked:
            # What follows counts on these having arrived.
            self._pass_on(asked, line)
            return
        thread = threading.Thread(target=self._pass_on, args=(asked, line), daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def _cancels(self, asked: Message) -> bool:
        """Since 2026-07-28 whoever closes the connection has cancelled the request; before, a message says so."""
        exchange = self._under_way.get(_mapping(asked.get("params")).get("requestId"))
        if exchange is None or not exchange.is_modern:
            return False
        exchange.abort()
        return True

    def _pass_on(self, asked: Message, line: bytes) -> None:
        try:
            self._exchange(asked, line)
        except _Cancelled:
            return
        except MycelError as error:
            self._answer_error(asked.get("id"), INTERNAL_ERROR, str(error))
        except (OSError, ValueError) as error:
            self._answer_error(asked.get("id"), INTERNAL_ERROR, f"the service broke off: {type(error).__name__}")

    def _exchange(self, asked: Message, line: bytes) -> None:
        """Once more where the service has ended since it was last asked: every call may be repeated."""
        try:
            self._ask(asked, line, self._located())
        except TimeoutError:
            raise
        except (OSError, _SessionEnded):
            self._find_anew(asked)
            self._ask(asked, line, self._located())

    def _ask(self, asked: Message, line: bytes, endpoint: Endpoint) -> None:
        waits = None if asked.get("method") == _LISTEN else ANSWER_SECONDS
        exchange = _Exchange(endpoint, is_modern=_version_of(asked) is not None, seconds=waits)
        id = asked.get("id")
        self._under_way[id] = exchange
        try:
            answer = exchange.post(f"{PATH}?{self._query}", line, {**_about(asked), **self._session.headers(asked)})
            if answer.status == 404 and not exchange.is_modern and self._session.is_open:
                raise _SessionEnded("the service has forgotten the session")
            self._session.note(asked, answer)
            if id is not None:
                self._hand_back(asked, answer)
        finally:
            self._under_way.pop(id, None)
            exchange.close()
        if asked.get("method") == _SUBSCRIBE and self._session.is_open and self._stream is None:
            self._stream = threading.Thread(target=self._follow, daemon=True)
            self._stream.start()

    def _hand_back(self, asked: Message, answer: Answer) -> None:
        for text in _messages(answer):
            found = _parsed(text)
            if found is None:
                continue
            if answered := "result" in found or "error" in found:
                found["id"] = asked["id"]
                self._session.note_result(asked, found)
            self._write(found)
            if answered:
                return
        self._answer_error(asked.get("id"), INTERNAL_ERROR, f"the service answered {answer.status}")

    def _located(self) -> Endpoint:
        with self._locating:
            if self._endpoint is None:
                self._endpoint = self._find(again=False)
            return self._endpoint

    def _find_anew(self, asked: Message) -> None:
        with self._locating:
            self._endpoint = self._find(again=True)
            if not self._session.is_open or _version_of(asked) is not None or asked.get("method") == "initialize":
                return
            self._session.begin_again(self._endpoint, f"{PATH}?{self._query}")

    def _follow(self) -> None:
        """What the service says by itself to clients of the older protocol, which wait for it in an open request."""
        while self._session.is_open:
            exchange = _Exchange(self._located(), is_modern=False, seconds=None)
            try:
                answer = exchange.get(f"{PATH}?{self._query}", self._session.headers({}))
                for text in _messages(answer) if answer.status == 200 else ():
                    if (found := _parsed(text)) is not None:
                        self._write(found)
            except (OSError, ValueError):
                pass
            finally:
                exchange.close()
            threading.Event().wait(1.0)

    def _leave(self) -> None:
        """Says that a session of the older protocol is over; nobody waits for it."""
        if self._session.is_open and self._endpoint is not None:
            exchange = _Exchange(self._endpoint, is_modern=False, seconds=FINISH_SECONDS)
            with suppress(OSError, ValueError):
                exchange.delete(f"{PATH}?{self._query}", self._session.headers({}))
            exchange.close()

    def _answer_error(self, id: object, code: int, why: str) -> None:
        self._write({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})

    def _write(self, message: Message) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        with self._writing, suppress(BrokenPipeError):
            self._out.write(line)
            self._out.flush()


class _SessionEnded(ValueError):
    pass


class _Cancelled(Exception):
    pass


class _Session:
    """A session of the protocol before 2026-07-28, with what it takes to begin it again at another service."""

    def __init__(self) -> None:
        self._id: str | None = None
        self._version: str | None = None
        self._initialize: bytes | None = None
        # What the service was told to remember, by what it is about.
        self._remembered: dict[str, bytes] = {}

    @property
    def is_open(self) -> bool:
        return self._id is not None

    def headers(self, asked: Message) -> dict[str, str]:
        if _version_of(asked) is not None or asked.get("method") == "initialize":
            return {}
        known = {_SESSION: self._id, _VERSION: self._version}
        return {name: value for name, value in known.items() if value}

    def note(self, asked: Message, answer: Answer) -> None:
        if asked.get("method") == "initialize" and answer.status == 200:
            self._id = answer.headers.get(_SESSION)
            self._initialize = json.dumps(asked).encode()

    def note_result(self, asked: Message, found: Message) -> None:
        method, uri = asked.get("method"), _mapping(asked.get("params")).get("uri")
        if method == "initialize":
            version = _mapping(found.get("result")).get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        elif method == _SUBSCRIBE and isinstance(uri, str) and "result" in found:
            self._remembered[uri] = json.dumps(asked).encode()
        elif method == _UNSUBSCRIBE and isinstance(uri, str):
            self._remembered.pop(uri, None)
        elif method == _SET_LEVEL and "result" in found:
            self._remembered[_SET_LEVEL] = json.dumps(asked).encode()

    def begin_again(self, endpoint: Endpoint, path: str) -> None:
        """The agent has begun it once and knows nothing of a service that was restarted."""
        if self._initialize is None:
            return
        answer = _once(endpoint, path, self._initialize, {})
        self._id = answer.headers.get(_SESSION)
        begun = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
        for line in (begun, *self._remembered.values()):
            _once(endpoint, path, line, self.headers({}))


class _Exchange:
    """One request on a connection of its own, so that it can be broken off alone."""

    def __init__(self, endpoint: Endpoint, *, is_modern: bool, seconds: float | None = ANSWER_SECONDS) -> None:
        self._address = http1.read_address(endpoint.url)
        self._line: socket.socket | None = None
        self._seconds = seconds
        self._headers = endpoint.headers
        self._secret = endpoint.secret
        self._aborted = False
        self.is_modern = is_modern

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        return self._request("POST", path, headers, body)

    def get(self, path: str, headers: Mapping[str, str]) -> Answer:
        return self._request("GET", path, headers)

    def delete(self, path: str, headers: Mapping[str, str]) -> Answer:
        return self._request("DELETE", path, headers)

    def abort(self) -> None:
        self._aborted = True
        self.close()

    def close(self) -> None:
        if self._line is not None:
            with suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)
            self._line.close()

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
        said = {**self._headers, "accept": "application/json, text/event-stream", **headers}
        try:
            line = self._line = http1.connect(self._address, seconds=CONNECT_SECONDS)
            self._require_proof(line)
            line.settimeout(self._seconds)
            line.sendall(http1.request(method, path, self._address, said, body))
            return Answer(lambda: line.recv(http1.RECEIVED_BYTES))
        except OSError:
            if self._aborted:
                raise _Cancelled from None
            raise

    def _require_proof(self, line: socket.socket) -> None:
        if self._secret is None:
            return
        told = prove(line, self._secret, host=self._address.authority, seconds=lambda: CONNECT_SECONDS)
        if told is None:
            raise ConnectionError("something else answers at the address of the service")


def _once(endpoint: Endpoint, path: str, line: bytes, headers: Mapping[str, str]) -> Answer:
    exchange = _Exchange(endpoint, is_modern=False)
    try:
        answer = exchange.post(path, line, headers)
        for _ in _messages(answer):
            break
        return answer
    finally:
        exchange.close()


def _about(asked: Message) -> dict[str, str]:
    """What the protocol wants said in headers as well."""
    version, method = _version_of(asked), asked.get("method")
    if version is None or not isinstance(method, str):
        return {}
    found = {_VERSION: version, "mcp-method": method}
    name = _mapping(asked.get("params")).get(_NAMED_BY.get(method, ""))
    return {**found, "mcp-name": _header(name)} if isinstance(name, str) else found


def _header(value: str) -> str:
    """As it is, or in base64 where it would not survive as the value of a header."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?base64?"):
        return value
    import base64

    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode('ascii')}?="


def _version_of(asked: Message) -> str | None:
    """The protocol a request names by itself, as all do since 2026-07-28."""
    found = _mapping(_mapping(asked.get("params")).get("_meta")).get(_VERSION_OF_REQUEST)
    return found if isinstance(found, str) and found.isascii() and found.isprintable() else None


def _messages(answer: Answer) -> Iterator[bytes]:
    """The one answer, or those of a stream as they come."""
    if not answer.headers.get("content-type", "").startswith("text/event-stream"):
        yield answer.read()
        return
    data: list[bytes] = []
    for text in answer.lines():
        if text.startswith(b"data:"):
            data.append(text[5:].removeprefix(b" "))
        elif not text and data:
            yield b"\n".join(data)
            data = []


def _parsed(text: bytes) -> Message | None:
    """A message of the protocol, also where the service could not read the request; None for anything else."""
    try:
        found: object = json.loads(text) if text.strip() else None
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    message = cast("Message", found)
    if "jsonrpc" in message:
        return message
    # A problem of the service itself: the caller is unknown, or asks too much.
    detail = message.get("detail") or message.get("title")
    return {"jsonrpc": "2.0", "id": None, "error": {"code": INTERNAL_ERROR, "message": detail}} if detail else None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
