"""`mycel mcp` as an agent starts it: by way of the service, with as little to load as a hook."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mycel.surfaces.hooks.environment import AUTO, HookSettings, read_environment
from mycel.surfaces.mcp.tool_sets import TOOL_SETS, ToolSet

_OPTIONS = {"--tools": "tools", "--project": "project", "--as": "member", "--team": "team", "--data": "data"}


class Asked(NamedTuple):
    tools: str = TOOL_SETS[0]
    project: str | None = None
    member: str | None = None
    team: str | None = None
    data: str | None = None


def run(words: Sequence[str]) -> bool:
    """Whether it was done here: the command line does the rest, and says what is wrong with a line."""
    asked = _read_words(words)
    # A name on the line is one that the command line knows, or refuses.
    if asked is None or asked.member or asked.tools not in TOOL_SETS or sys.stdin.isatty():
        return False
    settings = read_environment(asked.data)
    if settings.wrong or not by_the_service(settings, ToolSet(asked.tools)):
        return False
    relay(settings, asked)
    return True


def by_the_service(settings: HookSettings, tools: ToolSet) -> bool:
    """Working memory lives in the agent's own process, and so do its tools."""
    return not tools.keeps_working_memory and (settings.url is not None or settings.daemon == AUTO)


def relay(settings: HookSettings, asked: Asked) -> None:
    """Until the agent closes its side, or is interrupted."""
    from mycel.surfaces.mcp.relay import Endpoint, Relay

    headers = _acting(settings, asked)

    def find(*, again: bool) -> Endpoint:
        url, token, secret = (None if again else _named_service(settings)) or _service(settings)
        return Endpoint(url, {"authorization": f"Bearer {token}", **headers}, secret)

    query = {"tools": asked.tools, **place_of(asked.project)}
    # Python would see to it after the next line, if it comes at the wrong moment.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Relay(find, query=query, out=sys.stdout.buffer).run(iter(sys.stdin.buffer.readline, b""))


def place_of(project: str | None) -> dict[str, str]:
    """As hooks find it: the repository of the folder in which the agent was started."""
    from mycel.surfaces.hooks.place import find_place

    found = find_place(Path.cwd()).belongings()
    return found if project is None else {**found, "project": project}


def _named_service(settings: HookSettings) -> tuple[str, str, str] | None:
    """As its files say. Nothing has answered yet; whoever does must prove to know the secret first."""
    from mycel.surfaces.hooks.service import read_named

    named = None if settings.url is not None else read_named(settings.data)
    token = None if named is None else settings.token or named.token
    return (named.url, token, named.secret) if named and token else None


def _service(settings: HookSettings) -> tuple[str, str, str | None]:
    """Its address, the token for it, and the secret by which one of this machine proves itself."""
    from mycel.errors import Misconfigured

    if settings.url is not None:
        if settings.token is None:
            raise Misconfigured("MYCEL_URL names a service: set MYCEL_TOKEN to a token of it as well")
        return settings.url, settings.token, None
    from mycel.client.daemon import ensure_daemon

    daemon = ensure_daemon(settings.data)
    token = settings.token or daemon.token
    if token is None:
        raise Misconfigured(f"the service at {daemon.url} has no operator token to read: set MYCEL_TOKEN")
    return daemon.url, token, daemon.secret


def _acting(settings: HookSettings, asked: Asked) -> Mapping[str, str]:
    """A token says who it is, unless it is the operator's and somebody is named on the line."""
    member = asked.member if settings.token else asked.member or settings.agent
    given = {"mycel-as": None if member == "operator" else member, "mycel-team": None if member else asked.team}
    return {name: value for name, value in given.items() if value}


def _read_words(words: Sequence[str]) -> Asked | None:
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, mark, value = word.partition("=")
        if name not in _OPTIONS:
            return None
        given[_OPTIONS[name]] = value if mark else next(rest, "")
    return Asked(**given) if all(given.values()) else None
