"""What a note says about its memory: one row of front matter for each field, and both as texts that can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from mycel.domain.draft import read_value
from mycel.domain.fields import MAX_LABEL
from mycel.domain.link import Link, Relation
from mycel.domain.memory import WRITTEN, Memory, Visibility
from mycel.domain.memory_field import FieldRow, Holds
from mycel.errors import InvalidInput
from mycel.surfaces.vault.front_matter import Note, Value, changed_note, normal_body, read_note, with_body
from mycel.surfaces.vault.names import stem_of
from mycel.surfaces.vault.wiki_links import NoteNames

ID, VERSION, AUTHOR, PATH, TITLE, LINKS = "id", "version", "by", "path", "title", "links"
# Stands in a copy that was kept of a conflict, which is no note of its own until this is taken out.
CONFLICT_OF = "conflict_of"
NAMES = (
    *("type", "status", "title", "tags", "scope", "project", "repo", "category", "key", "visibility", "allowed_roles"),
    *("summary", "rationale", "alternatives", "confidence", "expires_at", "valid_from", "valid_until"),
)
_RELATIONS = tuple(one.value for one in Relation)
# Said by no row unless it is otherwise: most notes are for the team, and sure.
_USUAL: Mapping[str, Value] = {"visibility": Visibility.TEAM.value, "confidence": "1"}
# What is said of a new memory by who writes it.
_NOT_AT_FIRST = frozenset({"status"})

Fields = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Remote:
    """A memory as its note should be."""

    memory: Memory
    links: tuple[tuple[str, str], ...]
    fields: Fields
    text: str

    @property
    def text_digest(self) -> str:
        return text_digest(self.text)


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def remote_of(memory: Memory, links: Iterable[Link] = ()) -> Remote:
    found = sorted({(one.relation.value, one.to_id) for one in links if one.from_id == memory.id})
    fields: dict[str, Value] = {name: _plain(getattr(memory, WRITTEN[name].name)) for name in NAMES}
    fields[PATH] = memory.path
    fields[LINKS] = [f"{relation} {target}" for relation, target in found]
    return Remote(memory, tuple(found), fields, normal_body(memory.content))


def id_in(note: Note) -> str | None:
    found = note.value(ID)
    return found.strip().lower() if isinstance(found, str) else None


def local_fields(
    note: Note, *, file: str, path: str, names: NoteNames, base: Fields | None, old_file: str | None
) -> Fields:
    """What a note says. A key that is not there says nothing, or that the memory has none where it may have none.

    Whoever renames a note gives it another title, unless its front matter says a new one.
    """
    found: dict[str, Value] = {}
    for name in NAMES:
        row = WRITTEN[name]
        raw = note.value(name)
        if raw is not None:
            found[name] = _read(row, raw)
        elif base is not None:
            may_go = note.has_front_matter and (row.emptied or row.holds is Holds.TAGS)
            found[name] = ([] if isinstance(base[name], list) else None) if may_go else base[name]
    is_renamed = old_file is not None and stem_of(old_file) != stem_of(file)
    if base is None:
        found.setdefault(TITLE, stem_of(file)[:MAX_LABEL].strip())
    elif is_renamed and found[TITLE] == base[TITLE]:
        found[TITLE] = _read(WRITTEN[TITLE], stem_of(file)[:MAX_LABEL])
    found[PATH] = path
    found[LINKS] = _local_links(note, names, base)
    return found


def _local_links(note: Note, names: NoteNames, base: Fields | None) -> list[str]:
    """A link that leads to no note takes nothing away: the note may only have another name by now."""
    before = cast(list[str], base[LINKS]) if base is not None else []
    if not note.has_front_matter:
        return before
    found: set[str] = set()
    unknown = False
    for relation in _RELATIONS:
        for text in _entries(note, relation):
            target = names.target(text)
            unknown |= target is None
            if target is not None:
                found.add(f"{relation} {target}")
    return sorted(found | set(before)) if unknown else sorted(found)


def unknown_links(note: Note, names: NoteNames) -> list[str]:
    return [text for relation in _RELATIONS for text in _entries(note, relation) if names.target(text) is None]


def own_keys(note: Note) -> list[str]:
    """Keys that say nothing about a memory: they are the file's alone."""
    return sorted(note.spans.keys() - {ID, VERSION, AUTHOR, *NAMES, *_RELATIONS})


