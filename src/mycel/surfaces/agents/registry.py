"""The agents that are set up, as their files say it, and how each reaches Mycel."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from mycel.errors import InvalidInput, Misconfigured
from mycel.settings import DEFAULT, FILE_NAME, Settings, origin_of
from mycel.surfaces.agents import claude_code, codex, cursor, gemini, opencode
from mycel.surfaces.agents.agent import PROJECT, USER, Agent, Connection, Entry
from mycel.surfaces.agents.json_settings import NotEditable
from mycel.surfaces.agents.records import Records
from mycel.surfaces.agents.site import Setup, Site, changed_at, site_of
from mycel.surfaces.hooks.environment import default_data
from mycel.surfaces.hooks.hook_event import installed_events

AGENTS: Mapping[str, Agent] = {
    agent.name: agent for agent in (claude_code.AGENT, codex.AGENT, cursor.AGENT, gemini.AGENT, opencode.AGENT)
}
COMMAND = "mycel"


def agent_named(name: str) -> Agent:
    found = AGENTS.get(name.lower())
    if found is None:
        raise InvalidInput(f"must be one of {', '.join(AGENTS)}", field="agent")
    return found


def connection_of(
    settings: Settings, *, scope: str, member: str, reflects: bool = False, tools: str | None = None
) -> Connection:
    """Files of a project are others' as well: they hold no path of this machine."""
    names_token = origin_of("token", data=settings.data) not in {DEFAULT, FILE_NAME}
    data = settings.data.absolute()
    return Connection(
        find_command() if scope == USER else COMMAND,
        member,
        data=str(data) if scope == USER and data != default_data() else None,
        url=settings.url if names_token else None,
        names_token=names_token,
        reflects=reflects,
        tools=tools,
    )


def find_command() -> str:
    """The program that runs now, or that of its environment: an agent has another PATH than a terminal."""
    beside = Path(sys.executable).with_name(COMMAND)
    own = Path(sys.argv[0])
    for found in (own if own.name == COMMAND else beside, beside):
        if found.is_file():
            return str(found.absolute())
    elsewhere = shutil.which(COMMAND)
    if elsewhere is None:
        raise Misconfigured("the command `mycel` is not found: install the package so that it is on the PATH")
    return elsewhere


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
        installed_at = records.kept_at(site.agent.name, site.scope, site.root) or changed_at(site.hooks_file)
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
    for agent in AGENTS.values():
        site = site_of(agent, USER)
        enabled = agent.plugin(site) if agent.plugin else None
        if enabled is not None:
            connection = Connection(COMMAND, agent.name)
            lines = [connection.hook_line(agent.name, event.name) for event in installed_events(agent.name)]
            yield Setup(site, None, agent.server(connection), lines, plugin=enabled)
