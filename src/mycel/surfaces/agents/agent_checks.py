"""Whether the agents that are set up can use it: as whom they act, their entries, and what the commands answer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from mycel.domain.team import OPERATOR
from mycel.errors import MycelError
from mycel.settings import Settings, environment_with
from mycel.surfaces.agents.agent import TOKEN_VARIABLE, USER
from mycel.surfaces.agents.checks import Endpoint, Finding, ok, problem, warning
from mycel.surfaces.agents.install import plan_install
from mycel.surfaces.agents.probe import Server, ask_hook, list_tools, program_of, server_of
from mycel.surfaces.agents.registry import AGENTS, connection_of, find_setups
from mycel.surfaces.agents.site import Setup
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.clock import TimeUp, Unreachable
from mycel.surfaces.hooks.hook_event import name_of
from mycel.surfaces.hooks.place import find_place
from mycel.surfaces.hooks.service import Reply

UNAUTHORISED = 401
_REFERENCE = re.compile(r"\$?\{(?:env:)?([A-Z_]{1,60})\}")


@dataclass(frozen=True, slots=True)
class Identity:
    """`member` is None where nobody could say; `finding` is what is wrong."""

    member: str | None = None
    finding: Finding | None = None


def identity_of(setup: Setup, settings: Settings, service: Endpoint | None) -> Identity:
    """By the token in its entry, else by that of the environment; without one it is the member of its hooks."""
    url = _url_of(setup)
    own, named = _token_of(setup)
    # What starts on this machine reads the settings too; an agent that asks a service itself has its environment alone.
    token = own or (settings.token if url is None else environment_with({}).get(named or ""))
    if url is not None and token is None:
        text = f"its entry wants {named or TOKEN_VARIABLE}, which is not set here"
        return Identity(finding=warning(setup.name, text, "set it wherever the agent is started"))
    if token is None:
        return Identity(setup.member)
    asked = service if url is None else Endpoint(_base_of(url))
    where = "the token in its entry" if own else TOKEN_VARIABLE
    if asked is None:
        return Identity(setup.member)
    try:
        reply = asked.get("/api/me", token=token)
    except (TimeUp, Unreachable, ValueError) as error:
        return Identity(finding=_unanswered(setup, asked.url, error))
    if reply.status == UNAUTHORISED:
        advice = f"`mycel token issue {setup.member}` makes a new one; without any, {setup.member} acts"
        return Identity(finding=problem(setup.name, f"{where} is unknown, expired or revoked", advice))
    member = _member_in(reply)
    is_meant = own is None and named is not None
    if member is not None and member != setup.member and not is_meant:
        advice = f"take it away, or put one of {setup.member} in its place (`mycel token issue {setup.member}`)"
        text = f"acts as {member} by {where}, and was set up as {setup.member}"
        return Identity(member, warning(setup.name, text, advice))
    return Identity(member or setup.member)


def _unanswered(setup: Setup, url: str, error: Exception) -> Finding:
    text = f"{url} takes connections and does not answer" if isinstance(error, TimeUp) else f"nothing answers at {url}"
    advice = f"start the service there, or run {setup.install_command} to have one started when it is needed"
    return problem(setup.name, f"its MCP server is not there: {text}", advice)


def _url_of(setup: Setup) -> str | None:
    found = (setup.server or {}).get(setup.site.agent.url_key)
    return found if isinstance(found, str) else None


def _base_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/mcp')}"


def _token_of(setup: Setup) -> tuple[str | None, str | None]:
    """The token as it stands in the entry, or the name of the variable that has it."""
    agent, entry = setup.site.agent, setup.server or {}
    headers = {name.lower(): value for name, value in _texts(entry.get("headers")).items()}
    variables = _texts(entry.get(agent.variables_key))
    found = variables.get(TOKEN_VARIABLE) or headers.get("authorization", "").removeprefix("Bearer ").strip()
    reference = _REFERENCE.fullmatch(found)
    if reference is not None:
        return None, reference[1]
    passed = agent.token_variable(entry) if agent.token_variable else None
    if not found and isinstance(passed, str):
        return None, passed
    return found or None, None


def _texts(value: object) -> dict[str, str]:
    named = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    return {name: one for name, one in named.items() if isinstance(one, str)}


def _member_in(reply: Reply) -> str | None:
    try:
        found: object = json.loads(reply.body)
    except ValueError:
        return None
    member = cast("dict[str, object]", found).get("member_id") if isinstance(found, dict) else None
    return member if isinstance(member, str) else None


# An agent waits for its hooks.
SLOW_SECONDS = 0.6
_FAILURES = (OSError, ValueError, subprocess.SubprocessError)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the checks before have found out. `members` are the known ones with their teams, where that may be asked.

    `silence` says why nothing can be tried, where that is so.
    """

    settings: Settings
    service: Endpoint | None = None
    members: Mapping[str, str] | None = None
    silence: str | None = None


