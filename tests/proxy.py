"""A proxy as people put one before the service: another port, and a path that it hands on as it came."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from mycel.embedded.workspace import Workspace
from mycel.settings import Settings
from tests.serving import served

PIECE = 64 * 1024


@contextmanager
def proxied(workspace: Workspace, *, prefix: str) -> Iterator[str]:
    """The address that browsers are told. Bytes pass as they come: the service takes the path off by itself."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(64) as threads:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with served(workspace, settings=Settings(public_url=f"{address}{prefix}")) as url:
            threads.submit(_accept, listener, int(url.rpartition(":")[2]), threads)
            yield address
        # Wakes whoever waits for a connection.
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, port: int, threads: ThreadPoolExecutor) -> None:
    with suppress(OSError):
        while True:
            browser, _ = listener.accept()
            threads.submit(_carry, browser, port, threads)


def _carry(browser: socket.socket, port: int, threads: ThreadPoolExecutor) -> None:
    with browser, socket.create_connection(("127.0.0.1", port)) as service:
        back = threads.submit(_pass_on, service, browser)
        _pass_on(browser, service)
        back.result()


def _pass_on(start: socket.socket, end: socket.socket) -> None:
    with suppress(OSError):
        while piece := start.recv(PIECE):
            end.sendall(piece)
    for one in (start, end):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
