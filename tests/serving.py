"""A service for tests: a real one on a port of its own, or the same app in this process without a socket."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette

from mycel.client.senders import Sender
from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app

ADDRESS = "http://127.0.0.1:7077"


@contextmanager
def served(workspace: Workspace, **options: Any) -> Iterator[str]:
    """The address of a service on this workspace."""
    config = uvicorn.Config(
        create_app(workspace, **options), port=0, log_level="warning", access_log=False, timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="served")
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.002)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@contextmanager
def in_process(workspace: Workspace, **options: Any) -> Iterator[Sender]:
    """A client's way to the app of a service on this workspace."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="in-process")
    thread.start()
    app = create_app(workspace, **options)
    try:
        yield Sender(ADDRESS, transport=_Transport(app, loop))
    finally:
        app.state.service.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=20)
        loop.close()


class _Transport(httpx2.BaseTransport):
    """The requests of a thread, answered by an app that lives in an event loop."""

    def __init__(self, app: Starlette, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = httpx2.ASGITransport(app, raise_app_exceptions=False)
        self._loop = loop

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        asked = asyncio.run_coroutine_threadsafe(self._answer(request), self._loop)
        return asked.result(timeout=60)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        came = await self._inner.handle_async_request(request)
        return httpx2.Response(came.status_code, headers=came.headers, content=await came.aread())
