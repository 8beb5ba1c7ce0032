"""As whom an agent acts: a token says it, and wins over the member that it was set up as."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from mycel.settings import Settings, environment_with
from mycel.surfaces.agents.findings import Finding, problem, warning
from mycel.surfaces.agents.setups import Setup
from mycel.surfaces.agents.shapes import TOKEN_VARIABLE
from mycel.surfaces.hooks.clock import Deadline
from mycel.surfaces.hooks.faults import TimeUp, Unreachable
from mycel.surfaces.hooks.sender import Line, Reply, read_address

ANSWER_SECONDS = 2.0
UNAUTHORISED = 401
_REFERENCE = re.compile(r"\$?\{(?:env:)?([A-Z_]{1,60})\}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A service, and the secret by which one of this machine proves that it is the one."""

    url: str
    secret: str | None = None

    def get(self, path: str, *, token: str | None = None) -> Reply:
        """`TimeUp` where it takes the question and does not answer, `Unreachable` where nothing is there."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        line = Line(read_address(self.url), Deadline(ANSWER_SECONDS), secret=self.secret)
        try:
            return line.ask("GET", path, headers=headers)
        finally:
            line.close()


@dataclass(frozen=True, slots=True)
class Identity:
    """`member` is None where nobody could say; `finding` is what is wrong."""

    member: str | None = None
    finding: Finding | None = None


def identity_of(setup: Setup, settings: Settings, service: Endpoint | None) -> Identity:
    """By the token in its entry, else by that of the environment; without one it is the member of its hooks."""
    entry = setup.server or {}
    url = _url_of(entry)
    own, named = _token_of(entry)
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


def _url_of(entry: Mapping[str, Any]) -> str | None:
    found = entry.get("url") or entry.get("httpUrl")
    return found if isinstance(found, str) else None


def _base_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/mcp')}"


def _token_of(entry: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The token as it stands there, or the name of the variable that has it."""
    variables = _texts(entry.get("env")) | _texts(entry.get("environment"))
    headers = {name.lower(): value for name, value in _texts(entry.get("headers")).items()}
    found = variables.get(TOKEN_VARIABLE) or headers.get("authorization", "").removeprefix("Bearer ").strip()
    reference = _REFERENCE.fullmatch(found)
    if reference is not None:
        return None, reference[1]
    passed = entry.get("bearer_token_env_var") or (TOKEN_VARIABLE if TOKEN_VARIABLE in _listed(entry) else None)
    if not found and isinstance(passed, str):
        return None, passed
    return found or None, None


def _listed(entry: Mapping[str, Any]) -> list[object]:
    found = entry.get("env_vars")
    return cast("list[object]", found) if isinstance(found, list) else []


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
