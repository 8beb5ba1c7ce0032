"""An agent in one place, of the user or of a project: its files, what shall stand in each, and what stands there."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import parse_qs, urlsplit

from mycel.settings import folder_by
from mycel.surfaces.agents.agent import PROJECT, USER, Agent, Connection, Entry
from mycel.surfaces.agents.json_settings import JsonSettings, JsonText, NotEditable
from mycel.surfaces.agents.probe import option_of, server_of
from mycel.surfaces.agents.records import Installed
from mycel.surfaces.hooks.hook_event import REFLECT, installed_events
from mycel.surfaces.hooks.place import find_place


class Form(Protocol):
    """How our entries stand in one file."""

    def merged(self, text: str) -> str: ...
    def without_own(self, text: str, *, before: str | None) -> str: ...
    def present(self, text: str) -> tuple[Entry | None, list[str]]: ...


@dataclass(frozen=True, slots=True)
class Site:
    """An agent in a scope: of the user, or of the project below `root`."""

    agent: Agent
    scope: str
    root: Path
    moved_to: Path | None = None

    @property
    def servers_file(self) -> Path:
        return Path(self.agent.places(self.scope, self.root, moved_to=self.moved_to).servers)

    @property
    def hooks_file(self) -> Path:
        return Path(self.agent.places(self.scope, self.root, moved_to=self.moved_to).hooks)

    @property
    def project_root(self) -> Path:
        """Its own, or for the user that of the project one works in."""
        return self.root if self.scope == PROJECT else find_place(Path.cwd()).root

    def forms(self, connection: Connection) -> dict[Path, Form]:
        """The files, and what shall stand in each."""
        agent, server = self.agent, self.agent.server(connection)
        entries = {
            event.name: agent.hook(event, connection.hook_line(agent.name, event.name))
            for event in (installed_events(agent.name) if agent.hook else ())
            if agent.hook
        }
        if self.servers_file == self.hooks_file:
            whole = JsonSettings(agent.servers_key, server, entries, agent.beside_hooks, agent.comments)
            return {self.servers_file: whole}
        servers: Form = (
            agent.servers_form(agent.servers_key, server)
            if agent.servers_form
            else JsonSettings(agent.servers_key, server, {}, {}, agent.comments)
        )
        hooks: Form = (
            agent.hooks_form(connection)
            if agent.hooks_form
            else JsonSettings("", None, entries, agent.beside_hooks, agent.comments)
        )
        return {self.servers_file: servers, self.hooks_file: hooks}


@dataclass(frozen=True, slots=True)
class Setup:
    """An agent somewhere. `installed_at` is when its files were written, as far as that is known."""

    site: Site
    record: Installed | None
    server: Entry | None
    hooks: Sequence[str]
    installed_at: float = 0.0
    # The name of the plugin, with its marketplace.
    plugin: str | None = None

    @property
    def name(self) -> str:
        if self.plugin is not None:
            return f"{self.site.agent.name} plugin"
        where = "" if self.site.scope == USER else f" in {self.site.root}"
        return f"{self.site.agent.name}{where}"

    @property
    def member(self) -> str:
        """As whom its hooks act where no token says otherwise."""
        return (option_of(self.hooks[0], "--as") if self.hooks else None) or self.site.agent.name

    @property
    def data(self) -> str | None:
        return option_of(self.hooks[0], "--data") if self.hooks else None

    @property
    def reflects(self) -> bool:
        """Whether it is asked once in a session to save what it learned."""
        return any(REFLECT in line.split() for line in self.hooks)

    @property
    def tools(self) -> str | None:
        """The tool set that its server is asked for, where one is named."""
        agent, entry = self.site.agent, self.server or {}
        started = server_of(entry, variables=agent.variables_key)
        if started is not None:
            return option_of(started.line, "--tools")
        named = parse_qs(urlsplit(str(entry.get(agent.url_key, ""))).query).get("tools", [])
        return named[0] if named else None

    @property
    def install_command(self) -> str:
        scope = " --project" if self.site.scope == PROJECT else ""
        asks = f" {REFLECT}" if self.reflects else ""
        tools = f" --tools {self.tools}" if self.tools else ""
        return f"mycel install {self.site.agent.name}{scope}{asks}{tools}"


def site_of(agent: Agent, scope: str) -> Site:
    if scope == PROJECT:
        return Site(agent, PROJECT, find_place(Path.cwd()).root)
    moved_to = folder_by(agent.moved_by) if agent.moved_by else None
    return Site(agent, USER, Path.home(), moved_to)


def read_json(path: Path) -> dict[str, Any]:
    """What cannot be read says nothing."""
    try:
        return cast("dict[str, Any]", JsonText(path.read_text("utf-8"), comments=True).value)
    except (OSError, UnicodeDecodeError, NotEditable):
        return {}


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def table_in(value: dict[str, Any], name: str) -> dict[str, Any]:
    """Empty where there is none, or something else."""
    found = value.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
