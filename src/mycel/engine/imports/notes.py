"""Folders of markdown: notes with their front matter, tags and wiki links, as Obsidian and others keep them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from mycel.engine.english.sentences import fenced_blocks, is_inside
from mycel.engine.imports.front_matter import split_note
from mycel.engine.imports.material import Entry, Unreadable, text_of
from mycel.engine.imports.records import RELATED, Found, Left, Related, Remembered
from mycel.engine.imports.values import filled, in_parts, label, listed, mapping, moment, tags, text

MAX_NOTE_BYTES = 8 * 1024 * 1024
WIKI_LINK = re.compile(r"\[\[([^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_INLINE_TAG = re.compile(r"(?:^|(?<=\s))#([A-Za-z\u00c0-\uffff][\w/-]{0,60})")
# What the front matter says that has a field here; all else is kept beside.
_KNOWN = frozenset({"title", "tags", "tag", "created", "date", "modified", "updated"})
# What each note of a vault says.
_OF_A_VAULT = frozenset({"id", "type", "status", "by", "version"})
_MEMORY_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(slots=True)
class Note:
    entry: Entry
    front: Mapping[str, Any]
    body: str
    is_valid: bool

    @property
    def id(self) -> str:
        return self.entry.name

    @property
    def memory(self) -> str | None:
        """Which memory of ours it was written from, if it is a note of a vault."""
        own = text(self.front.get("id"))
        return own if self.front.keys() >= _OF_A_VAULT and _MEMORY_ID.fullmatch(own) else None

    @property
    def title(self) -> str:
        return label(self.front.get("title")) or self.entry.stem or self.entry.name

    def fields(self) -> dict[str, Any]:
        code = fenced_blocks(self.body)
        inline = [match[1] for match in _INLINE_TAG.finditer(self.body) if not is_inside(match.start(), code)]
        created = moment(self.front.get("created") or self.front.get("date"))
        updated = moment(self.front.get("modified") or self.front.get("updated"))
        own = {name: plain(value) for name, value in self.front.items() if name not in _KNOWN}
        return filled(
            type="note",
            title=label(self.title),
            tags=tags(self.front.get("tags"), self.front.get("tag"), inline),
            observed_at=created,
            metadata=filled(file=self.id, front_matter=own, source_updated_at=updated),
        )


def plain(value: object) -> Any:
    """As JSON can carry it: YAML knows days and times."""
    if named := mapping(value):
        return {str(name): plain(one) for name, one in named.items()}
    if several := listed(value):
        return [plain(one) for one in several]
    is_known = value is None or isinstance(value, str | int | bool) or (isinstance(value, float) and isfinite(value))
    return value if is_known else str(value)


@dataclass(slots=True)
class Names:
    """Which note a wiki link means: by its path, its file name, its title or what else it goes by."""

    _ids: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, note: Note) -> None:
        path = note.entry.name.removesuffix(".md")
        aliases = note.front.get("aliases")
        others = [aliases] if isinstance(aliases, str) else listed(aliases)
        for name in (path, note.entry.stem, note.title, text(note.front.get("permalink")), *others):
            if text(name):
                self._ids.setdefault(text(name).casefold(), note.id)

    def find(self, target: str) -> str | None:
        name = target.strip().removesuffix(".md").casefold()
        return self._ids.get(name) or self._ids.get(name.rpartition("/")[2])


def is_markdown(entry: Entry) -> bool:
    return entry.name.lower().endswith((".md", ".markdown"))


def open_note(entry: Entry) -> Note:
    """Raises `Unreadable`."""
    front, body, is_valid = split_note(text_of(entry, most=MAX_NOTE_BYTES))
    return Note(entry, front, body, is_valid)


def open_notes(entries: Sequence[Entry]) -> Iterator[Note | Left]:
    for entry in entries:
        if not is_markdown(entry):
            yield Left("file", entry.name, entry.problem or "is no markdown")
            continue
        try:
            yield open_note(entry)
        except Unreadable as error:
            yield Left("note", entry.name, str(error), refused=True)


def names_in(entries: Sequence[Entry]) -> Names:
    names = Names()
    for entry in entries:
        try:
            names.add(open_note(entry))
        except Unreadable:
            continue
    return names


def read(entries: Sequence[Entry]) -> Iterator[Found]:
    """Two rounds over the files: the first learns the names that links may mean."""
    names = names_in([entry for entry in entries if is_markdown(entry)])
    for note in open_notes(entries):
        if isinstance(note, Left):
            yield note
        elif body := note.body.strip():
            yield from in_parts(Remembered("note", note.id, body, note.fields(), memory=note.memory))
            yield from links_of(note, note.body, names)
        else:
            yield Left("note", note.entry.name, "is empty")


def links_of(note: Note, body: str, names: Names, *, known: frozenset[str] = frozenset()) -> Iterator[Found]:
    """Each target once; `known` are those that something says more of."""
    seen: set[str] = set()
    for match in WIKI_LINK.finditer(body):
        target = match[1].strip()
        if target.casefold() in seen or target.casefold() in known:
            continue
        seen.add(target.casefold())
        yield linked("link", note.id, target, RELATED, names)


def linked(kind: str, id: str, target: str, relation: str, names: Names) -> Found:
    other = names.find(target)
    if other is None:
        return Left(kind, f"{id} \u2192 {target}", "leads to no note here")
    if other == id:
        return Left(kind, f"{id} \u2192 {target}", "leads to itself")
    return Related(kind, id, other, relation)
