"""What a note says, written into memory: as a new one, as the next version, or into the inbox for a decision."""

from __future__ import annotations

from collections.abc import Callable

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.fields import MAX_LABEL
from mycel.domain.memory import Memory, MemoryType
from mycel.errors import AccessDenied, InvalidInput, NotFound, TooLarge
from mycel.surfaces.vault.compare import Reconcile, SaveNote
from mycel.surfaces.vault.front_matter import normal_body
from mycel.surfaces.vault.note_fields import CONFLICT_OF, LINKS, Remote, as_changed, as_saved, remote_of
from mycel.surfaces.vault.scan import LocalNote

# What is about one note, and not about the team or the disk.
OF_ONE_NOTE = (InvalidInput, AccessDenied, NotFound, TooLarge)


class NoteWriter:
    """A link that cannot be made is told, by file and reason, and stops nothing."""

    def __init__(self, memory: MemoryApi, tell: Callable[[str, str], None]) -> None:
        self._memory = memory
        self._tell = tell

    def save(self, step: SaveNote, *, key: str) -> Remote:
        """Once, however often the same key is said."""
        saved = self._memory.save(text_of(step.note), idempotency_key=key, **as_saved(step.fields))
        for link in _listed(step.fields[LINKS]):
            self._link(step.note.file, saved.id, link)
        return self._fresh(saved)

    def push(self, step: Reconcile, remote: Remote) -> Remote:
        """Raises `Conflict` when somebody was faster."""
        changed = as_changed(step.fields, step.changes)
        if step.pushes_text:
            changed["content"] = text_of(step.note)
        memory = remote.memory
        if changed:
            updated = self._memory.update(step.id, expected_version=memory.version, **changed)
            if updated.id == memory.id:
                memory = updated
            else:
                self._tell(step.note.file, f"what you changed waits for a reviewer as {updated.id}; what stood stands")
        if LINKS in step.changes:
            wanted, had = set(_listed(step.fields[LINKS])), set(_listed(remote.fields[LINKS]))
            for link in sorted(wanted - had):
                self._link(step.note.file, step.id, link)
            for link in sorted(had - wanted):
                relation, _, target = link.partition(" ")
                self._memory.unlink(step.id, target, relation)
        return self._fresh(memory)

    def ask(self, memory: Memory, text: str, *, file: str, key: str, links: bool) -> None:
        """Puts a text into the inbox, for the eyes that may see the memory."""
        has_detail = memory.type in {MemoryType.EPISODE, MemoryType.ARTIFACT, MemoryType.PROFILE}
        kept = self._memory.save(
            text,
            title=f"Conflict: {memory.title}"[:MAX_LABEL].strip(),
            type=MemoryType.NOTE.value if has_detail else memory.type.value,
            path=memory.path,
            visibility=memory.visibility.value,
            needs_review=True,
            metadata={CONFLICT_OF: memory.id, "file": file},
            idempotency_key=key,
            allowed_roles=[role.value for role in memory.allowed_roles],
        )
        if links:
            self._link(file, kept.id, f"related_to {memory.id}")

    def _fresh(self, memory: Memory) -> Remote:
        return remote_of(memory, self._memory.links(memory.id))

    def _link(self, file: str, id: str, link: str) -> None:
        relation, _, target = link.partition(" ")
        try:
            self._memory.link(id, target, relation)
        except OF_ONE_NOTE as error:
            self._tell(file, str(error))


def text_of(note: LocalNote) -> str:
    return normal_body(note.note.body)


def disputed_text(step: Reconcile, member: str) -> str:
    """What a reviewer reads of a conflict: the note's text, and what else it says otherwise."""
    text = text_of(step.note)
    if "" in step.conflicts:
        return text
    said = "; ".join(f"{name}: {step.fields[name]}" for name in step.conflicts)
    return f"In the vault of {member} this note says otherwise: {said}\n\n{text}"


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
