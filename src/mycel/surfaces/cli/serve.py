"""`mycel serve`: the HTTP service in the foreground."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.errors import Misconfigured
from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.cli.output import note

if TYPE_CHECKING:
    import uvicorn

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7077
# Requests under way get this long when the service stops.
GRACE_SECONDS = 10


def add_to(app: typer.Typer) -> None:
    app.command("serve", cls=Command, rich_help_panel="Run")(serve)


def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on; by default only this machine reaches it.")
    ] = DEFAULT_HOST,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="The port to listen on; 0 takes a free one.")
    ] = DEFAULT_PORT,
) -> None:
    """Run the HTTP service until it is stopped by Ctrl-C or SIGTERM.

    With --json its address is printed as JSON once it listens.
    """
    from mycel import __version__
    from mycel.surfaces.http.app import create_app

    call = invocation(context)
    # Open for as long as the service runs: a data directory that cannot be used is an error now, not later.
    with call.workspace(for_others=True) as workspace, _listen(host, port) as listener:
        workspace.work_beside()
        url = _url(listener)
        answer = {"url": url, "version": __version__}

        def announce() -> None:
            call.answer(answer, lambda: note(f"Mycel {__version__} listens on {url}"))

        _run(create_app(workspace, host=host), listener, announce)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        why = ((isinstance(error, OSError) and error.strerror) or "no valid address").partition(" (")[0]
        raise Misconfigured(f"cannot listen on {host}, port {port}: {why}; try another --host or --port") from None


def _url(listener: socket.socket) -> str:
    address: tuple[str, int] = listener.getsockname()[:2]
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http://{host}:{address[1]}"


def _run(app: object, listener: socket.socket, announce: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce()

    config = uvicorn.Config(
        app,  # pyright: ignore[reportArgumentType]
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = Server(config)
    _stop_on_signals(server)
    server.run(sockets=[listener])


def _stop_on_signals(server: uvicorn.Server) -> None:
    """After a graceful stop uvicorn raises the signal once more for whoever was there before: with nobody there
    the process would die of it instead of ending well."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