def check_agents(around: Surroundings) -> list[Finding]:
    setups = find_setups(around.settings)
    if not setups:
        return [warning("agents", "no coding agent is set up", f"connect one: mycel install {next(iter(AGENTS))}")]
    if around.silence is not None:
        untried = f"not tried, since {around.silence}"
        findings = [
            _check_files(one) or warning(one.name, untried, "see what is said about it above") for one in setups
        ]
        return [*findings, *_check_doubles(setups)]
    # Hooks one by one: beside each other they would look slower than they are.
    hooks = [_hook_result(one, around.settings.data) for one in setups]
    with ThreadPoolExecutor() as pool:
        servers = _Servers(pool)
        tools = [servers.tools(one) for one in setups]
        results = zip(setups, hooks, tools, strict=True)
        findings = [_check(setup, around, took, listed) for setup, took, listed in results]
    return [*findings, *_check_doubles(setups)]


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
        server = _server_of(setup)
        if server is None:
            return None
        if server.line not in self._asked:
            self._asked[server.line] = self._pool.submit(list_tools, server)
        return self._asked[server.line]


def _server_of(setup: Setup) -> Server | None:
    return server_of(setup.server or {}, variables=setup.site.agent.variables_key)


def _check_files(setup: Setup) -> Finding | None:
    """What is wrong with an agent's files, whatever they would do."""
    again = f"run {setup.install_command}"
    if setup.server is None or not setup.hooks:
        missing = "MCP servers" if setup.server is None else "hooks"
        return problem(setup.name, f"there is nothing of Mycel among its {missing}", again)
    if (unknown := _unknown_program(setup)) is not None:
        advice = again if Path(unknown).is_absolute() else "put its folder on the PATH that the agent has"
        return problem(setup.name, f"{unknown} cannot be run", advice)
    return None


def _check(
    setup: Setup, around: Surroundings, took: float | Exception | None, tools: Future[list[str]] | None
) -> Finding:
    again = f"run {setup.install_command}"
    if (wrong := _check_files(setup)) is not None:
        return wrong
    identity = identity_of(setup, around.settings, around.service)
    if identity.finding is not None:
        return identity.finding
    if isinstance(took, Exception):
        return problem(setup.name, f"its hook fails: {_why(took)}", again)
    try:
        listed = tools.result() if tools else None
    except _FAILURES as error:
        return problem(setup.name, f"its MCP server fails: {_why(error)}", "run `mycel mcp` by hand to see why")
    member = identity.member or setup.member
    text = _told(setup, _with_team(member, around), took, listed)
    agent = setup.site.agent
    hindrance = agent.hindrance(setup, Path(setup.data or around.settings.data)) if agent.hindrance else None
    if hindrance is not None and hindrance.is_certain:
        return warning(setup.name, f"{text}; {hindrance.text}", hindrance.advice)
    if around.members is not None and member != OPERATOR and member not in around.members:
        text = f"{text}; there is no member {member}, so that it is nobody in `executive`"
        return warning(setup.name, text, again)
    if setup.plugin is None and _differs(setup, around.settings):
        return warning(setup.name, f"{text}; not as this Mycel would set it up", again)
    if took is not None and took > SLOW_SECONDS:
        return warning(setup.name, text, "the agent waits for its hooks: see what else keeps the machine busy")
    return ok(setup.name, text if hindrance is None else f"{text}; {hindrance.text}: {hindrance.advice}")


def _unknown_program(setup: Setup) -> str | None:
    server = _server_of(setup)
    programs = [program_of(line) for line in (setup.hooks[0], *([server.line] if server else []))]
    return next((one for one in programs if shutil.which(one) is None), None)


def _with_team(member: str, around: Surroundings) -> str:
    team = None if around.members is None else around.members.get(member)
    return member if team is None else f"{member} of {team}"


def _told(setup: Setup, who: str, took: float | None, listed: list[str] | None) -> str:
    hook = "" if took is None else f", a hook takes {took * 1000:.0f} ms"
    tools = f"{len(listed)} tools" if listed is not None else f"tools at {_url_of(setup)}"
    asked = ", is asked once in a session what it learned" if setup.reflects else ""
    return f"acts as {who}{hook}, {tools}{asked}"


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return "it does not end"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _differs(setup: Setup, settings: Settings) -> bool:
    """Another program than the one that asks may have been installed on purpose, but not older entries."""
    connection = connection_of(
        settings, scope=setup.site.scope, member=setup.member, reflects=setup.reflects, tools=setup.tools
    )
    used = replace(connection, command=program_of(setup.hooks[0]))
    try:
        return any(not change.is_none for change in plan_install(setup.site, used))
    except MycelError:
        return True


def _check_doubles(setups: Sequence[Setup]) -> Iterator[Finding]:
    """Of the user, of the project of this folder and of a plugin, everything that is more than one runs each time."""
    here = find_place(Path.cwd()).root
    ways: dict[str, list[Setup]] = {}
    for one in setups:
        if one.hooks and (one.site.scope == USER or one.site.root == here):
            ways.setdefault(one.site.agent.name, []).append(one)
    for agent, several in ways.items():
        for one in several[1:]:
            if one.plugin is None:
                text, advice = "it is set up for the user as well", f"keep one: mycel uninstall {agent}"
            else:
                text = "`mycel install` has set it up as well"
                advice = f"keep one: mycel uninstall {agent}, or {one.site.agent.plugin_removal} {one.plugin}"
            yield warning(one.name, f"{text}: its hooks run twice here", advice)
