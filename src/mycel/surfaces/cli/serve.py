"""`mycel serve`: the HTTP service of a data directory, in the foreground."""

from __future__ import annotations

import socket
from dataclasses import replace
from ipaddress import ip_address
from typing import Annotated

import typer

from mycel.domain.fields import lifetime
from mycel.errors import Misconfigured
from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.cli.output import print_json

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7077


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
    stop_when_idle: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Stop when nobody has used the service for so long, such as 15m."),
    ] = None,
) -> None:
    """Run the HTTP service of the data directory until it is stopped by Ctrl-C or SIGTERM.

    With --json its address is printed as JSON once it listens. Its log goes to standard error.
    """
    call = invocation(context)
    call.require_operator()
    settings = call.settings()
    idle_limit = None if stop_when_idle is None else lifetime(stop_when_idle, field="stop-when-idle")

    from mycel import __version__
    from mycel.surfaces.http.app import create_app
    from mycel.surfaces.http.connections import ConnectionLimits
    from mycel.surfaces.http.credentials import keep_operator_token
    from mycel.surfaces.http.feeds import StreamLimits
    from mycel.surfaces.http.log import begin_logs, log_event
    from mycel.surfaces.http.ownership import owned
    from mycel.surfaces.http.serving import most_streams, raise_handle_limit, run_service
    from mycel.wire.daemon_file import STAGING_FOLDER

    begin_logs(settings.log_level)
    handles = raise_handle_limit()
    streams = StreamLimits()
    streams = replace(streams, in_total=most_streams(handles, wanted=streams.in_total))
    # Whatever cannot be used, the data directory or the address, is an error now and not later.
    with (
        owned(settings.data) as ownership,
        _listen(host, port) as listener,
        call.files(for_others=True) as workspace,
    ):
        url = _url(host, listener)
        keep_operator_token(workspace, settings.data)

        def ready() -> None:
            ownership.announce(url, version=__version__)
            log_event("listening", f"Mycel {__version__} listens on {url}", url=url, version=__version__)
            if call.as_json:
                print_json({"url": url, "version": __version__})

        app = create_app(
            workspace,
            host=host,
            secret=ownership.secret,
            settings=settings,
            stream_limits=streams,
            staging_folder=settings.data / STAGING_FOLDER,
        )
        app.state.service.staging.clear()
        run_service(
            app,
            listener,
            ready=ready,
            settled=workspace.work_beside,
            limits=ConnectionLimits.of(settings, handles=handles),
            stop_when_idle=idle_limit,
        )
    log_event("stopped", "the service has stopped")


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        why = ((isinstance(error, OSError) and error.strerror) or "no valid address").partition(" (")[0]
        raise Misconfigured(f"cannot listen on {host}, port {port}: {why}; try another --host or --port") from None


def _url(host: str, listener: socket.socket) -> str:
    """As this machine reaches it: by the name under which it was asked to listen, if that is one to call."""
    address = ip_address(listener.getsockname()[0])
    loopback = "::1" if address.version == 6 else "127.0.0.1"
    name = loopback if address.is_unspecified else host
    return f"http://{f'[{name}]' if ':' in name else name}:{listener.getsockname()[1]}"
