"""A real service in a thread of the test's process, on a port of its own."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from mycel.embedded.workspace import Workspace
from mycel.surfaces.http.app import create_app


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
