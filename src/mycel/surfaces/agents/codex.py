"""Codex: its settings in TOML and JSON, its plugin, and whether it runs our hooks.

It runs none before its user has trusted it, and keeps in `config.toml` which.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from mycel.surfaces.agents.agent import (
    PROJECT,
    SERVER,
    TOKEN_VARIABLE,
    USER,
    Agent,
    Connection,
    Entry,
    Files,
    Hindrance,
    grouped_hook,
    is_own_command,
    is_own_plugin,
)
from mycel.surfaces.agents.json_settings import HOOKS, NotEditable
from mycel.surfaces.agents.site import Setup, Site, changed_at, read_json, read_toml, site_of, table_in
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.files import FOLDER

FEATURES = "features"
_CONFIG = "config.toml"
SESSIONS = "sessions"
# Codex gives a session's end no more, and hashes what it gives; others have ten minutes unless they say.
_END_SECONDS, _USUAL_SECONDS = 3, 600
_SESSION_END = "session_end"
_MOST_SESSIONS = 40
_MOST_OF_FIRST_LINE = 1024 * 1024
_LINE_FEED = re.compile(r"(?<!\r)\n")


def _server(connection: Connection) -> Entry:
    """Codex hands on no variable that is not named, and hides tools behind a search unless it is told to wait."""
    at_once = {"startup_readiness": "catalog", "omit_tools_from": ["deferred"]}
    if connection.url:
        return {"url": connection.endpoint, "bearer_token_env_var": TOKEN_VARIABLE, **at_once}
    passed = {"env_vars": [TOKEN_VARIABLE]} if connection.names_token else {}
    return {**connection.started(None), **passed, **at_once}


def _token_variable(entry: Entry) -> object:
    listed = entry.get("env_vars")
    is_listed = isinstance(listed, list) and TOKEN_VARIABLE in listed
    return entry.get("bearer_token_env_var") or (TOKEN_VARIABLE if is_listed else None)


@dataclass(frozen=True, slots=True)
class _TomlSettings:
    servers_key: str
    server: Entry

    def merged(self, text: str) -> str:
        value = _parsed(text)
        wanted = deepcopy(value)
        _member(wanted, self.servers_key)[SERVER] = self.server
        _member(wanted, FEATURES)[HOOKS] = True
        if wanted == value:
            return text
        document = cast("dict[str, Any]", tomlkit.parse(text))
        try:
            if _member(value, FEATURES).get(HOOKS) is not True:
                _table_of(document, FEATURES, is_super=False)[HOOKS] = True
            if _member(value, self.servers_key).get(SERVER) != self.server:
                _table_of(document, self.servers_key, is_super=True)[SERVER] = _as_table(self.server)
        except TOMLKitError:
            raise NotEditable("it is written in a way that only a person should change") from None
        return _checked(text, document, wanted)

    def without_own(self, text: str, *, before: str | None) -> str:
        """The switch stays where it was set before, and for whoever else has hooks: it is turned back by hand."""
        value = _parsed(text)
        if SERVER not in _member(value, self.servers_key):
            return text
        earlier = {} if before is None else _parsed(before)
        wanted = deepcopy(value)
        document = cast("dict[str, Any]", tomlkit.parse(text))
        for one in (wanted, document):
            del one[self.servers_key][SERVER]
            if not one[self.servers_key] and self.servers_key not in earlier:
                del one[self.servers_key]
        return _checked(text, document, wanted)

    def present(self, text: str) -> tuple[Entry | None, list[str]]:
        return _member(_parsed(text), self.servers_key).get(SERVER), []


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotEditable(f"it is no TOML: {error}") from None


def _member(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.setdefault(name, {})
    if not isinstance(found, dict):
        raise NotEditable(f"`{name}` is not what it should be: a table")
    return cast("dict[str, Any]", found)


def _table_of(document: dict[str, Any], name: str, *, is_super: bool) -> dict[str, Any]:
    if name not in document:
        document[name] = tomlkit.table(is_super_table=is_super)
    return document[name]


def _as_table(entry: Entry) -> Any:
    table: Any = tomlkit.table()
    for name, value in entry.items():
        if isinstance(value, dict):
            table[name] = tomlkit.inline_table()
            for key, one in cast("dict[str, Any]", value).items():
                table[name][key] = one
        else:
            table[name] = value
    return table


def _checked(text: str, document: dict[str, Any], wanted: dict[str, Any]) -> str:
    """What the new text says, not what the library was told, must be what is wanted."""
    made = tomlkit.dumps(document)
    if "\r\n" in text:
        made = _LINE_FEED.sub("\r\n", made)
    try:
        if tomllib.loads(made) == wanted:
            return made
    except tomllib.TOMLDecodeError:
        pass
    raise NotEditable("it is written in a way that only a person should change")


def _plugin(site: Site) -> str | None:
    plugins = table_in(read_toml(site.servers_file), "plugins")
    own = (one for one in plugins if is_own_plugin(one) and table_in(plugins, one).get("enabled") is not False)
    return next(own, None)


def _hindrance(setup: Setup, data: Path) -> Hindrance | None:
    home = site_of(setup.site.agent, USER).servers_file.parent
    if table_in(read_toml(home / _CONFIG), FEATURES).get(HOOKS) is False:
        return Hindrance(f"it runs no hooks: {home / _CONFIG} says [features] hooks = false", "set it to true")
    if _are_switched_off(setup, home):
        return Hindrance("some of its hooks are switched off", "start codex, open /hooks, and switch those of mycel on")
    if _are_trusted(setup, home):
        return None
    if _ran_without_hooks(setup, home, data):
        text = "a session has run without its hooks: they are not trusted"
        return Hindrance(text, "start codex, open /hooks, and trust those of mycel")
    return Hindrance("its hooks wait to be trusted", "trust them at the next start, by /hooks", is_certain=False)


def _are_trusted(setup: Setup, home: Path) -> bool:
    """`home` is that of Codex: trust is the user's, also for the hooks of a project."""
    hashes = dict(_hashes(setup, home))
    states = _states(home)
    return bool(hashes) and all(states.get(key, {}).get("trusted_hash") == one for key, one in hashes.items())


