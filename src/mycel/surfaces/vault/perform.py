"""Carrying out a plan, step by step: every step leaves both sides and the agreement in order, also when it is cut off.

A text is kept in a second place before it is replaced in its first, and a step that is done again does nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial, singledispatchmethod

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.draft import first_sentence
from mycel.domain.memory import Memory
from mycel.errors import AccessDenied, Conflict, InvalidInput, MycelError, NotFound
from mycel.surfaces.vault.agreement import Agreed, Agreement
from mycel.surfaces.vault.compare import Reconcile, SaveNote
from mycel.surfaces.vault.files import AT_ONCE, ChangedMeanwhile, VaultFiles, digest
from mycel.surfaces.vault.names import (
    SUFFIX,
    folded,
    folder_for,
    folder_of,
    free_file,
    joined,
    known_folders,
    natural_stem,
    stem_of,
)
from mycel.surfaces.vault.note_fields import PATH, Remote, conflict_copy, rendered
from mycel.surfaces.vault.note_writer import OF_ONE_NOTE, NoteWriter, disputed_text, text_of
from mycel.surfaces.vault.plan import (
    BringBack,
    CreateNote,
    DeleteMemory,
    Forget,
    Plan,
    Problem,
    RemoveNote,
    SetAside,
    Step,
    of_nobody,
)
from mycel.surfaces.vault.scan import LocalNote, Scan
from mycel.surfaces.vault.team_view import TeamView

# Agreed on together: each time the disk is waited for.
BATCH = 200
# What a round does, and a report tells, by files.
KINDS = ("saved", "updated", "deleted", "written", "moved", "removed", "restored", "conflicts")


@dataclass(slots=True)
class Done:
    """What a round has done, by files."""

    saved: list[str] = field(default_factory=list[str])
    updated: list[str] = field(default_factory=list[str])
    deleted: list[str] = field(default_factory=list[str])
    written: list[str] = field(default_factory=list[str])
    moved: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    restored: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])
    problems: list[Problem] = field(default_factory=list[Problem])
    # Somebody was faster: to be looked at again.
    again: bool = False

    @property
    def is_nothing(self) -> bool:
        return not any(getattr(self, kind) for kind in KINDS)


class Performer:
    def __init__(
        self, memory: MemoryApi, files: VaultFiles, agreement: Agreement, view: TeamView, plan: Plan, scan: Scan
    ) -> None:
        self._memory = memory
        self._files = files
        self._agreement = agreement
        self._view = view
        self._plan = plan
        self._taken = {folded(file) for file in (*scan.signatures, *scan.unseen)}
        self._folders = dict(plan.places.folders)
        # Before any is written, so that notes can name each other.
        self._new_files = {step.id: self._new_file(step.id) for step in plan.steps if isinstance(step, CreateNote)}
        self._names = plan.places.names.with_files(self._new_files)
        self._pending: list[Agreed] = []
        self._saved: set[str] = set()
        # By the file of each new note: gives its memory, or raises why there is none.
        self._saves: dict[str, Callable[[], Remote]] = {}
        self.done = Done(problems=list(plan.problems))
        self._writer = NoteWriter(memory, lambda file, about: self.done.problems.append(Problem(file, about)))

    def perform(self, progress: Callable[[int], None] | None = None) -> Done:
        steps = self._plan.steps
        for start in range(0, len(steps), BATCH):
            batch = steps[start : start + BATCH]
            self._prepare(batch)
            for number, step in enumerate(batch, start + 1):
                self._try(step)
                if progress is not None:
                    progress(number)
            self._settle()
        return self.done

    def _prepare(self, batch: Sequence[Step]) -> None:
        """All that has to wait for a disk, here or where the memories are, waits together."""
        new = [step for step in batch if isinstance(step, SaveNote)]
        keys = self._agreement.intend((step.note.file, step.note.sha256) for step in new)
        with ThreadPoolExecutor(AT_ONCE, "vault") as threads:
            for step, key in zip(new, keys, strict=True):
                save = partial(self._writer.save, step, key=key)
                # Of values under one key the last stands: they come one after another.
                self._saves[step.note.file] = save if step.fields.get("key") else threads.submit(save).result
        self._files.stage(self._texts_of(batch))

    def _texts_of(self, batch: Sequence[Step]) -> Iterator[tuple[str, bytes]]:
        for step in batch:
            if isinstance(step, CreateNote):
                yield self._new_files[step.id], rendered(None, self._view.notes[step.id], self._names).encode()
            elif isinstance(step, SaveNote) and not step.fields.get("key"):
                # What cannot be saved or written is told when its turn comes.
                with contextlib.suppress(MycelError):
                    saved = self._saves[step.note.file]()
                    yield step.note.file, rendered(step.note.text, saved, self._names).encode()

    def _try(self, step: Step) -> None:
        try:
            self._do(step)
        except ChangedMeanwhile:
            self.done.again = True
        except OF_ONE_NOTE as error:
            self._note_problem(step, error)
        except Conflict as error:
            self.done.again = True
            self._note_problem(step, error)
        except OSError as error:
            self._note_problem(step, InvalidInput(error.strerror or "cannot be written", field="file"))

    def _settle(self) -> None:
        self._files.settle()
        self._agreement.agree(self._pending)
        self._pending.clear()

    def _note_problem(self, step: Step, error: MycelError) -> None:
        has_note = not isinstance(step, CreateNote | DeleteMemory | Forget)
        file = step.note.file if has_note else self._file_of(step)
        self.done.problems.append(Problem(file, str(error)))

    def _file_of(self, step: CreateNote | DeleteMemory | Forget) -> str:
        known = self._agreement.notes.get(step.id)
        return known.file if known is not None else step.id

    @singledispatchmethod
    def _do(self, step: Step) -> None:
        raise AssertionError(step)

    @_do.register
    def _(self, step: SaveNote) -> None:
        saved = self._seen(self._saves.pop(step.note.file)())
        self._saved.add(saved.memory.id)
        self.done.saved.append(step.note.file)
        self.done.again |= self._plan.has_unknown_links
        self._show(saved, step.note, lies_right=saved.memory.path == step.fields[PATH])

    @_do.register
    def _(self, step: Reconcile) -> None:
        remote = self._view.notes[step.id]
        if step.conflicts:
            self._keep_both(step, remote)
        if step.pushes:
            remote = self._seen(self._writer.push(step, remote))
            self.done.updated.append(step.note.file)
        lies_right = remote.memory.path == step.fields[PATH]
        self._show(remote, step.note, lies_right=lies_right, old_title=step.old_title)

    @_do.register
    def _(self, step: CreateNote) -> None:
        if step.id in self._saved:
            return
        self._show(self._view.notes[step.id], None)
        if step.came_back:
            self.done.problems.append(Problem(self._pending[-1].file, "was changed in memory: the file is back"))

    @_do.register
    def _(self, step: DeleteMemory) -> None:
        try:
            if self._memory.get(step.id, for_use=False).version != self._view.notes[step.id].memory.version:
                raise Conflict("the memory was changed meanwhile")
            self._memory.delete(step.id)
        except AccessDenied as error:
            self._show(self._view.notes[step.id], None)
            self.done.problems.append(Problem(step.file, f"{error}: the file is back"))
            return
        self._view.notes.pop(step.id, None)
        self._agreement.delete(step.id)
        self.done.deleted.append(step.file)

    @_do.register
    def _(self, step: RemoveNote) -> None:
        self._files.remove(step.note.file, expected=step.note.sha256)
        self._agreement.forget([step.id])
        self.done.removed.append(step.note.file)

    @_do.register
    def _(self, step: SetAside) -> None:
        """What was deleted can come back, and its edit waits for a decision; of what was purged nothing is saved."""
        copy = self._copy(step.id, step.note)
        deleted = self._deleted(step.id)
        if deleted is not None:
            self._ask(deleted, step.note, text_of(step.note), copy)
        self._files.remove(step.note.file, expected=step.note.sha256)
        self._agreement.forget([step.id])
        self.done.conflicts.append(copy)
        self.done.problems.append(Problem(copy, "is what you wrote into a note whose memory is gone meanwhile"))

    @_do.register
    def _(self, step: BringBack) -> None:
        try:
            self._memory.restore(step.id)
        except NotFound:
            # Purged meanwhile, or somebody else's to see.
            self._agreement.give_up(step.id)
            self.done.problems.append(Problem(step.note.file, of_nobody(step.id)))
            return
        self.done.restored.append(step.note.file)
        # The next round finds a memory, and compares.
        self.done.again = True

    @_do.register
    def _(self, step: Forget) -> None:
        self._agreement.forget([step.id])

    def _seen(self, remote: Remote) -> Remote:
        self._view.notes[remote.memory.id] = remote
        return remote

    def _keep_both(self, step: Reconcile, remote: Remote) -> None:
        """The note's text as a copy beside it, and in the inbox for whoever decides; the memory's stays in the note."""
        if step.conflicts == (PATH,):
            self.done.problems.append(Problem(step.note.file, "was moved on both sides: the memory's folder holds"))
            return
        copy = self._copy(step.id, step.note)
        self._ask(remote.memory, step.note, disputed_text(step, self._memory.member_id), copy)
        self.done.conflicts.append(copy)

    def _ask(self, memory: Memory, note: LocalNote, text: str, copy: str) -> None:
        key = f"vault-{self._agreement.vault}-{memory.id}-{note.sha256[:32]}-{memory.version}"
        self._writer.ask(memory, text, file=copy, key=key, links=memory.id in self._view.notes)

    def _deleted(self, id: str) -> Memory | None:
        """As both sides last knew it; None when it was purged or is out of sight."""
        agreed = self._agreement.notes.get(id)
        try:
            return None if agreed is None else self._memory.get(id, as_of=agreed.at)
        except OF_ONE_NOTE:
            return None

    def _copy(self, id: str, note: LocalNote) -> str:
        """Named by what it says, so that a round that was cut off makes no second one."""
        file = f"{note.file[: -len(SUFFIX)]} (conflict {note.sha256[:8]}){SUFFIX}"
        text = conflict_copy(note.note.text, id).encode()
        try:
            self._files.create(file, text)
        except ChangedMeanwhile:
            if digest(self._files.read(file)) != digest(text):
                raise
        self._taken.add(folded(file))
        return file

    def _show(
        self, remote: Remote, note: LocalNote | None, *, lies_right: bool = True, old_title: str | None = None
    ) -> None:
        """Brings the file to what the memory says, and agrees on it."""
        memory = remote.memory
        old = None if note is None else note.text
        new = rendered(old, remote, self._names)
        if note is None:
            file = self._new_files.get(memory.id) or self._new_file(memory.id)
            self._files.create(file, new.encode())
            self.done.written.append(file)
        else:
            if new != old:
                self._files.replace(note.file, new.encode(), expected=note.sha256)
                self.done.written.append(note.file)
            file = self._moved(note, self._wanted_file(note, remote, lies_right=lies_right, old_title=old_title))
        at = memory.updated_at.isoformat()
        sha256 = digest(new.encode())
        agreed = Agreed(memory.id, file, sha256, memory.version, at, remote.text_digest, dict(remote.fields))
        self._pending.append(agreed)

    def _moved(self, note: LocalNote, wanted: str) -> str:
        if wanted != note.file:
            self._files.move(note.file, wanted)
            self._taken.discard(folded(note.file))
            self._taken.add(folded(wanted))
            self.done.moved.append(wanted)
        return wanted

    def _new_file(self, id: str) -> str:
        memory = self._view.notes[id].memory
        file = free_file(self._folder(memory.path), memory.title, id, taken=self._taken)
        self._taken.add(folded(file))
        return file

    def _folder(self, path: str) -> str:
        folder = folder_for(path, self._folders)
        self._folders = known_folders([(joined(folder, SUFFIX), path)]) | self._folders
        return folder

    def _wanted_file(self, note: LocalNote, remote: Remote, *, lies_right: bool, old_title: str | None) -> str:
        """Where it lies, unless the memory moved, or somebody gave it a title and the file was called by the last.

        A title that follows from the text renames nothing: the file would move away under its writer's hands.
        """
        memory = remote.memory
        stem = stem_of(note.file)
        is_called_so = old_title is not None and stem == natural_stem(old_title, memory.id)
        is_retitled = is_called_so and memory.title not in {old_title, first_sentence(memory.content)}
        if lies_right and not is_retitled:
            return note.file
        new = natural_stem(memory.title, memory.id) if is_retitled else stem
        wanted = joined(folder_of(note.file) if lies_right else self._folder(memory.path), new + SUFFIX)
        is_free = folded(wanted) not in self._taken
        return wanted if is_free else free_file(folder_of(wanted), new, memory.id, taken=self._taken)
