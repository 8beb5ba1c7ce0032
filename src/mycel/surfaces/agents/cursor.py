"""Cursor: its files of servers and hooks."""

from __future__ import annotations

from mycel.surfaces.agents.agent import Agent, Connection, Entry, Files, bearer
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.hook_event import Event


def _server(connection: Connection) -> Entry:
    reference = "${env:MYCEL_TOKEN}"
    if connection.url:
        return {"url": connection.endpoint, "headers": bearer(reference)}
    return connection.started(reference)


def _hook(_event: Event, line: str) -> Entry:
    return {"command": line}


AGENT = Agent(
    told.CURSOR,
    "Cursor",
    user=Files(".cursor/mcp.json", ".cursor/hooks.json"),
    project=Files(".cursor/mcp.json", ".cursor/hooks.json"),
    server=_server,
    hook=_hook,
    beside_hooks={"version": 1},
)
