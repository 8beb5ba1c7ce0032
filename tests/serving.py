"""A service for tests: a real one on a port of its own, or the same app in this process without a socket."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.types import Message

from mycel.client.senders import AsyncSender, Sender
from mycel.embedded.workspace import Workspace
from mycel.settings import Settings
from mycel.surfaces.http.app import create_app
from mycel.surfaces.http.connections import ConnectionLimits
from mycel.surfaces.http.serving import ENOUGH_HANDLES, server_config

ADDRESS = "http://127.0.0.1:7077"
PATIENCE = 60.0
ResultT = TypeVar("ResultT")


@contextmanager
def served(workspace: Workspace, **options: Any) -> Iterator[str]:
    """The address of a service on this workspace."""
    limits = ConnectionLimits.of(options.get("settings") or Settings(), handles=ENOUGH_HANDLES)
    config = server_config(create_app(workspace, **options), limits)
    config.timeout_graceful_shutdown = 2
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],), name="served")
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.002)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listener.close()


@contextmanager
def in_process(workspace: Workspace, **options: Any) -> Iterator[Sender]:
    """A client's way to the app of a service on this workspace."""
    with app_in_loop(workspace, **options) as (app, loop):
        yield Sender(ADDRESS, transport=_Transport(app, loop))


@contextmanager
def in_process_async(workspace: Workspace, **options: Any) -> Iterator[tuple[AsyncSender, "LoopThread"]]:
    """The same for a client that lives in the loop of the app."""
    with app_in_loop(workspace, **options) as (app, loop):
        yield AsyncSender(ADDRESS, transport=AppTransport(app)), loop


@contextmanager
def app_in_loop(workspace: Workspace, **options: Any) -> Iterator[tuple[Starlette, "LoopThread"]]:
    loop = LoopThread()
    app = create_app(workspace, **options)
    try:
        yield app, loop
    finally:
        loop.run(_end(app))
        loop.close()


async def _end(app: Starlette) -> None:
    app.state.stopping.set()
    await asyncio.wait_for(app.state.streams_ended(), 20)
    app.state.service.close()


class LoopThread:
    """An event loop in a thread of its own, which others have do something."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="in-process")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=PATIENCE)

    def close(self) -> None:
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=20)
        self._loop.close()


class AppTransport(httpx2.AsyncBaseTransport):
    """Requests to an app in the same loop; its answers are read as they come."""

    def __init__(self, app: Starlette) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self.answer(request, await request.aread())

    async def answer(self, request: httpx2.Request, body: bytes) -> httpx2.Response:
        asked = _Asked(body)
        asked.begin(self._app(_scope(request), asked.receive, asked.send))
        start = await asked.started
        headers = [(name.decode(), value.decode("latin-1")) for name, value in start.get("headers", ())]
        return httpx2.Response(start["status"], headers=headers, stream=asked)


class _Asked(httpx2.AsyncByteStream):
    """One request on its way through the app, and what comes of it."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._left = asyncio.Event()
        self.started: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.ensure_future(work)
        self._task.add_done_callback(self._end)

    async def receive(self) -> Message:
        body, self._body = self._body, None
        if body is None:
            await self._left.wait()
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started.set_result(message)
            return
        self._parts.put_nowait(message.get("body", b""))
        if not message.get("more_body", False):
            self._parts.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._parts.get()) is not None:
            yield part

    async def aclose(self) -> None:
        self._left.set()
        await asyncio.wait([self._task], timeout=PATIENCE)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._parts.put_nowait(None)
        error = task.exception()
        if not self.started.done():
            self.started.set_exception(error or RuntimeError("no answer"))


class _Transport(httpx2.BaseTransport):
    """The requests of a thread, answered by an app that lives in an event loop."""

    def __init__(self, app: Starlette, loop: LoopThread) -> None:
        self._inner = AppTransport(app)
        self._loop = loop

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        came = self._loop.run(self._inner.answer(request, request.read()))
        assert isinstance(came.stream, _Asked)
        return httpx2.Response(came.status_code, headers=came.headers, stream=_Parts(came.stream, self._loop))


class _Parts(httpx2.SyncByteStream):
    def __init__(self, asked: _Asked, loop: LoopThread) -> None:
        self._asked = asked
        self._loop = loop

    def __iter__(self) -> Iterator[bytes]:
        parts = aiter(self._asked)
        while (part := self._loop.run(_next(parts))) is not None:
            yield part

    def close(self) -> None:
        self._loop.run(self._asked.aclose())


async def _next(parts: AsyncIterator[bytes]) -> bytes | None:
    return await anext(parts, None)


def _scope(request: httpx2.Request) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "query_string": request.url.query,
        "server": (request.url.host, request.url.port),
        "client": ("127.0.0.1", 123),
        "root_path": "",
    }
