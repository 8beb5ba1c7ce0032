"""Our entries in an agent's JSON settings: every other byte of the file stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from mycel.surfaces.agents.agent import SERVER, Entry, is_own_command

# A string, or what JSON proper knows nothing of.
# One that is never closed goes on to the end: each place is looked at once.
_STRING = r'"(?>(?:[^"\\]|\\.)*)"?'
_STRING_OR_COMMENT = re.compile(_STRING + r"|//[^\r\n]*|/\*.*?(?:(?P<closed>\*/)|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(_STRING + r"|,(?=(?>\s*)[}\]])", re.DOTALL)
_SPACE = re.compile(r"\s*")
_INDENT = re.compile(r"[ \t]*")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_DECODER = json.JSONDecoder()

Path = Sequence[str | int]


class NotEditable(ValueError):
    """The text is no JSON, or not of the form that a change needs."""


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object, or an item of an array: where it begins (with its key), and where its value stands."""

    key: str | int
    begin: int
    value: int
    end: int


class JsonText:
    """`comments` also allows trailing commas. An empty text is an object without members."""

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self._mark = "\ufeff" if text.startswith("\ufeff") else ""
        self._comments = comments
        self._text = text.removeprefix("\ufeff")
        if not self._text.strip():
            self._text = "{}\n"
        self._newline = "\r\n" if "\r\n" in self._text else "\n"
        self._look()
        if not isinstance(self.value, dict):
            raise NotEditable("it holds no object")
        first = next(iter(self._parts(())), None)
        self._step = (self._indent(first.begin) if first else "") or "  "

    @property
    def text(self) -> str:
        return self._mark + self._text

    def find(self, path: Path) -> Any:
        """The value at a path, None where there is none."""
        found: Any = self.value
        for name in path:
            try:
                found = found[name]
            except (KeyError, IndexError, TypeError):
                return None
        return found

    def set(self, path: Sequence[str], value: object) -> None:
        """Makes the objects on the way where they are missing."""
        if self.find(path) == value and value is not None:
            return
        for depth in range(1, len(path)):
            if self._part(path[:depth]) is None:
                self._insert(path[: depth - 1], path[depth - 1], {})
        part = self._part(path)
        if part is None:
            self._insert(path[:-1], path[-1], value)
        else:
            self._splice([(part.value, part.end, self._render(value, self._indent(part.begin)))])

    def append(self, path: Sequence[str], value: object) -> None:
        """To an array, made where it is missing."""
        if self.find(path) is None:
            self.set(path, [])
        self._insert(path, None, value)

    def remove(self, path: Path) -> None:
        """With the comma that it needed; nothing happens where there is nothing."""
        if not isinstance(self.find(path[:-1]), dict | list):
            return
        parts = self._parts(path[:-1])
        place = next((number for number, part in enumerate(parts) if part.key == path[-1]), None)
        if place is None:
            return
        part = parts[place]
        if place:
            comma = self._uncommented.index(",", parts[place - 1].end)
            begin = max(comma + 1, self._after_text(part.begin))
            if own := self._comma_after(part):
                self._splice([(begin, own, "")])
            else:
                self._splice([(comma, comma + 1, ""), (begin, part.end, "")])
        elif len(parts) > 1:
            self._splice([(part.begin, parts[1].begin, "")])
        else:
            opened, closed = self._bounds(path[:-1])
            is_bare = self._text[opened:closed] == self._plain[opened:closed]
            begin, end = (opened, closed) if is_bare else (part.begin, self._comma_after(part) or part.end)
            self._splice([(begin, end, "")])

    def _look(self) -> None:
        """Comments and trailing commas are blanked for reading: every place stays where it was."""
        text = self._text
        if self._comments:
            text = _STRING_OR_COMMENT.sub(_without_comment, text)
        self._uncommented = text
        if self._comments:
            text = _TRAILING_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
        self._plain = text
        self._start = _skip(text, 0)
        try:
            self.value, end = _DECODER.raw_decode(text, self._start)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, getattr(error, "pos", 0)) + 1
            raise NotEditable(f"it is no JSON, see line {line}") from None
        if _skip(text, end) != len(text):
            raise NotEditable(f"it is no JSON, see line {text.count(chr(10), 0, end) + 1}")

    def _insert(self, path: Path, key: str | None, value: object) -> None:
        opened, closed = self._bounds(path, wanted=list if key is None else dict)
        parts = self._parts(path)
        whole = parts[0].begin if parts else opened
        is_tall = "\n" in self._plain[opened:whole] if parts else self._is_tall()
        outer = self._indent(opened)
        inner = (self._indent(whole) if parts else outer + self._step) if is_tall else ""
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        entry = name + self._render(value, inner if is_tall else None)
        gap = self._newline + inner if is_tall else " " if parts else ""
        if not parts:
            kept = self._text[opened:closed].rstrip()
            tail = self._newline + outer if is_tall else ""
            self._splice([(opened, closed, kept + gap + entry + tail)])
            return
        last = parts[-1].end
        end = self._after_text(closed)
        if self._comma_after(parts[-1]):
            self._splice([(end, end, f"{gap}{entry},")])
        else:
            self._splice([(last, last, ","), (end, end, gap + entry)])

    def _parts(self, path: Path) -> list[Part]:
        opened, _ = self._bounds(path)
        is_object = self._plain[opened - 1] == "{"
        return list(_parts(self._plain, opened, is_object=is_object))

    def _part(self, path: Path) -> Part | None:
        """The last of that name, as those who read the file see it."""
        found = [part for part in self._parts(path[:-1]) if part.key == path[-1]]
        return found[-1] if found else None

    def _bounds(self, path: Path, *, wanted: type | None = None) -> tuple[int, int]:
        """Between the brackets of the object or array at a path."""
        begin = self._start
        _, end = _DECODER.raw_decode(self._plain, begin)
        for name in path:
            is_object = self._plain[begin] == "{"
            found = [part for part in _parts(self._plain, begin + 1, is_object=is_object) if part.key == name]
            begin, end = found[-1].value, found[-1].end
        if self._plain[begin] not in ("{" if wanted is dict else "[" if wanted is list else "{["):
            shown = ".".join(map(str, path)) or "it"
            raise NotEditable(f"`{shown}` is not what it should be: an {'array' if wanted is list else 'object'}")
        return begin + 1, end - 1

    def _comma_after(self, part: Part) -> int | None:
        """Where it ends."""
        place = _skip(self._uncommented, part.end)
        return place + 1 if self._uncommented[place] == "," else None

    def _is_tall(self) -> bool:
        """Whether values stand on lines of their own: only a file that is one line is kept so."""
        return "\n" in self._plain.strip() or self._plain.strip() == "{}"

    def _indent(self, place: int) -> str:
        line = self._text.rfind("\n", 0, place) + 1
        found = _INDENT.match(self._text, line, place)
        return found[0] if found else ""

    def _after_text(self, place: int) -> int:
        """Where the spaces before a place begin; what is commented counts as text."""
        return len(self._text[:place].rstrip())

    def _render(self, value: object, indent: str | None) -> str:
        if indent is None:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._step).split("\n")
        return (self._newline + indent).join(lines)

    def _splice(self, changes: Sequence[tuple[int, int, str]]) -> None:
        """In the order of their places."""
        for begin, end, new in reversed(changes):
            self._text = self._text[:begin] + new + self._text[end:]
        self._look()


def _parts(text: str, place: int, *, is_object: bool) -> Iterator[Part]:
    place = _skip(text, place)
    number = 0
    while text[place] not in "}]":
        begin, key = place, cast("str | int", number)
        if is_object:
            key, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        _, end = _DECODER.raw_decode(text, place)
        yield Part(key, begin, place, end)
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
        number += 1


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _without_comment(found: re.Match[str]) -> str:
    is_comment = found[0].startswith("//") or found["closed"]
    return _NOT_LINE_END.sub(" ", found[0]) if is_comment else found[0]


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
