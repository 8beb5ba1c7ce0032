"""Our entries in an agent's JSON settings: put in, and taken out again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mycel.surfaces.agents.json_text import JsonText, NotEditable
from mycel.surfaces.agents.shapes import SERVER, Entry, is_own_command

HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class JsonSettings:
    """`server` and `hooks` are what the file shall hold; None and empty where they stand in another file."""

    servers_key: str
    server: Entry | None
    hooks: Mapping[str, Entry]
    beside_hooks: Mapping[str, Any]
    comments: bool = False

    def merged(self, text: str) -> str:
        found = JsonText(text, comments=self.comments)
        if self.server is not None:
            found.set([self.servers_key, SERVER], self.server)
        if self.hooks:
            self._merge_hooks(found)
        return found.text

    def without_own(self, text: str, *, before: str | None) -> str:
        """What became empty goes too, unless it was there before."""
        found = JsonText(text, comments=self.comments)
        earlier = _earlier(before, comments=self.comments)
        for path in ([self.servers_key, SERVER], *_own_hooks(found)):
            if found.find(path) is None:
                continue
            found.remove(path)
            for depth in range(len(path) - 1, 0, -1):
                parent = path[:depth]
                if found.find(parent) in ({}, []) and (earlier is None or earlier.find(parent) is None):
                    found.remove(parent)
        for name in self.beside_hooks:
            if found.find([HOOKS]) is None and earlier is not None and earlier.find([name]) is None:
                found.remove([name])
        return found.text

    def present(self, text: str) -> tuple[Entry | None, list[str]]:
        """Our server as it stands there, and the commands of our hooks."""
        found = JsonText(text, comments=self.comments)
        entries = [found.find(path) for path in reversed(_own_hooks(found))]
        lines = [
            line for entry in entries for hook in (entry, *_items(_member(entry, HOOKS))) if (line := _command(hook))
        ]
        return found.find([self.servers_key, SERVER]), lines

    def _merge_hooks(self, found: JsonText) -> None:
        for name, value in self.beside_hooks.items():
            if found.find([name]) is None:
                found.set([name], value)
        for path in _own_hooks(found):
            event = cast(str, path[1])
            if found.find(path) != self.hooks.get(event) or _count(found, event) > 1:
                found.remove(path)
            if event not in self.hooks and found.find(path[:2]) == []:
                found.remove(path[:2])
        for event, entry in self.hooks.items():
            if not _count(found, event):
                found.append([HOOKS, event], entry)


def _own_hooks(found: JsonText) -> list[list[str | int]]:
    """Where they stand, a group of hooks as a whole if all are ours. The last ones come first: removing one leaves
    the places of the others as they are."""
    events = found.find([HOOKS])
    places: list[list[str | int]] = []
    for event, groups in cast("dict[str, object]", events).items() if isinstance(events, dict) else ():
        for number, group in enumerate(_items(groups)):
            inner = _items(_member(group, HOOKS))
            own = [place for place, hook in enumerate(inner) if _command(hook)]
            if _command(group) or (own and len(own) == len(inner)):
                places.append([HOOKS, event, number])
            else:
                places += [[HOOKS, event, number, HOOKS, place] for place in own]
    return places[::-1]


def _count(found: JsonText, event: str) -> int:
    return sum(1 for path in _own_hooks(found) if path[1] == event)


def _command(hook: object) -> str | None:
    line = _member(hook, "command")
    return line if isinstance(line, str) and is_own_command(line) else None


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def _items(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _earlier(before: str | None, *, comments: bool) -> JsonText | None:
    try:
        return None if before is None else JsonText(before, comments=comments)
    except NotEditable:
        return None
