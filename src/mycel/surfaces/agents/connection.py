"""Where an agent is set up, and how it will reach Mycel: found out from the settings and the folder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from mycel.errors import InvalidInput, Misconfigured
from mycel.settings import DEFAULT, FILE_NAME, Settings, folder_by, origin_of
from mycel.surfaces.agents.install import Site
from mycel.surfaces.agents.shapes import Connection
from mycel.surfaces.agents.table import AGENTS, PROJECT, USER, Agent
from mycel.surfaces.hooks.environment import default_data
from mycel.surfaces.hooks.place import find_place

COMMAND = "mycel"


def agent_named(name: str) -> Agent:
    found = AGENTS.get(name.lower())
    if found is None:
        raise InvalidInput(f"must be one of {', '.join(AGENTS)}", field="agent")
    return found


def site_of(agent: Agent, scope: str) -> Site:
    if scope == PROJECT:
        return Site(agent, PROJECT, find_place(Path.cwd()).root)
    moved_to = folder_by(agent.moved_by) if agent.moved_by else None
    return Site(agent, USER, Path.home(), moved_to)


def connection_of(settings: Settings, *, scope: str, member: str) -> Connection:
    """Files of a project are others' as well: they hold no path of this machine."""
    names_token = origin_of("token", data=settings.data) not in {DEFAULT, FILE_NAME}
    data = settings.data.absolute()
    return Connection(
        find_command() if scope == USER else COMMAND,
        member,
        data=str(data) if scope == USER and data != default_data() else None,
        url=settings.url if names_token else None,
        names_token=names_token,
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
