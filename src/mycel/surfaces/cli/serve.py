"""The commands that programs start: an MCP server, the hooks of coding agents, and the HTTP service."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain.fields import lifetime
from mycel.errors import InvalidInput, Misconfigured
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.output import print_json
from mycel.surfaces.hooks.hook_event import AGENTS
from mycel.surfaces.mcp.tool_sets import TOOL_SETS, ToolSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from mycel.embedded.working_memory import WorkingMemory
    from mycel.embedded.workspace import Workspace
    from mycel.settings import Settings


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Agents", {"mcp": mcp})
    add_commands(app, "Run", {"hook": hook, "serve": serve})


def mcp(
    context: typer.Context,
    tools: Annotated[
        str,
        typer.Option(metavar="SET", help="Which tools the model gets: coding, team, swarm or full."),
    ] = TOOL_SETS[0],
    project: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The project it works in; by default that of the current folder."),
    ] = None,
    session: Annotated[
        str, typer.Option(metavar="ID", help="The session whose working memory it goes on with.")
    ] = "default",
) -> None:
    """Serve MCP over standard input and output, for a coding agent that starts it.

    Who it is says the token in MYCEL_TOKEN, --as or MYCEL_AGENT. The service is started if none runs; over HTTP it
    serves the same at /mcp.
    """
    call = invocation(context)
    if tools not in TOOL_SETS:
        raise InvalidInput(f"must be one of {', '.join(TOOL_SETS)}", field="tools")
    if sys.stdin.isatty():
        typer.echo("mycel mcp speaks to an agent over standard input; `mycel install AGENT` sets one up.", err=True)

    from mycel.surfaces.hooks.environment import read_environment
    from mycel.surfaces.mcp.command import Asked, by_the_service, place_of, relay

    settings = read_environment(call.settings().data)
    if by_the_service(settings, ToolSet(tools)):
        relay(settings, Asked(tools, project, call.member, call.team))
        return
    import logging

    from mycel.surfaces.mcp.stdio import run_stdio

    # Standard output is the agent's.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    run_stdio(
        lambda: call.memory_in(call.lasting()),
        tools=ToolSet(tools),
        working=_working(call, session),
        place=place_of(project),
    )


def _working(call: Invocation, session: str) -> Callable[[str], WorkingMemory]:
    from mycel.embedded.working_memory import WorkingMemory

    def working(agent_id: str) -> WorkingMemory:
        memory = WorkingMemory(agent_id, session_id=session, data=call.settings().data)
        memory.snapshot_on_exit()
        return memory

    return working


def hook(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=f"Which agent calls: {', '.join(AGENTS)}.")],
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event, by the agent's own name of it.")],
) -> None:
    """Answer a hook of a coding agent: its JSON on standard input, an answer in its own form on standard output.

    Sessions are given what the team knows and are captured in turn. Nothing that goes wrong reaches the agent: see
    hooks/hooks.log in the data directory.
    """
    from mycel.surfaces.hooks.command import Asked
    from mycel.surfaces.hooks.command import hook as answer

    shared = invocation(context)
    answer(Asked(agent.lower(), event, shared.member, shared.data))


DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7077


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
    from mycel.wire.daemon_file import STAGING_FOLDER, database_mark

    begin_logs(settings.log_level)
    handles = raise_handle_limit()
    streams = StreamLimits()
    streams = replace(streams, in_total=most_streams(handles, wanted=streams.in_total))
    # Whatever cannot be used, the data directory or the address, is an error now and not later.
    with (
        # Who starts a service that lasts means this one, whatever some command has started meanwhile.
        owned(settings.data, takes_over=idle_limit is None) as ownership,
        _listen(host, port) as listener,
        call.files(for_others=True) as workspace,
    ):
        url = _url(host, listener)
        keep_operator_token(workspace, settings.data)

        def ready() -> None:
            database, on_demand = database_mark(settings.database_url), idle_limit is not None
            ownership.announce(url, version=__version__, database=database, on_demand=on_demand)
            log_event("listening", f"Mycel {__version__} listens on {url}", url=url, version=__version__)
            if call.as_json:
                print_json({"url": url, "version": __version__})
            elif sys.stdout.isatty():
                typer.echo(f"Pages for people: {_sign_in_link(workspace, settings, url)}")

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


def _sign_in_link(workspace: Workspace, settings: Settings, url: str) -> str:
    """Works once, within ten minutes; `mycel open` makes another."""
    from urllib.parse import urlencode

    from mycel.domain.team import OPERATOR
    from mycel.surfaces.http.browser_login import LINK_LIFETIME, SIGN_IN
    from mycel.wire.daemon_file import read_operator_token

    secret = read_operator_token(settings.data)
    if secret is None:
        return settings.public_url or url
    code, _ = workspace.sign_in(secret).offer_link(OPERATOR, lifetime=LINK_LIFETIME)
    return f"{settings.public_url or url}{SIGN_IN}?{urlencode({'code': code})}"


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
