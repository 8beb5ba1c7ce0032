"""What has to be done so that both sides agree: last agreement, files and memories in, steps out; it does nothing.

A side has changed what it says otherwise than when both last agreed. What only one side changed goes to the other; what
both changed alike is agreed; what both changed otherwise is a conflict, and both texts are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mycel.domain.draft import read_value
from mycel.domain.memory import WRITTEN
from mycel.errors import InvalidInput
from mycel.surfaces.vault.agreement import Agreed
from mycel.surfaces.vault.front_matter import Note, normal_body
from mycel.surfaces.vault.names import folder_of, is_folder_of, known_folders, path_for
from mycel.surfaces.vault.note_fields import (
    PATH,
    VERSION,
    Fields,
    Remote,
    has_links,
    has_old_names,
    local_fields,
    text_digest,
    unknown_links,
)
from mycel.surfaces.vault.scan import LocalNote, Scan
from mycel.surfaces.vault.wiki_links import NoteNames


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


@dataclass(frozen=True, slots=True)
class CreateNote:
    """A memory without a file gets one; `came_back` when the file was deleted and the memory changed."""

    id: str
    came_back: bool = False


@dataclass(frozen=True, slots=True)
class DeleteMemory:
    id: str
    file: str


@dataclass(frozen=True, slots=True)
class RemoveNote:
    """The memory is gone, or out of sight, and the file is as it was."""

    id: str
    note: LocalNote


@dataclass(frozen=True, slots=True)
class SetAside:
    """The memory is gone, or out of sight, and the file was changed: its text stays, as a copy."""

    id: str
    note: LocalNote


@dataclass(frozen=True, slots=True)
class Forget:
    id: str


# Equal to nothing that a side could say.
_NOBODY = object()

Step = SaveNote | Reconcile | CreateNote | DeleteMemory | RemoveNote | SetAside | Forget


@dataclass(frozen=True, slots=True)
class Problem:
    """What a person has to look at; nothing is done about it, and nothing is lost."""

    file: str
    about: str


@dataclass(slots=True)
class Plan:
    names: NoteNames
    # Folders by what they are folded, with their logical paths.
    folders: Mapping[str, str]
    steps: list[Step] = field(default_factory=list[Step])
    problems: list[Problem] = field(default_factory=list[Problem])
    conflict_copies: list[str] = field(default_factory=list[str])
    # Files that were deleted, and files whose memories are gone.
    missing: int = 0
    gone: int = 0
    has_unknown_links: bool = False


def plan(agreed: Mapping[str, Agreed], scan: Scan, memories: Mapping[str, Remote]) -> Plan:
    return _Planner(agreed, scan, memories).plan()


class _Planner:
    def __init__(self, agreed: Mapping[str, Agreed], scan: Scan, memories: Mapping[str, Remote]) -> None:
        self._agreed = agreed
        self._scan = scan
        self._memories = memories
        self._by_file = {one.file: one for one in agreed.values()}
        self._problems = [Problem(file, about) for file, about in sorted(scan.unseen.items())]
        self._copies: list[str] = []
        self._new: list[LocalNote] = []
        # A note that cannot be read may be any that is missed.
        self._is_unsure = False
        self._held: set[str] = set()
        holders = self._holders()
        before = {id: one.file for id, one in agreed.items()}
        now = {id: file for id, file in before.items() if id in memories and id not in holders}
        names = NoteNames({**now, **{id: note.file for id, note in holders.items()}}, before)
        folders = known_folders((one.file, str(one.fields[PATH])) for one in agreed.values())
        self._holding = holders
        self._plan = Plan(names, folders, problems=self._problems, conflict_copies=self._copies)

    def plan(self) -> Plan:
        for id, note in self._holding.items():
            self._decide_note(id, note)
        for id, one in self._agreed.items():
            if id not in self._holding and id not in self._held:
                self._decide_missing(id, one)
        # Before files are made for memories: one may be of a note that a round, cut off, had saved and not named yet.
        for note in self._new:
            self._decide_new(note)
        known = self._agreed.keys() | self._holding.keys()
        self._plan.steps += [CreateNote(id) for id in self._memories if id not in known]
        return self._plan

    def _holders(self) -> dict[str, LocalNote]:
        """The one file of each id."""
        found: dict[str, list[LocalNote]] = {}
        for file, one in self._scan.notes.items():
            known = self._by_file.get(file)
            if one.text is None:
                self._problems.append(Problem(file, one.problem or "cannot be read"))
                self._is_unsure |= known is None
                if known is not None:
                    self._held.add(known.id)
            elif one.is_conflict_copy:
                self._copies.append(file)
            elif one.id is not None:
                found.setdefault(one.id, []).append(one)
            elif known is not None:
                # Its front matter was taken off; it is the same note all the same.
                found.setdefault(known.id, []).append(one)
            else:
                self._new.append(one)
        return {id: holder for id, notes in found.items() if (holder := self._holder(id, notes)) is not None}

    def _holder(self, id: str, notes: list[LocalNote]) -> LocalNote | None:
        if len(notes) == 1:
            return notes[0]
        agreed = self._agreed.get(id)
        holder = next((one for one in notes if agreed is not None and one.file == agreed.file), None)
        if holder is None:
            self._held.add(id)
        for one in notes:
            if one is not holder:
                others = ", ".join(other.file for other in notes if other is not one)
                about = f"has the id of {others}: take the id out to save it as a memory of its own"
                self._problems.append(Problem(one.file, about))
        return holder

    def _decide_note(self, id: str, note: LocalNote) -> None:
        agreed, remote = self._agreed.get(id), self._memories.get(id)
        if remote is None and agreed is None:
            about = f"has the id {id}, which no memory has that you may see: take the id out to save it as a new one"
            self._problems.append(Problem(note.file, about))
        elif remote is None:
            self._plan.gone += 1
            is_same = agreed is not None and (note.file, note.sha256) == (agreed.file, agreed.sha256)
            self._plan.steps.append(RemoveNote(id, note) if is_same else SetAside(id, note))
        else:
            try:
                self._compare(id, note, agreed, remote)
            except InvalidInput as error:
                self._problems.append(Problem(note.file, str(error)))

    def _compare(self, id: str, local: LocalNote, agreed: Agreed | None, remote: Remote) -> None:
        unchanged = False
        if agreed is not None and (local.file, local.sha256) == (agreed.file, agreed.sha256):
            is_same = remote.memory.version == agreed.version and remote.fields == agreed.fields
            if not has_links(local.text or ""):
                if not is_same:
                    self._plan.steps.append(Reconcile(id, local, agreed.fields, old_title=_title(agreed)))
                return
            unchanged = is_same and not has_old_names(local.note, self._plan.names)
        note = local.note
        is_of_this_version = note.value(VERSION) == str(remote.memory.version)
        base = agreed.fields if agreed is not None else remote.fields
        base_text = agreed.text if agreed is not None else remote.text_digest if is_of_this_version else None
        old_file = agreed.file if agreed is not None else None
        fields = self._fields(local, note, base, old_file=old_file)
        text = text_digest(normal_body(note.body))
        theirs = {**remote.fields, "": remote.text_digest}
        ours = {**fields, "": text}
        changes: list[str] = []
        conflicts: list[str] = []
        for name, value in ours.items():
            # Without an agreement, what differs from a later version is nobody's change for sure.
            before = base_text if name == "" else base[name] if agreed is not None or is_of_this_version else _NOBODY
            if value in (before, theirs[name]):
                continue
            (changes if theirs[name] == before else conflicts).append(name)
        if unchanged and not changes and not conflicts:
            return
        self._note_unknown_links(local, note)
        self._plan.steps.append(
            Reconcile(
                id,
                local,
                fields,
                tuple(name for name in changes if name),
                "" in changes,
                tuple(conflicts),
                _title(agreed) if agreed is not None else None,
            )
        )

    def _decide_missing(self, id: str, agreed: Agreed) -> None:
        remote = self._memories.get(id)
        if self._scan.hides(agreed.file) or self._is_disputed(agreed.file):
            return
        if remote is None:
            self._plan.steps.append(Forget(id))
            return
        self._plan.missing += 1
        if remote.fields != agreed.fields or remote.text_digest != agreed.text:
            self._plan.steps.append(CreateNote(id, came_back=True))
        elif self._is_unsure:
            about = "is gone; its memory stays until every note of the vault can be read"
            self._problems.append(Problem(agreed.file, about))
        else:
            self._plan.steps.append(DeleteMemory(id, agreed.file))

    def _is_disputed(self, file: str) -> bool:
        """Whether a file that has the id of another note lies there."""
        return file in self._scan.notes and all(note.file != file for note in self._holding.values())

    def _decide_new(self, local: LocalNote) -> None:
        try:
            note = local.note
            fields = self._fields(local, note, None, old_file=None)
            if not normal_body(note.body).strip():
                raise InvalidInput("has no text yet", field="note")
            self._plan.steps.append(SaveNote(local, fields))
            self._note_unknown_links(local, note)
        except InvalidInput as error:
            self._problems.append(Problem(local.file, str(error)))

    def _note_unknown_links(self, local: LocalNote, note: Note) -> None:
        for text in unknown_links(note, self._plan.names):
            self._plan.has_unknown_links = True
            self._problems.append(Problem(local.file, f"links to {text}, which is no note here"))

    def _fields(self, local: LocalNote, note: Note, base: Fields | None, *, old_file: str | None) -> Fields:
        folder = folder_of(local.file)
        path = path_for(folder, self._plan.folders)
        if base is not None:
            stayed = is_folder_of(folder, str(base[PATH])) if old_file is None else folder == folder_of(old_file)
            path = str(base[PATH]) if stayed else path
        checked = read_value(WRITTEN[PATH], path)
        return local_fields(note, file=local.file, path=checked, names=self._plan.names, base=base, old_file=old_file)


def _title(agreed: Agreed) -> str:
    return str(agreed.fields["title"])
