"""Whether the agents that are set up can use it: their entries, the commands in them, and what these answer."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from mycel.errors import MycelError
from mycel.settings import Settings
from mycel.surfaces.agents.connecting import connection_of, site_of
from mycel.surfaces.agents.findings import Finding, ok, problem, warning
from mycel.surfaces.agents.installing import Site, plan_install
from mycel.surfaces.agents.json_text import NotEditable
from mycel.surfaces.agents.probing import ask_hook, list_tools, option_of, program_of, server_of
from mycel.surfaces.agents.records import Installed, Records
from mycel.surfaces.agents.shapes import Entry
from mycel.surfaces.agents.table import AGENTS, PROJECT, USER
from mycel.surfaces.hooks import happening as told
from mycel.surfaces.hooks.events import name_of
from mycel.surfaces.hooks.place import find_place

# An agent waits for its hooks.
SLOW_SECONDS = 0.6
_FAILURES = (OSError, ValueError, subprocess.SubprocessError)


@dataclass(frozen=True, slots=True)
class Setup:
    """An agent somewhere, as its files say it."""

    site: Site
    record: Installed | None
    server: Entry | None
    hooks: Sequence[str]

    @property
    def name(self) -> str:
        where = "" if self.site.scope == USER else f" in {self.site.root}"
        return f"{self.site.agent.name}{where}"

    @property
    def member(self) -> str:
        """As whom its hooks act."""
        return option_of(self.hooks[0], "--as") or self.site.agent.name

    @property
    def install_command(self) -> str:
        scope = " --project" if self.site.scope == PROJECT else ""
        return f"mycel install {self.site.agent.name}{scope}"


def check_agents(settings: Settings) -> list[Finding]:
    """Of the user, of the project of this folder, and of others that were set up by way of this data directory."""
    setups = [one for one in _setups(settings) if one.record or one.server or one.hooks]
    if not setups:
        return [warning("agents", "no coding agent is set up", "connect one: mycel install claude-code")]
    # Hooks one by one: beside each other they would look slower than they are.
    hooks = [_hook_result(one, settings.data) for one in setups]
    with ThreadPoolExecutor() as pool:
        servers = _Servers(pool)
        tools = [servers.tools(one) for one in setups]
        results = zip(setups, hooks, tools, strict=True)
        findings = [_check(setup, settings, took, listed) for setup, took, listed in results]
    return [*findings, *_check_doubles(setups)]


def _setups(settings: Settings) -> Iterator[Setup]:
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
        yield Setup(site, record, *_present(site, settings))


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


def _hook_result(setup: Setup, folder: Path) -> float | Exception | None:
    """How long the hook of a session's start took, or why it failed."""
    start = f" hook {setup.site.agent.name} {name_of(setup.site.agent.name, told.SESSION_STARTED)}"
    line = next((one for one in setup.hooks if start in one), None)
    try:
        return None if line is None else ask_hook(line, folder=folder)
    except _FAILURES as error:
        return error


class _Servers:
    """Each is started once, however many agents have it."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._asked: dict[tuple[str, ...], Future[list[str]]] = {}

    def tools(self, setup: Setup) -> Future[list[str]] | None:
        server = server_of(setup.server or {})
        if server is None:
            return None
        if server.line not in self._asked:
            self._asked[server.line] = self._pool.submit(list_tools, server)
        return self._asked[server.line]


def _check(
    setup: Setup, settings: Settings, took: float | Exception | None, tools: Future[list[str]] | None
) -> Finding:
    again = f"run {setup.install_command}"
    if setup.server is None or not setup.hooks:
        missing = "MCP servers" if setup.server is None else "hooks"
        return problem(setup.name, f"there is nothing of Mycel among its {missing}", again)
    if (unknown := _unknown_program(setup)) is not None:
        advice = again if Path(unknown).is_absolute() else "put its folder on the PATH that the agent has"
        return problem(setup.name, f"{unknown} cannot be run", advice)
    if isinstance(took, Exception):
        return problem(setup.name, f"its hook fails: {_why(took)}", again)
    try:
        listed = tools.result() if tools else None
    except _FAILURES as error:
        return problem(setup.name, f"its MCP server fails: {_why(error)}", "run `mycel mcp` by hand to see why")
    text = _told(setup, took, listed)
    if _differs(setup, settings):
        return warning(setup.name, f"{text}; not as this Mycel would set it up", again)
    if took is not None and took > SLOW_SECONDS:
        return warning(setup.name, text, "the agent waits for its hooks: see what else keeps the machine busy")
    return ok(setup.name, text)


def _unknown_program(setup: Setup) -> str | None:
    server = server_of(setup.server or {})
    programs = [program_of(line) for line in (setup.hooks[0], *([server.line] if server else []))]
    return next((one for one in programs if shutil.which(one) is None), None)


def _told(setup: Setup, took: float | None, listed: list[str] | None) -> str:
    hook = "" if took is None else f", a hook takes {took * 1000:.0f} ms"
    server = setup.server or {}
    tools = f"{len(listed)} tools" if listed is not None else f"tools at {server.get('url') or server.get('httpUrl')}"
    return f"acts as {setup.member}{hook}, {tools}"


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return "it does not end"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _differs(setup: Setup, settings: Settings) -> bool:
    """Another program than the one that asks may have been installed on purpose, but not older entries."""
    connection = connection_of(settings, scope=setup.site.scope, member=setup.member)
    used = replace(connection, command=program_of(setup.hooks[0]))
    try:
        return any(not change.is_none for change in plan_install(setup.site, used))
    except MycelError:
        return True


def _check_doubles(setups: Sequence[Setup]) -> list[Finding]:
    here = find_place(Path.cwd()).root
    users = {one.site.agent.name for one in setups if one.site.scope == USER and one.hooks}
    return [
        warning(
            one.name,
            "it is set up for the user as well: its hooks run twice here",
            f"keep one: mycel uninstall {one.site.agent.name}",
        )
        for one in setups
        if one.site.scope == PROJECT and one.site.root == here and one.hooks and one.site.agent.name in users
    ]
