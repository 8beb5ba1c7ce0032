"""The operations of the API over HTTP: find it, admit the caller, read the request, do the work beside, answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mycel.contracts.long_work import LongWork
from mycel.domain.ids import TeamName
from mycel.embedded.workspace import Visit
from mycel.errors import MycelError
from mycel.services.callers import known
from mycel.surfaces.http.authentication import Visitors
from mycel.surfaces.http.bodies import (
    JSON,
    LARGE_BODY_BYTES,
    MAX_BODY_BYTES,
    MAX_CAPTURE_BYTES,
    Gone,
    read_body,
    require_json,
)
from mycel.surfaces.http.calls import Answer, Call, Paths
from mycel.surfaces.http.problems import Problem, Refused, no_memory, problem_of
from mycel.surfaces.http.threads import Threads
from mycel.wire.naming import HEADER, Naming
from mycel.wire.operations import OPERATIONS, Operation

ResultT = TypeVar("ResultT")
logger = logging.getLogger(__name__)
# Goes with every answer from a store that is damaged: something may be missing from it.
DEGRADED = "mycel-degraded"
# Only the turn that it gets depends on it.
STILL_KNOWN_SECONDS = 60.0
_READ_HEADERS = frozenset({b"idempotency-key", b"if-match", b"if-none-match", HEADER.encode()})


class Api:
    """ASGI middleware: answers what is an operation, and passes on everything else."""

    def __init__(
        self, app: ASGIApp, *, visitors: Visitors, threads: Threads, taken: Iterable[str], naming: Naming
    ) -> None:
        self._app = app
        self._naming = naming
        self._paths = Paths(OPERATIONS, taken=taken)
        self._visitors = visitors
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operations: Mapping[str, Operation] = {}
        values: list[str] = []
        if scope["type"] == "http":
            operations, values = self._paths.find(scope["path"])
        if not operations:
            await self._app(scope, receive, send)
            return
        operation = operations.get(scope["method"])
        if operation is None:
            await not_allowed(operations)(scope, receive, send)
            return
        try:
            answer = await self._answer(operation, values, scope, receive)
        except MycelError as error:
            await problem_of(error)(scope, receive, send)
        except Refused as refused:
            await refused.answer(scope, receive, send)
        except Gone:
            return
        except MemoryError as error:
            await no_memory(error)(scope, receive, send)
        except Exception:
            logger.exception("%s failed", operation.name)
            raise
        else:
            await _send(answer, send)

    async def _answer(self, operation: Operation, values: list[str], scope: Scope, receive: Receive) -> Answer:
        state: dict[str, Any] = scope.setdefault("state", {})
        state["route"] = operation.path
        visit = await self._visitors.admit(scope)
        body = b""
        if not operation.in_query:
            body = await read_body(scope, receive, limit=MAX_CAPTURE_BYTES if operation.captures else MAX_BODY_BYTES)
            if body:
                require_json(scope)
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _READ_HEADERS}
        call = Call(operation, values, scope["query_string"], body, headers, self._naming)

        def work() -> Answer:
            note_caller(state, visit)
            answer = call.answer(visit)
            degraded = visit.degradation()
            return answer if degraded is None else answer._replace(headers=(*answer.headers, (DEGRADED, degraded)))

        team = team_of(visit)
        if operation.takes_long:
            long = LongWork(operation.name, team=team, member=visit.token.member_id)
            return await while_present(receive, self._threads.run(work, long=long))
        is_large = len(body) > LARGE_BODY_BYTES
        return await self._threads.run(work, writes=operation.writes, is_large=is_large, team=team)


def team_of(visit: Visit) -> TeamName | None:
    """The team in which somebody acts, who was looked up when it was admitted."""
    caller = known(visit.caller, seconds=STILL_KNOWN_SECONDS)
    return None if caller is None else caller.team


async def while_present(receive: Receive, work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Do it for as long as the client is there; raises `Gone` when it has left.

    Everything that the client was to send has come before.
    """
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Gone
        return doing.result()
    finally:
        for task in (doing, leaving):
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def note_caller(state: dict[str, Any], visit: Visit) -> None:
    """For the log of requests."""
    caller = visit.caller()
    state["member"], state["team"] = caller.member_id, caller.team


def not_allowed(methods: Iterable[str]) -> Response:
    allowed = ", ".join(sorted(methods))
    status, headers = HTTPStatus.METHOD_NOT_ALLOWED, {"allow": allowed}
    return Problem(status, f"this path takes {allowed}", code="method_not_allowed", headers=headers)


async def _send(answer: Answer, send: Send) -> None:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
    if answer.status not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
        headers.append((b"content-length", str(len(answer.body)).encode()))
        if not any(name == b"content-type" for name, _ in headers):
            headers.append((b"content-type", JSON.encode()))
    # Answers hold what one caller may read: no cache in between may keep them.
    headers.append((b"cache-control", b"private, no-cache"))
    headers.append((b"vary", HEADER.encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
