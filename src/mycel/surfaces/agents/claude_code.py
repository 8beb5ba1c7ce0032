"""Claude Code: its settings of user and project, and its plugin."""

from __future__ import annotations

from pathlib import Path

from mycel.surfaces.agents.agent import (
    USER,
    Agent,
    Connection,
    Entry,
    Files,
    Hindrance,
    bearer,
    grouped_hook,
    is_own_plugin,
)
from mycel.surfaces.agents.site import Setup, Site, read_json, site_of, table_in
from mycel.surfaces.hooks import hook_event as told


def _server(connection: Connection) -> Entry:
    """Its tools are few: in every request, not behind a search for tools."""
    reference, always = "${MYCEL_TOKEN}", {"alwaysLoad": True}
    if connection.url:
        return {"type": "http", "url": connection.endpoint, "headers": bearer(reference), **always}
    return {**connection.started(reference), **always}


def _settings(site: Site) -> list[Path]:
    """What wins comes first: of the project one works in, then of the user."""
    user = site_of(site.agent, USER).hooks_file
    folder = site.project_root / ".claude"
    return list(dict.fromkeys([folder / "settings.local.json", folder / "settings.json", user]))


def _hindrance(setup: Setup, _data: Path) -> Hindrance | None:
    for path in _settings(setup.site):
        value = read_json(path).get("disableAllHooks")
        if value is True:
            return Hindrance(f"it runs no hooks: {path} says disableAllHooks", "take that out of the file")
        if value is not None:
            return None
    return None


def _plugin(site: Site) -> str | None:
    states: dict[str, object] = {}
    for path in reversed(_settings(site)):
        states |= table_in(read_json(path), "enabledPlugins")
    return next((one for one, state in states.items() if is_own_plugin(one) and state is True), None)


AGENT = Agent(
    told.CLAUDE_CODE,
    "Claude Code",
    user=Files(".claude.json", ".claude/settings.json"),
    project=Files(".mcp.json", ".claude/settings.json"),
    server=_server,
    hook=grouped_hook,
    folder=".claude",
    moved_by="CLAUDE_CONFIG_DIR",
    hindrance=_hindrance,
    plugin=_plugin,
    plugin_removal="claude plugin uninstall",
    no_reflection="",
)
