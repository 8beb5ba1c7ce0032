"""Writes the plugin folders of Claude Code and Codex from the table that installs: `python -m scripts.plugins`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mycel import __version__
from mycel.surfaces.agents.agent import SERVER, Connection
from mycel.surfaces.agents.json_settings import HOOKS
from mycel.surfaces.agents.registry import AGENTS
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.hook_event import installed_events

ROOT = Path(__file__).resolve().parents[1]
ABOUT = {
    "name": "mycel",
    "version": __version__,
    "description": "The shared memory of a team of agents: sessions begin with what the team knows, and are captured.",
    "license": "Apache-2.0",
}


def main() -> None:
    for name, text in plugin_files().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def plugin_files() -> dict[str, str]:
    claude, codex = f"plugins/{told.CLAUDE_CODE}", f"plugins/{told.CODEX}"
    parts = {"mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
    listed = {"name": ABOUT["name"], "description": ABOUT["description"]}
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    local = {"source": {"source": "local", "path": f"./{codex}"}, "policy": policy, "category": "Productivity"}
    files: dict[str, Any] = {
        # Claude Code finds the other files by their places.
        f"{claude}/.claude-plugin/plugin.json": ABOUT,
        f"{codex}/.codex-plugin/plugin.json": {**ABOUT, **parts},
        ".claude-plugin/marketplace.json": {
            "name": "mycel",
            "owner": {"name": "The maintainers of Mycel"},
            "plugins": [{**listed, "source": f"./{claude}"}],
        },
        ".agents/plugins/marketplace.json": {"name": "mycel", "plugins": [{**listed, **local}]},
    }
    for name, folder in ((told.CLAUDE_CODE, claude), (told.CODEX, codex)):
        connection = Connection("mycel", name)
        files[f"{folder}/.mcp.json"] = {"mcpServers": {SERVER: AGENTS[name].server(connection)}}
        files[f"{folder}/hooks/hooks.json"] = {HOOKS: _hooks(name, connection)}
    return {name: json.dumps(content, indent=2) + "\n" for name, content in files.items()}


def _hooks(name: str, connection: Connection) -> dict[str, list[Any]]:
    hook = AGENTS[name].hook
    if hook is None:
        return {}
    return {event.name: [hook(event, connection.hook_line(name, event.name))] for event in installed_events(name)}


if __name__ == "__main__":
    main()
