"""OpenCode: its settings, and the plugin that hands its events to `mycel hook`, a file that is ours as a whole."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from importlib.resources import files
from typing import cast

from mycel.surfaces.agents.agent import Agent, Connection, Entry, Files, bearer
from mycel.surfaces.agents.json_settings import NotEditable
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.hook_event import name_of

MARK = "// Written by `mycel install opencode`"
_COMMAND = re.compile(r"^const COMMAND = (\[.*\]);$", re.MULTILINE)


def _plugin_text(connection: Connection) -> str:
    """The program of this package, with the command it is to run; the event comes after these words."""
    program = files("mycel.surfaces.hooks").joinpath("opencode.js").read_text("utf-8")
    command, verb, agent, _, *options = connection.hook_words(told.OPENCODE, "")
    line = json.dumps([command, verb, agent, *options], ensure_ascii=False)
    return _COMMAND.sub(lambda _: f"const COMMAND = {line};", program)


@dataclass(frozen=True, slots=True)
class _PluginFile:
    wanted: str

    def merged(self, text: str) -> str:
        if text.strip() and MARK not in text:
            raise NotEditable("it is somebody else's plugin")
        return self.wanted

    def without_own(self, text: str, *, before: str | None) -> str:
        return "" if MARK in text else text

    def present(self, text: str) -> tuple[Entry | None, list[str]]:
        """The line that the plugin runs when a session starts."""
        found = _COMMAND.search(text) if MARK in text else None
        if found is None:
            return None, []
        command, verb, agent, *options = cast("list[str]", json.loads(found[1]))
        event = name_of(told.OPENCODE, told.SESSION_STARTED)
        return None, [shlex.join([command, verb, agent, event, *options])]


def _server(connection: Connection) -> Entry:
    reference = "{env:MYCEL_TOKEN}"
    if connection.url:
        return {"type": "remote", "url": connection.endpoint, "headers": bearer(reference), "enabled": True}
    line = [connection.command, *connection.arguments()]
    return {"type": "local", "command": line, "environment": connection.variables(reference), "enabled": True}


def _plugin_file(connection: Connection) -> _PluginFile:
    return _PluginFile(_plugin_text(connection))


AGENT = Agent(
    told.OPENCODE,
    "OpenCode",
    user=Files(".config/opencode/opencode.json", ".config/opencode/plugins/mycel.js"),
    project=Files("opencode.json", ".opencode/plugins/mycel.js"),
    server=_server,
    folder=".config",
    moved_by="XDG_CONFIG_HOME",
    servers_key="mcp",
    variables_key="environment",
    comments=True,
    hooks_form=_plugin_file,
)
