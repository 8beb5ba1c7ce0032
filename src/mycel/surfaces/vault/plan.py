"""What has to be done so that both sides agree: last agreement, files and memories in, steps out; it does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mycel.errors import InvalidInput
from mycel.surfaces.vault.agreement import Agreed, Agreement
from mycel.surfaces.vault.compare import NO_TEXT, Places, Reconcile, SaveNote, compared, new_note, title_of
from mycel.surfaces.vault.front_matter import Note
from mycel.surfaces.vault.names import known_folders
from mycel.surfaces.vault.note_fields import PATH, Remote, has_links, has_old_names, unknown_links
from mycel.surfaces.vault.scan import IS_EMPTY, LocalNote, Scan
from mycel.surfaces.vault.wiki_links import NoteNames


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
class BringBack:
    """The memory went with its file, and the file was put back."""

    id: str
    note: LocalNote


@dataclass(frozen=True, slots=True)
class Forget:
    id: str


Step = SaveNote | Reconcile | CreateNote | DeleteMemory | RemoveNote | SetAside | BringBack | Forget


@dataclass(frozen=True, slots=True)
class Problem:
    """What a person has to look at; nothing is done about it, and nothing is lost."""

    file: str
    about: str


@dataclass(slots=True)
class Plan:
    places: Places
    steps: list[Step] = field(default_factory=list[Step])
    problems: list[Problem] = field(default_factory=list[Problem])
    conflict_copies: list[str] = field(default_factory=list[str])
    # Files that were deleted.
    missing: int = 0
    # Memories that are gone, and files whose memories do not have the version any more that both sides agreed on.
    gone: list[str] = field(default_factory=list[str])
    with_other_past: list[str] = field(default_factory=list[str])
    # What was agreed on of memories that have later versions.
    passed: list[Agreed] = field(default_factory=list[Agreed])
    has_unknown_links: bool = False


def of_nobody(id: str) -> str:
    return f"has the id {id}, which no memory has that you may see: take the id out to save it as a new one"


def plan(agreement: Agreement, scan: Scan, memories: Mapping[str, Remote]) -> Plan:
    return _Planner(agreement, scan, memories).plan()


class _Planner:
    def __init__(self, agreement: Agreement, scan: Scan, memories: Mapping[str, Remote]) -> None:
        agreed = self._agreed = agreement.notes
        self._deleted = agreement.deleted
        self._trusts_versions = agreement.trusts_versions
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
        self._places = Places(names, folders)
        self._plan = Plan(self._places, problems=self._problems, conflict_copies=self._copies)

    def plan(self) -> Plan:
        self._look_at_pasts()
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

    def _look_at_pasts(self) -> None:
        for id, one in self._agreed.items():
            found = self._memories.get(id)
            if found is None:
                continue
            if found.memory.version > one.version:
                self._plan.passed.append(one)
            elif found.memory.version < one.version or found.memory.updated_at.isoformat() != one.at:
                self._plan.with_other_past.append(one.file)

    def _holders(self) -> dict[str, LocalNote]:
        """The one file of each id."""
        found: dict[str, list[LocalNote]] = {}
        for file, one in self._scan.notes.items():
            known = self._by_file.get(file)
            if one.text is None:
                is_new = known is None and one.problem == IS_EMPTY
                self._problems.append(Problem(file, NO_TEXT if is_new else one.problem or "cannot be read"))
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
        if remote is None and agreed is None and id in self._deleted:
            self._plan.steps.append(BringBack(id, note))
        elif remote is None and agreed is None:
            self._problems.append(Problem(note.file, of_nobody(id)))
        elif remote is None:
            self._plan.gone.append(id)
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
                    self._plan.steps.append(Reconcile(id, local, agreed.fields, old_title=title_of(agreed)))
                return
            unchanged = is_same and not has_old_names(local.note, self._places.names)
        step = compared(local, agreed, remote, self._places, trusts_versions=self._trusts_versions)
        if unchanged and not step.pushes and not step.conflicts:
            return
        self._note_unknown_links(local, local.note)
        self._plan.steps.append(step)

    def _decide_missing(self, id: str, agreed: Agreed) -> None:
        remote = self._memories.get(id)
        if self._scan.hides(agreed.file) or self._is_disputed(agreed.file):
            return
        if agreed.file in self._scan.folders:
            self._problems.append(Problem(agreed.file, "is a folder now; take it away to delete the memory"))
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
            self._plan.steps.append(new_note(local, self._places))
            self._note_unknown_links(local, local.note)
        except InvalidInput as error:
            self._problems.append(Problem(local.file, str(error)))

    def _note_unknown_links(self, local: LocalNote, note: Note) -> None:
        for text in unknown_links(note, self._places.names):
            self._plan.has_unknown_links = True
            self._problems.append(Problem(local.file, f"links to {text}, which is no note here"))
