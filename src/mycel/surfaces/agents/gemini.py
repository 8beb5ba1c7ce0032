"""Gemini CLI: one file of settings for servers and hooks, and its switches."""

from __future__ import annotations

from pathlib import Path

from mycel.surfaces.agents.agent import (
    SERVER,
    TIMEOUT_SECONDS,
    USER,
    Agent,
    Connection,
    Entry,
    Files,
    Hindrance,
    bearer,
)
from mycel.surfaces.agents.site import Setup, Site, read_json, site_of, table_in
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.hook_event import Event

_FILE = ".gemini/settings.json"


def _server(connection: Connection) -> Entry:
    reference = "${MYCEL_TOKEN}"
    if connection.url:
        return {"httpUrl": connection.endpoint, "headers": bearer(reference)}
    return connection.started(reference)


def _hook(event: Event, line: str) -> Entry:
    matcher = {"matcher": event.tools} if event.tools else {}
    hook = {"name": SERVER, "type": "command", "command": line, "timeout": TIMEOUT_SECONDS * 1000}
    return {**matcher, "hooks": [hook]}


def _settings(site: Site) -> list[Path]:
    """What wins comes first."""
    return list(dict.fromkeys([site.project_root / _FILE, site_of(site.agent, USER).hooks_file]))


def _hindrance(setup: Setup, _data: Path) -> Hindrance | None:
    enabled: object = None
    for path in _settings(setup.site):
        config = table_in(read_json(path), "hooksConfig")
        enabled = config.get("enabled") if enabled is None else enabled
        if enabled is False:
            return Hindrance(f"it runs no hooks: {path} says hooksConfig.enabled = false", "take that out of the file")
        disabled = config.get("disabled")
        if isinstance(disabled, list) and SERVER in disabled:
            advice = f"`/hooks enable {SERVER}` in gemini, or take it out of the list"
            return Hindrance(f"its hooks are switched off: {path} has {SERVER} in hooksConfig.disabled", advice)
    return None


AGENT = Agent(
    told.GEMINI,
    "Gemini CLI",
    user=Files(_FILE, _FILE),
    project=Files(_FILE, _FILE),
    server=_server,
    hook=_hook,
    url_key="httpUrl",
    comments=True,
    hindrance=_hindrance,
)
