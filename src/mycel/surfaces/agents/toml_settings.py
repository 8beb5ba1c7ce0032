"""Our entries in the TOML settings of Codex: a server, and the switch that lets hooks run."""

from __future__ import annotations

import re
import tomllib
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from mycel.surfaces.agents.json_text import NotEditable
from mycel.surfaces.agents.shapes import SERVER, Entry

FEATURES, HOOKS = "features", "hooks"

_LINE_FEED = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True)
class TomlSettings:
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
                _table(document, FEATURES, is_super=False)[HOOKS] = True
            if _member(value, self.servers_key).get(SERVER) != self.server:
                _table(document, self.servers_key, is_super=True)[SERVER] = _as_table(self.server)
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


def _table(document: dict[str, Any], name: str, *, is_super: bool) -> dict[str, Any]:
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
