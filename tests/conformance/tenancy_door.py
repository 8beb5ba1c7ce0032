"""Requests straight to the app of a service, and what must not be in its answers."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.applications import Starlette

from tests.conformance.tenancy_calls import Pair, Request
from tests.conformance.tenancy_world import ABSENT, Hidden

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?")
# Secrets, cursors, codes and sequence numbers are new each time, and say nothing of others.
NEW = re.compile(r"(?<=plain-)\d{6}|mycel_[\w-]{43}|(?<=code=)[\w-]{43}|(?<=cursor=)[^>&\"]+|(?<=\"sequence\": )\d+")
NUMBER = re.compile(r"-?\d+\.\d+(e-?\d+)?")
# A stream is read for so long.
PATIENCE = 0.2
_OF_THE_MOMENT = frozenset({"content-length", "mycel-report", "mcp-session-id"})
# Nobody leaves before an answer has begun.
LONG = 30.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: str

    @property
    def text(self) -> str:
        return f"{self.status}\n{self.headers}\n{self.body}"


@dataclass
class Findings:
    """What went wrong, by case; and how much was asked."""

    calls: int = 0
    leaks: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, set[int]] = field(default_factory=dict)
    bodies: set[str] = field(default_factory=set)

    def add(self, case: str, what: str) -> None:
        self.leaks.setdefault(case, what)


class Door:
    def __init__(self, app: Starlette) -> None:
        self._app = app

    async def ask(self, request: Request, secret: str | None) -> Answer:
        target = urlsplit(request.path)
        headers = {"host": "127.0.0.1:7077", "accept": "*/*", **request.headers}
        if secret is not None:
            headers["authorization"] = f"Bearer {secret}"
        body = b""
        if request.body is not None:
            body = request.body.encode() if isinstance(request.body, str) else json.dumps(request.body).encode()
            headers.setdefault("content-type", "application/json")
        scope: dict[str, Any] = {
            "type": request.kind,
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http" if request.kind == "http" else "ws",
            "subprotocols": [],
            "path": unquote(target.path),
            "raw_path": target.path.encode(),
            "query_string": target.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 7077),
            "root_path": "",
            "extensions": {"websocket.http.response": {}},
        }
        if request.kind == "websocket":
            return await self._answered(scope, {"type": "websocket.connect"})
        return await self._answered(scope, {"type": "http.request", "body": body, "more_body": False})

    async def _answered(self, scope: dict[str, Any], first: Mapping[str, Any]) -> Answer:
        """Streams are left after a while."""
        came: list[Mapping[str, Any]] = []
        given = iter([first])

        async def receive() -> Mapping[str, Any]:
            message = next(given, None)
            if message is None:
                await asyncio.sleep(PATIENCE if came else LONG)
                return {"type": f"{scope['type']}.disconnect", "code": 1000}
            return message

        async def send(message: Mapping[str, Any]) -> None:
            came.append(message)

        await self._app(scope, receive, send)  # type: ignore[arg-type]
        if came and came[0]["type"] in {"websocket.accept", "websocket.close"}:
            ends = [message["code"] for message in came if message["type"] == "websocket.close"]
            said = [message.get("text") or repr(message.get("bytes", "")) for message in came]
            return Answer(ends[0] if ends else 101, (), "\n".join(said))
        headers = tuple(sorted((name.decode(), value.decode("latin-1")) for name, value in came[0]["headers"]))
        body = b"".join(message.get("body", b"") for message in came[1:])
        return Answer(came[0]["status"], headers, body.decode("utf-8", "replace"))


async def walk(door: Door, pairs: list[Pair], hidden: Hidden, secret: str | None, said: set[str]) -> Findings:
    """Asks every pair; `said` are the names that this team has written down itself so far."""
    found = Findings()
    for pair in pairs:
        if pair.alike and meets_itself(pair.absent):
            await door.ask(pair.absent, secret)
        answers = [await door.ask(request, secret) for request in (pair.hidden, pair.absent)]
        found.calls += 2
        for request, answer in zip((pair.hidden, pair.absent), answers, strict=True):
            found.statuses.setdefault(request.case, set()).add(answer.status)
            found.bodies.add(answer.text)
            if request.writes:
                said |= request.sent
            if told := untold(answer, hidden, said | request.sent):
                found.add(request.case, f"{request} was told {told!r}: {answer.text[:2000]}")
        shown = [plain(answer, hidden) for answer in answers]
        if pair.alike and shown[0] != shown[1]:
            found.add(pair.hidden.case, difference(pair.hidden, *shown))
    return found


def meets_itself(request: Request) -> bool:
    """Whether it saves a text that the second of two finds there already: then both shall find it."""
    return request.writes and '"content": "plain words"' in json.dumps(request.body)


def difference(request: Request, *shown: str) -> str:
    parts = [re.split(r"(?<=[,{}\n])", one) for one in shown]
    return "\n".join([str(request), *itertools.islice(difflib.unified_diff(*parts, lineterm="", n=0), 30)])


def untold(answer: Answer, hidden: Hidden, said: set[str]) -> str | None:
    """Something hidden that the caller did not bring itself."""
    if told := (set(UUID.findall(answer.text)) & hidden.all_ids.keys()) - said:
        return min(told)
    rest = answer.text
    if hidden.mark in rest:
        for name in sorted(said, key=len, reverse=True):
            rest = rest.replace(name, "")
    place = rest.find(hidden.mark)
    return None if place < 0 else rest[max(0, place - 40) : place + 40]


def plain(answer: Answer, hidden: Hidden) -> str:
    """The answer without what differs between any two: times, new ids, scores."""
    # A tag that follows from the body says no more than the body, which is compared.
    follows = f'"{hashlib.blake2b(answer.body.encode(), digest_size=12).hexdigest()}"'
    dropped = [("etag", follows), *(pair for pair in answer.headers if pair[0] in _OF_THE_MOMENT)]
    kept = [pair for pair in answer.headers if pair not in dropped]
    body = answer.body
    with contextlib.suppress(ValueError):
        body = json.dumps(json.loads(body), sort_keys=True)
    text = f"{answer.status}\n{kept}\n{body}".replace(hidden.mark, ABSENT)
    ids = hidden.all_ids
    named = {*ids, *ids.values()}
    text = UUID.sub(lambda match: "<named>" if match[0] in named else "<id>", text)
    return NUMBER.sub("<number>", TIME.sub("<time>", NEW.sub("<new>", text)))
