"""What a coding agent is to Mycel: its files, how they spell a server and a hook, and what keeps hooks from running."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mycel.surfaces.hooks.hook_event import REFLECT, TURN_ENDED, Event, kind_of

if TYPE_CHECKING:
    from mycel.surfaces.agents.site import Form, Setup, Site

USER, PROJECT = "user", "project"
SERVER = "mycel"
TOKEN_VARIABLE = "MYCEL_TOKEN"  # noqa: S105 - the name of a variable
# Much more than a hook takes; agents kill one that is over it.
TIMEOUT_SECONDS = 10
# However the command is quoted, and wherever it lies.
_OWN_COMMAND = re.compile(r"\bmycel(?:\.exe)?[\"']? hook ")

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Connection:
    """How an agent reaches Mycel, and as whom. A token is never here, only whether its variable is to be named."""

    command: str
    member: str
    data: str | None = None
    # A service elsewhere, which is spoken to without `mycel mcp` in between.
    url: str | None = None
    names_token: bool = False
    # The agent is asked once in a session to save what it learned.
    reflects: bool = False
    # Which tools its model gets, where they are not those of a coding agent.
    tools: str | None = None

    @property
    def endpoint(self) -> str | None:
        chosen = f"?tools={self.tools}" if self.tools else ""
        return f"{self.url}/mcp{chosen}" if self.url else None

    def arguments(self) -> list[str]:
        return ["mcp", *self._at_data(), *(["--tools", self.tools] if self.tools else [])]

    def hook_words(self, agent: str, event: str) -> list[str]:
        asks = [REFLECT] if self.reflects and kind_of(agent, event) == TURN_ENDED else []
        return [self.command, "hook", agent, event, "--as", self.member, *self._at_data(), *asks]

    def hook_line(self, agent: str, event: str) -> str:
        return " ".join(map(_quoted, self.hook_words(agent, event)))

    def variables(self, reference: str | None) -> dict[str, str]:
        named = {TOKEN_VARIABLE: reference} if self.names_token and reference else {}
        return {"MYCEL_AGENT": self.member, **named}

    def started(self, reference: str | None) -> Entry:
        """A server that the agent starts, as most of them spell it."""
        return {"command": self.command, "args": self.arguments(), "env": self.variables(reference)}

    def _at_data(self) -> list[str]:
        return ["--data", self.data] if self.data else []


class Files(NamedTuple):
    """Below the home of the user or the root of a project: where servers stand, and where hooks do."""

    servers: str
    hooks: str


class Hindrance(NamedTuple):
    """`is_certain`: no hook runs. Otherwise nothing is wrong yet, and the text is worth a word."""

    text: str
    advice: str
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Agent:
    """`moved_by` is the variable that puts the user's files elsewhere, in place of `folder`."""

    name: str
    title: str
    user: Files
    project: Files
    server: Callable[[Connection], Entry]
    hook: Callable[[Event, str], Entry] | None = None
    folder: str = ""
    moved_by: str | None = None
    servers_key: str = "mcpServers"
    # Of a server's entry: its address, and the variables that it is started with.
    url_key: str = "url"
    variables_key: str = "env"
    # What a file of hooks needs beside them.
    beside_hooks: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # The agent reads its files with comments and trailing commas in them.
    comments: bool = False
    # What only the user can do, once it is set up.
    after_install: str | None = None
    # Where servers do not stand in JSON, and where hooks are not settings but a program.
    servers_form: Callable[[str, Entry], Form] | None = None
    hooks_form: Callable[[Connection], Form] | None = None
    # The variable that has the token, where an entry names it in a way of its own.
    token_variable: Callable[[Entry], object] | None = None
    # What keeps it from running its hooks though they stand in its files; hooks report in the folder of data.
    hindrance: Callable[[Setup, Path], Hindrance | None] | None = None
    # The name of our plugin where it is enabled, and how it is taken out.
    plugin: Callable[[Site], str | None] | None = None
    plugin_removal: str = ""
    # Why a hook of it cannot have the agent go on with a question of ours; empty where it can.
    no_reflection: str = "its hooks cannot have the agent go on at the end of a turn"

    def places(self, scope: str, root: Path, *, moved_to: Path | None) -> Files:
        """The files with their whole paths."""
        named = self.user if scope == USER else self.project
        if scope == USER and moved_to is not None:
            inside = [moved_to / one.removeprefix(f"{self.folder}/") for one in named]
            return Files(*map(str, inside))
        return Files(*(str(root / one) for one in named))


def grouped_hook(event: Event, line: str) -> Entry:
    matcher = {"matcher": event.tools} if event.tools else {}
    return {**matcher, "hooks": [{"type": "command", "command": line, "timeout": TIMEOUT_SECONDS}]}


def bearer(reference: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {reference}"}


def is_own_command(value: object) -> bool:
    return isinstance(value, str) and _OWN_COMMAND.search(value) is not None


def is_own_plugin(name: str) -> bool:
    """Agents name a plugin with the marketplace it is from."""
    return name.partition("@")[0] == SERVER


def _quoted(word: str) -> str:
    if sys.platform == "win32":
        return f'"{word}"' if " " in word else word
    return shlex.quote(word)
