"""basic-memory: markdown notes whose list items are observations and relations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mycel.engine.english.sentences import fenced_blocks, is_inside
from mycel.engine.imports.material import Entry, Unreadable
from mycel.engine.imports.notes import (
    WIKI_LINK,
    Names,
    Note,
    is_markdown,
    linked,
    links_of,
    names_in,
    open_note,
    open_notes,
)
from mycel.engine.imports.records import Found, Left, Related, Remembered, relation_of
from mycel.engine.imports.values import filled, in_parts, label, tags

_ITEM = re.compile(r"[ \t]*+[-*][ \t]++(.*)")
_CATEGORY = re.compile(r"\[([^\[\]()\n]{2,60})\][ \t]++(\S.*)")
# Tasks have one sign between the brackets; recordings have times.
_TIME_CODE = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?")
_RELATION = re.compile(r"(?:\"([^\"\n]{1,100})\"|'([^'\n]{1,100})'|([^\[\]\n]{0,100}?))[ \t]*\[\[")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]{1,60})")
_HEADING = re.compile(r"#{1,6}[ \t]+observations?[ \t]*", re.IGNORECASE)


@dataclass(slots=True)
class _Parts:
    prose: list[str] = field(default_factory=list[str])
    observations: list[tuple[str | None, str]] = field(default_factory=list[tuple[str | None, str]])
    relations: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def recognises(entry: Entry) -> bool:
    """By a permalink in the front matter, which no other system writes."""
    try:
        note = open_note(entry)
    except Unreadable:
        return False
    return "permalink" in note.front


def read(entries: Sequence[Entry]) -> Iterator[Found]:
    names = names_in([entry for entry in entries if is_markdown(entry)])
    for note in open_notes(entries):
        if isinstance(note, Left):
            yield note
        else:
            yield from _note(note, names)


def _note(note: Note, names: Names) -> Iterator[Found]:
    parts = _parts(note.body)
    prose = "\n".join(parts.prose).strip()
    if not prose and not parts.observations and not parts.relations:
        yield Left("note", note.id, "is empty")
        return
    fields = note.fields()
    yield from in_parts(Remembered("note", note.id, prose or note.title, fields))
    for category, said in parts.observations:
        yield from _observation(note, category, said, fields)
    for name, target in parts.relations:
        yield linked("relation", note.id, target, relation_of(name), names)
    known = frozenset(target.casefold() for _, target in parts.relations)
    yield from links_of(note, note.body, names, known=known)


def _observation(note: Note, category: str | None, said: str, of_note: Mapping[str, Any]) -> Iterator[Found]:
    """A statement of its own, with its subject named; it belongs to its note."""
    content, context = _context(said)
    id = f"{note.id}\n[{category or ''}] {said}"
    metadata = filled(file=note.id, context=context)
    fields = filled(
        category=label(category),
        tags=tags(_TAG.findall(content)),
        observed_at=of_note.get("observed_at"),
        metadata=metadata,
    )
    yield from in_parts(Remembered("observation", id, f"{note.title}: {content}", fields))
    yield Related("subject", id, note.id, "applies_to")


def _context(said: str) -> tuple[str, str]:
    """What stands in brackets at the end says where it comes from."""
    start = said.rfind("(") if said.endswith(")") else -1
    return (said[:start].strip(), said[start + 1 : -1].strip()) if start > 0 else (said, "")


def _parts(body: str) -> _Parts:
    found = _Parts()
    code = fenced_blocks(body)
    at = 0
    for line in body.split("\n"):
        place, at = at, at + len(line) + 1
        item = None if is_inside(place, code) else _ITEM.fullmatch(line)
        if item is not None and _take(found, item[1].strip()):
            continue
        if _HEADING.fullmatch(line.strip()) is None:
            found.prose.append(line)
    return found


def _take(found: _Parts, item: str) -> bool:
    category = _CATEGORY.fullmatch(item)
    if category and not _TIME_CODE.fullmatch(category[1]):
        found.observations.append((category[1].strip(), category[2].strip()))
        return True
    relation = _RELATION.match(item)
    if (relation and not item.startswith("[")) or item.startswith("[["):
        target = WIKI_LINK.search(item)
        if target is not None:
            name = next((one for one in relation.groups() if one), "") if relation else ""
            found.relations.append((name.strip() or "links_to", target[1].strip()))
            # The line stays too: a link keeps neither its own name nor its context, and its note may be missing.
            return False
    if not item.startswith("[") and _TAG.search(item):
        found.observations.append((None, item))
        return True
    return False
