"""One note and its memory, field by field: what goes from the note to the memory, and what both sides dispute.

A side has changed what it says otherwise than when both last agreed. What only one side changed goes to the other; what
both changed alike is agreed; what both changed otherwise is a conflict, and both texts are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mycel.domain.draft import read_value
from mycel.domain.memory import WRITTEN
from mycel.errors import InvalidInput
from mycel.surfaces.vault.agreement import Agreed
from mycel.surfaces.vault.front_matter import normal_body
from mycel.surfaces.vault.names import folder_of, is_folder_of, path_for
from mycel.surfaces.vault.note_fields import PATH, TITLE, VERSION, Fields, Remote, local_fields, text_digest
from mycel.surfaces.vault.scan import LocalNote
from mycel.surfaces.vault.wiki_links import NoteNames

NO_TEXT = "has no text yet"
# Equal to nothing that a side could say.
_NOBODY = object()


@dataclass(frozen=True, slots=True)
class Places:
    """Which note a link means, and which path a folder stands for."""

    names: NoteNames
    # Folders by what they are folded, with their logical paths.
    folders: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SaveNote:
    """A file that is new becomes a memory."""

    note: LocalNote
    fields: Fields


@dataclass(frozen=True, slots=True)
class Reconcile:
    """A note and its memory become the same: `changes` and the text go to the memory, all else to the file."""

    id: str
    note: LocalNote
    fields: Fields
    changes: tuple[str, ...] = ()
    pushes_text: bool = False
    conflicts: tuple[str, ...] = ()
    # Of the note, before.
    old_title: str | None = None

    @property
    def pushes(self) -> bool:
        """Whether the memory has to change."""
        return bool(self.changes) or self.pushes_text


def compared(
    local: LocalNote, agreed: Agreed | None, remote: Remote, places: Places, *, trusts_versions: bool = True
) -> Reconcile:
    """Raises `InvalidInput` for a note that says what no memory can."""
    note = local.note
    is_of_this_version = trusts_versions and note.value(VERSION) == str(remote.memory.version)
    base = agreed.fields if agreed is not None else remote.fields
    base_text = agreed.text if agreed is not None else remote.text_digest if is_of_this_version else None
    fields = _fields(local, base, places, old_file=agreed.file if agreed is not None else None)
    theirs = {**remote.fields, "": remote.text_digest}
    ours = {**fields, "": text_digest(normal_body(note.body))}
    changes: list[str] = []
    conflicts: list[str] = []
    for name, value in ours.items():
        # Without an agreement, what differs from a later version is nobody's change for sure.
        before = base_text if name == "" else base[name] if agreed is not None or is_of_this_version else _NOBODY
        if value in (before, theirs[name]):
            continue
        (changes if theirs[name] == before else conflicts).append(name)
    return Reconcile(
        remote.memory.id,
        local,
        fields,
        tuple(name for name in changes if name),
        "" in changes,
        tuple(conflicts),
        title_of(agreed) if agreed is not None else None,
    )


def new_note(local: LocalNote, places: Places) -> SaveNote:
    """Raises `InvalidInput` for one that says what no memory can, or nothing yet."""
    fields = _fields(local, None, places, old_file=None)
    if not normal_body(local.note.body).strip():
        raise InvalidInput(NO_TEXT, field="note")
    return SaveNote(local, fields)


def title_of(agreed: Agreed) -> str:
    return str(agreed.fields[TITLE])


def _fields(local: LocalNote, base: Fields | None, places: Places, *, old_file: str | None) -> Fields:
    folder = folder_of(local.file)
    path = path_for(folder, places.folders)
    if base is not None:
        stayed = is_folder_of(folder, str(base[PATH])) if old_file is None else folder == folder_of(old_file)
        path = str(base[PATH]) if stayed else path
    checked = read_value(WRITTEN[PATH], path)
    return local_fields(local.note, file=local.file, path=checked, names=places.names, base=base, old_file=old_file)
