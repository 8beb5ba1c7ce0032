"""Instructions for coding agents: `CLAUDE.md` and `AGENTS.md` wherever they stand in a tree, section by section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mycel.domain.memory import Category
from mycel.engine.imports.material import Entry, Unreadable, text_of
from mycel.engine.imports.notes import MAX_NOTE_BYTES
from mycel.engine.imports.records import Found, Left, Remembered
from mycel.engine.imports.values import filled, in_parts, label
from mycel.engine.shared_context import read_shared_context

NAMES = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md"})


def recognises(entry: Entry) -> bool:
    return entry.base in NAMES


def read(entries: Sequence[Entry]) -> Iterator[Found]:
    for entry in entries:
        if not recognises(entry):
            continue
        try:
            text = text_of(entry, most=MAX_NOTE_BYTES).replace("\r\n", "\n")
        except Unreadable as error:
            yield Left("file", entry.name, str(error), refused=True)
            continue
        yield from _sections(entry, text)


def _sections(entry: Entry, text: str) -> Iterator[Found]:
    found, empty = read_shared_context(text, name=entry.name)
    for one in found:
        category = one.category or Category.CONVENTION.value
        fields = filled(category=category, title=label(one.title), metadata={"file": entry.name})
        id = f"{entry.name}#{one.category or ''}/{one.key}"
        yield from in_parts(Remembered("section", id, text[one.start : one.end], fields))
    for gap in empty:
        yield Left("section", f"{entry.name}, {gap.what}", gap.reason)