def has_links(text: str) -> bool:
    """Whether its front matter may say one; to be sure, it has to be read."""
    return any(f"\n{relation}:" in text for relation in _RELATIONS)


def has_old_names(note: Note, names: NoteNames) -> bool:
    """Whether a link is by a name that its note had before."""
    return any(names.is_old(text) for relation in _RELATIONS for text in _entries(note, relation))


def as_saved(fields: Fields) -> dict[str, Any]:
    """For `save`: a new memory says nothing of its status."""
    said = {name: value for name, value in fields.items() if value and name not in {*_NOT_AT_FIRST, LINKS}}
    return {name: _given(name, value) for name, value in said.items()}


def as_changed(fields: Fields, names: Iterable[str]) -> dict[str, Any]:
    """For `update`."""
    return {name: _given(name, fields[name]) for name in names if name != LINKS}


def _given(name: str, value: Value) -> Any:
    return float(value) if name == "confidence" and isinstance(value, str) else value


def rendered(old: str | None, remote: Remote, names: NoteNames) -> str:
    """The note as it should be, and of an old one everything as it was that says the same."""
    memory = remote.memory
    wanted: dict[str, Value] = {ID: memory.id}
    wanted |= {name: _shown(name, remote.fields[name]) for name in NAMES}
    wanted |= {AUTHOR: memory.agent_id, VERSION: str(memory.version)}
    note = read_note(old) if old is not None else Note("", "", "", "")
    changed = {name: value for name, value in wanted.items() if not _says(note, name, value)}
    changed |= _changed_links(note, remote, names)
    if old is None:
        return f"{changed_note(note, changed)}{remote.text}\n"
    text = changed_note(note, changed) if changed else note.text
    return text if normal_body(note.body) == remote.text else with_body(text, remote.text)


def conflict_copy(text: str, memory_id: str) -> str:
    note = read_note(text)
    return changed_note(note, {ID: None, VERSION: None, CONFLICT_OF: memory_id})


def _says(note: Note, name: str, value: Value) -> bool:
    if name not in note.spans:
        return value is None
    try:
        raw = note.value(name)
        if name in NAMES and raw is not None:
            return _shown(name, _read(WRITTEN[name], raw)) == value
    except InvalidInput:
        return False
    return raw == value


def _shown(name: str, value: Value) -> Value:
    return None if not value or _USUAL.get(name) == value else value


def _changed_links(note: Note, remote: Remote, names: NoteNames) -> dict[str, Value]:
    changed: dict[str, Value] = {}
    for relation in _RELATIONS:
        wanted = [target for one, target in remote.links if one == relation]
        texts = _entries(note, relation) if note.has_front_matter else []
        told = [names.target(text) for text in texts if names.target(text) is not None]
        if sorted(told, key=str) != sorted(wanted) or any(map(names.is_old, texts)):
            kept = [text for text in texts if names.target(text) is None]
            changed[relation] = [*(names.link(target) for target in wanted), *kept] or None
    return changed


def _entries(note: Note, relation: str) -> list[str]:
    found = note.value(relation)
    return [found] if isinstance(found, str) else found or []


def _read(row: FieldRow, raw: Value) -> Value:
    """As the API would keep it; raises `InvalidInput` naming the field."""
    given: object = raw
    if row.holds is Holds.FRACTION and isinstance(raw, str):
        try:
            given = float(raw)
        except ValueError:
            raise InvalidInput("must be a number from 0 to 1", field=row.request) from None
    elif row.holds is Holds.TAGS:
        given = [
            one.removeprefix("#") for one in (raw if isinstance(raw, list) else str(raw).split(",")) if one.strip()
        ]
    return _plain(read_value(row, given))


def _plain(value: object) -> Value:
    if value is None or value == ():
        return [] if value == () else None
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return [str(_plain(one)) for one in cast(tuple[object, ...], value)]
    return str(value)
