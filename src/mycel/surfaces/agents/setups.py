"""The agents that are set up, as their files say it: by `mycel install`, by hand, or by a plugin."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mycel.settings import Settings
from mycel.surfaces.agents.connection import COMMAND, connection_of, site_of
from mycel.surfaces.agents.install import Site
from mycel.surfaces.agents.json_text import JsonText, NotEditable
from mycel.surfaces.agents.probe import option_of
from mycel.surfaces.agents.records import Installed, Records
from mycel.surfaces.agents.shapes import SERVER, Connection, Entry
from mycel.surfaces.agents.table import AGENTS, PROJECT, USER
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.events import installed_events
from mycel.surfaces.hooks.place import find_place

# Both agents name a plugin with the marketplace it is from.
_OF_MARKETPLACE = "@"


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
    def install_command(self) -> str:
        scope = " --project" if self.site.scope == PROJECT else ""
        return f"mycel install {self.site.agent.name}{scope}"


def find_setups(settings: Settings) -> list[Setup]:
    """Of the user, of the project of this folder, and of others that were set up by way of this data directory."""
    found = [one for one in _installed(settings) if one.record or one.server or one.hooks]
    return [*found, *_plugins()]


def _installed(settings: Settings) -> Iterator[Setup]:
    records = Records(settings.data)
    sites = [site_of(agent, scope) for agent in AGENTS.values() for scope in (USER, PROJECT)]
    known = {(one.agent.name, one.scope, str(one.root)) for one in sites}
    for record in records.all():
        is_new = (record.agent, record.scope, record.root) not in known
        if is_new and record.agent in AGENTS and record.scope == PROJECT and Path(record.root).is_dir():
            sites.append(Site(AGENTS[record.agent], PROJECT, Path(record.root)))
    for site in sites:
        if site.scope == PROJECT and site.root == Path.home():
            continue
        record = records.find(site.agent.name, site.scope, site.root)
        installed_at = records.kept_at(site.agent.name, site.scope, site.root) or _moment(hooks_file(site))
        yield Setup(site, record, *_present(site, settings), installed_at=installed_at)


def _present(site: Site, settings: Settings) -> tuple[Entry | None, list[str]]:
    server: Entry | None = None
    lines: list[str] = []
    for path, form in site.forms(connection_of(settings, scope=site.scope, member=site.agent.name)).items():
        try:
            found, hooks = form.present(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, NotEditable):
            continue
        server, lines = server or found, [*lines, *hooks]
    return server, lines


def _plugins() -> Iterator[Setup]:
    """What they run is what the table would install, by the name of the command alone."""
    for name, enabled in ((told.CLAUDE_CODE, _claude_plugin()), (told.CODEX, _codex_plugin())):
        if enabled is None:
            continue
        agent = AGENTS[name]
        connection = Connection(COMMAND, name)
        lines = [connection.hook_line(name, event.name) for event in installed_events(name)]
        yield Setup(site_of(agent, USER), None, agent.server(connection), lines, plugin=enabled)


def _claude_plugin() -> str | None:
    states: dict[str, object] = {}
    for path in reversed(claude_settings(site_of(AGENTS[told.CLAUDE_CODE], USER))):
        states |= _table(read_json(path), "enabledPlugins")
    return next((one for one, state in states.items() if _is_ours(one) and state is True), None)


def _codex_plugin() -> str | None:
    plugins = _table(read_toml(config_file(site_of(AGENTS[told.CODEX], USER))), "plugins")
    return next((one for one in plugins if _is_ours(one) and _table(plugins, one).get("enabled") is not False), None)


def _is_ours(plugin: str) -> bool:
    return plugin.partition(_OF_MARKETPLACE)[0] == SERVER


def hooks_file(site: Site) -> Path:
    return Path(site.agent.places(site.scope, site.root, moved_to=site.moved_to).hooks)


def config_file(site: Site) -> Path:
    return Path(site.agent.places(site.scope, site.root, moved_to=site.moved_to).servers)


def claude_settings(site: Site) -> list[Path]:
    """What wins comes first: of the project one works in, then of the user."""
    root = site.root if site.scope == PROJECT else find_place(Path.cwd()).root
    user = hooks_file(site_of(site.agent, USER))
    found = [root / ".claude/settings.local.json", root / ".claude/settings.json", user]
    return list(dict.fromkeys(found))


def gemini_settings(site: Site) -> list[Path]:
    root = site.root if site.scope == PROJECT else find_place(Path.cwd()).root
    return list(dict.fromkeys([root / ".gemini/settings.json", hooks_file(site_of(site.agent, USER))]))


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


def _table(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _moment(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
