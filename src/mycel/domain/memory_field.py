"""What one row of a table of fields says; the tables are the classes `Memory`, `EpisodeDetail` and `ArtifactDetail`.

A layer that reads, packs, describes or shows fields has one entry for each kind of value (`Holds`), none for a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final

ROW: Final = "row"


class Holds(StrEnum):
    """The kinds of values."""

    ID = "id"
    TEAM = "team"
    MEMBER = "member"
    CONTENT = "content"
    NOTE = "note"
    NOTES = "notes"
    # A label that Mycel may write itself, and then of any length.
    TITLE = "title"
    LABEL = "label"
    PLACE = "place"
    PATH = "path"
    TAGS = "tags"
    CHOICE = "choice"
    CHOICES = "choices"
    FRACTION = "fraction"
    NUMBER = "number"
    COUNT = "count"
    CHECKSUM = "checksum"
    # A path below a workspace folder.
    FILE = "file"
    FILE_CONTENT = "file_content"
    FLAG = "flag"
    MOMENT = "moment"
    # A moment, or a day, which begins at midnight UTC and lasts until the next.
    BEGINNING = "beginning"
    END = "end"
    SPAN = "span"
    METADATA = "metadata"
    ORIGIN = "origin"
    EVIDENCE = "evidence"
    NEIGHBOURS = "neighbours"
    VECTOR = "vector"


# Sentences, which may say what another memory says.
PROSE = frozenset({Holds.CONTENT, Holds.TITLE, Holds.NOTE, Holds.NOTES})
MOMENTS = frozenset({Holds.MOMENT, Holds.BEGINNING, Holds.END})
LISTS = frozenset({Holds.NOTES, Holds.TAGS, Holds.CHOICES})
# Text that somebody wrote to be read.
TEXTS = frozenset(
    {Holds.CONTENT, Holds.NOTE, Holds.NOTES, Holds.TITLE, Holds.LABEL, Holds.PLACE, Holds.PATH, Holds.TAGS}
)


class Index(StrEnum):
    """The columns of the word index, in the order of their weights in `retrieval/bm25.py`."""

    TITLE = "title"
    SUMMARY = "summary"
    CONTENT = "content"
    LABELS = "labels"


class Panel(StrEnum):
    """Where the help of a command lists an option."""

    ABOUT = "What it says"
    PLACE = "Where it belongs"
    AUDIENCE = "Who reads it, and how long"
    WRITING = "How it is written"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FieldRow:
    """One field of a record, or a word that a request can say beside them.

    `column` is where the stores keep it, by default under its own name. `request` is its name in a request, empty
    for what nobody can say; `at_first` whether a new memory can be given it, `as_argument` whether it is then an
    argument of its own. `emptied`: None in an update empties it, and is refused otherwise; `unsaid`: None in a new
    memory says nothing. `of_values`: knowledge takes it as well.

    It is screened unless `unscreened` says why not. A secret is masked in it, but refused in a `found_by`, a name
    that would find nothing when masked. `shown` to agents who ask for the whole memory; `offered` to models that
    save one, who may call it by `aliases`. `about` is its help; `details` are added where there is room.
    """

    holds: Holds
    name: str = ""
    column: str = ""
    label: str = ""
    request: str = ""
    options: type[StrEnum] | None = None
    required: bool = False
    empty: Any = None
    stored: bool = True
    at_first: bool = True
    as_argument: bool = False
    emptied: bool = True
    unsaid: bool = True
    of_values: bool = True
    unscreened: str = ""
    found_by: bool = False
    index: Index | None = None
    shown: bool = False
    offered: bool = False
    aliases: tuple[str, ...] = ()
    about: str = ""
    details: str = ""
    option: str = ""
    other_option: str = ""
    metavar: str = ""
    panel: Panel = Panel.ABOUT

    @property
    def written(self) -> bool:
        return bool(self.request)

    @property
    def help(self) -> str:
        """For people."""
        return ". ".join(filter(None, (self.about, self.details))) + "."


def said(holds: Holds, about: str, **more: Any) -> Mapping[str, FieldRow]:
    """What a writer can say. Texts are shown, offered to models and an option of the command line unless told."""
    shown = holds in TEXTS
    given: dict[str, Any] = {"request": "?", "option": "?", "shown": shown, "offered": shown, **more}
    return {ROW: FieldRow(holds=holds, about=about, **given)}


def beside(name: str, holds: Holds, about: str, **more: Any) -> FieldRow:
    """What a writer can say that is no field of its own."""
    return _named(said(holds, about, **more)[ROW], name)


def known(holds: Holds, about: str, **more: Any) -> Mapping[str, FieldRow]:
    """What Mycel says itself."""
    return {ROW: FieldRow(holds=holds, about=about, **more)}


def table_of(kind: type, *more: FieldRow) -> dict[str, FieldRow]:
    """The rows of a class by the names of its fields, and those of the words beside them."""
    found: dict[str, FieldRow] = {}
    for field in fields(kind):
        row: FieldRow = field.metadata[ROW]
        empty = field.default_factory() if field.default_factory is not MISSING else field.default
        required = empty is MISSING
        found[field.name] = _named(row, field.name, required=required, empty=None if required else empty)
    found |= {row.name: row for row in more}
    for row in found.values():
        if row.written and row.unscreened:
            raise TypeError(f"{row.name} can be written and is not screened")
    return found


def _named(row: FieldRow, name: str, **more: Any) -> FieldRow:
    """With what follows from its name."""
    plain = name.removesuffix("_at").removesuffix("_id")
    request = name if row.request == "?" else row.request
    option = f"--{request.replace('_', '-')}" if row.option == "?" else row.option
    return replace(
        row, name=name, column=row.column or name, label=row.label or plain, request=request, option=option, **more
    )
