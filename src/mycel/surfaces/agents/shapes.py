"""How each agent's settings spell an MCP server and a hook."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from typing import Any

from mycel.surfaces.hooks.events import Event

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

    def arguments(self) -> list[str]:
        return ["mcp", *self._at_data()]

    def hook_words(self, agent: str, event: str) -> list[str]:
        return [self.command, "hook", agent, event, "--as", self.member, *self._at_data()]

    def hook_line(self, agent: str, event: str) -> str:
        return " ".join(map(_quoted, self.hook_words(agent, event)))

    def variables(self, reference: str | None) -> dict[str, str]:
        named = {TOKEN_VARIABLE: reference} if self.names_token and reference else {}
        return {"MYCEL_AGENT": self.member, **named}

    def _at_data(self) -> list[str]:
        return ["--data", self.data] if self.data else []


def like_claude(connection: Connection) -> Entry:
    """Its tools are few: in every request, not behind a search for tools."""
    reference, always = "${MYCEL_TOKEN}", {"alwaysLoad": True}
    if connection.url:
        return {"type": "http", "url": _endpoint(connection), "headers": _bearer(reference), **always}
    return {**_started(connection, reference), **always}


def like_cursor(connection: Connection) -> Entry:
    reference = "${env:MYCEL_TOKEN}"
    if connection.url:
        return {"url": _endpoint(connection), "headers": _bearer(reference)}
    return _started(connection, reference)


def like_gemini(connection: Connection) -> Entry:
    reference = "${MYCEL_TOKEN}"
    if connection.url:
        return {"httpUrl": _endpoint(connection), "headers": _bearer(reference)}
    return _started(connection, reference)


def like_opencode(connection: Connection) -> Entry:
    reference = "{env:MYCEL_TOKEN}"
    if connection.url:
        return {"type": "remote", "url": _endpoint(connection), "headers": _bearer(reference), "enabled": True}
    line = [connection.command, *connection.arguments()]
    return {"type": "local", "command": line, "environment": connection.variables(reference), "enabled": True}


def like_codex(connection: Connection) -> Entry:
    """Codex hands on no variable that is not named, and hides tools behind a search unless it is told to wait."""
    at_once = {"startup_readiness": "catalog", "omit_tools_from": ["deferred"]}
    if connection.url:
        return {"url": _endpoint(connection), "bearer_token_env_var": TOKEN_VARIABLE, **at_once}
    passed = {"env_vars": [TOKEN_VARIABLE]} if connection.names_token else {}
    return {**_started(connection, None), **passed, **at_once}


def grouped_hook(event: Event, line: str) -> Entry:
    matcher = {"matcher": event.tools} if event.tools else {}
    return {**matcher, "hooks": [{"type": "command", "command": line, "timeout": TIMEOUT_SECONDS}]}


def gemini_hook(event: Event, line: str) -> Entry:
    matcher = {"matcher": event.tools} if event.tools else {}
    hook = {"name": SERVER, "type": "command", "command": line, "timeout": TIMEOUT_SECONDS * 1000}
    return {**matcher, "hooks": [hook]}


def plain_hook(event: Event, line: str) -> Entry:
    return {"command": line}


def is_own_command(value: object) -> bool:
    return isinstance(value, str) and _OWN_COMMAND.search(value) is not None


def _started(connection: Connection, reference: str | None) -> Entry:
    variables = connection.variables(reference)
    return {"command": connection.command, "args": connection.arguments(), "env": variables}


def _endpoint(connection: Connection) -> str:
    return f"{connection.url}/mcp"


def _bearer(reference: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {reference}"}


def _quoted(word: str) -> str:
    if sys.platform == "win32":
        return f'"{word}"' if " " in word else word
    return shlex.quote(word)