def _are_switched_off(setup: Setup, home: Path) -> bool:
    states = _states(home)
    return any(states.get(key, {}).get("enabled") is False for key, _ in _hashes(setup, home))


def _ran_without_hooks(setup: Setup, home: Path, data: Path) -> bool:
    """Whether a session began after the installation, and after the last hook of any that reached us."""
    hooked = max((changed_at(one) for one in (data / FOLDER / SESSIONS).glob(f"{told.CODEX}_*.json")), default=0.0)
    since = max(setup.installed_at, hooked)
    root = setup.site.root if setup.site.scope == PROJECT else None
    return any(began > since for began in _sessions(home, below=root))


def _hashes(setup: Setup, home: Path) -> Iterator[tuple[str, str]]:
    """Each of our hooks by the key that Codex gives it, with the hash of what it would run."""
    if setup.plugin is None:
        path = setup.site.hooks_file
        source = str(path)
    else:
        name, _, market = setup.plugin.partition("@")
        folders = sorted((home / "plugins/cache" / market / name).glob("*"))
        path = (folders[-1] if folders else home) / "hooks/hooks.json"
        source = f"{setup.plugin}:hooks/hooks.json"
    for event, groups in table_in(read_json(path), HOOKS).items():
        label = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")
        for number, group in enumerate(_list(groups)):
            for place, hook in enumerate(_list(group.get(HOOKS))):
                if is_own_command(hook.get("command")):
                    yield f"{source}:{label}:{number}:{place}", _hash(label, group.get("matcher"), hook)


def _hash(label: str, matcher: object, hook: dict[str, Any]) -> str:
    """As Codex makes it: of the meaning of an entry, in JSON with sorted names."""
    seconds = hook.get("timeout", _USUAL_SECONDS)
    if label == _SESSION_END:
        seconds = min(seconds, _END_SECONDS)
    runs = {"type": "command", "command": hook.get("command"), "timeout": seconds, "async": False}
    entry = {"event_name": label, "hooks": [runs], **({"matcher": matcher} if matcher else {})}
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _states(home: Path) -> dict[str, dict[str, Any]]:
    states = table_in(table_in(read_toml(home / _CONFIG), HOOKS), "state")
    return {key: cast("dict[str, Any]", one) for key, one in states.items() if isinstance(one, dict)}


def _sessions(home: Path, *, below: Path | None) -> Iterator[float]:
    """When the latest sessions began, also those that are over; of a project, those in its folders."""
    for path in islice(_newest_first(home / SESSIONS), _MOST_SESSIONS):
        try:
            with path.open("rb") as file:
                first = json.loads(file.readline(_MOST_OF_FIRST_LINE))
            about = first["payload"]
            if below is None or Path(about["cwd"]).is_relative_to(below):
                yield datetime.fromisoformat(about.get("timestamp") or first["timestamp"]).timestamp()
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue


def _newest_first(folder: Path) -> Iterator[Path]:
    """By year, month and day, and by the time in their names."""
    try:
        inside = sorted(folder.iterdir(), reverse=True)
    except OSError:
        return
    for path in inside:
        if path.is_dir():
            yield from _newest_first(path)
        elif path.suffix == ".jsonl":
            yield path


def _list(value: object) -> list[dict[str, Any]]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) if isinstance(one, dict) else {} for one in listed]


AGENT = Agent(
    told.CODEX,
    "Codex",
    user=Files(".codex/config.toml", ".codex/hooks.json"),
    project=Files(".codex/config.toml", ".codex/hooks.json"),
    server=_server,
    hook=grouped_hook,
    folder=".codex",
    moved_by="CODEX_HOME",
    servers_key="mcp_servers",
    after_install="Codex runs no hook that is not trusted: start codex, open /hooks, and trust those of mycel.",
    servers_form=_TomlSettings,
    token_variable=_token_variable,
    hindrance=_hindrance,
    plugin=_plugin,
    plugin_removal="codex plugin remove",
    no_reflection="",
)
