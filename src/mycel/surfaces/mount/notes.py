"""The notes of a mount: what each file says now, and what becomes of a file that somebody wrote, moved or removed."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from mycel.contracts.clock import SystemClock
from mycel.contracts.memory_api import MemoryApi
from mycel.errors import AccessDenied, Conflict, InvalidInput, MycelError, NotFound
from mycel.surfaces.mount.held import HeldFile, HeldFiles
from mycel.surfaces.mount.tree import NoteTree
from mycel.surfaces.vault.agreement import Agreed
from mycel.surfaces.vault.compare import compared, new_note
from mycel.surfaces.vault.note_fields import (
    LINKS,
    PATH,
    VERSION,
    Fields,
    Remote,
    own_keys,
    remote_of,
    rendered,
    text_digest,
    unknown_links,
)
from mycel.surfaces.vault.note_writer import NoteWriter, disputed_text, text_of
from mycel.surfaces.vault.scan import IS_EMPTY, LocalNote, local_note
from mycel.surfaces.vault.sync import MOST_GONE
from mycel.surfaces.vault.team_view import TeamView
from mycel.surfaces.vault.watch import READ_ANEW_SECONDS, ChangeStream

# Somebody may be faster than a write, but not for ever.
MOST_TRIES = 3
# So many removals in so short a time are a slip of `rm -r`, not a person's tidying.
REMOVALS_SECONDS = 10.0
LOOK_SECONDS = 1.0


class MountedNotes:
    """`lock` guards the names and held files, and no request is made under it; `writing` is one writer at a time."""

    def __init__(self, memory: MemoryApi, say: Callable[[str], None], *, allows_removals: bool = False) -> None:
        self._memory = memory
        self._say = say
        self._allows_removals = allows_removals
        self._view = TeamView(memory)
        self._writer = NoteWriter(memory, self.tell)
        self._next_end: datetime | None = None
        self._removed_at: deque[float] = deque()
        # Memories that went with their files here: who puts such a file back, as `mv` does, wants its memory back.
        self._removed: set[str] = set()
        self._contents: dict[str, tuple[Remote, tuple[str, ...], bytes]] = {}
        # By the memory and the version that a text said it was of: what that text said when it was last written here.
        # An editor goes on saving the text it has, which says the version it once read.
        self._accepted: dict[tuple[str, object], Agreed] = {}
        # Memories whose notes an editor has put aside, with the file that it made of them.
        self._aside: dict[str, HeldFile] = {}
        self.tree = NoteTree()
        self.held = HeldFiles()
        self.lock = threading.RLock()
        self.writing = threading.Lock()

    def read(self) -> None:
        """All of it, at first."""
        self._view.read({}, cursor=0)
        self._place_all()

    def keep_up(self, until: threading.Event) -> None:
        """Follows the team's changes until it is told to end."""
        stream = ChangeStream(self._memory, self._view.cursor)
        read_at = time.monotonic()
        while not until.is_set():
            try:
                stream.came.wait(LOOK_SECONDS)
                is_old = time.monotonic() - read_at > READ_ANEW_SECONDS
                if is_old:
                    self._view.read({}, cursor=self._view.cursor)
                    read_at = time.monotonic()
                if changes := stream.taken():
                    self._view.follow(changes, {})
                if changes or is_old or self._has_ended():
                    self._place_all()
            except MycelError:
                # A service that is away comes back; what is open or asked for meanwhile is told so.
                until.wait(LOOK_SECONDS)
        stream.is_over.set()

    def _has_ended(self) -> bool:
        """Time passes for what expires, and no change tells of it."""
        return self._next_end is not None and self._next_end <= SystemClock().now()

    def _place_all(self) -> None:
        with self.lock:
            ends = (one.memory.expires_at for one in self._view.notes.values() if not _is_over(one))
            self._next_end = min(filter(None, ends), default=None)
            shown = {id: one for id, one in self._view.notes.items() if not _is_over(one)}
            for id in self.tree.file_of.keys() - shown.keys():
                self.tree.drop(id)
                self._contents.pop(id, None)
            for id, remote in shown.items():
                if id not in self._aside and self.tree.file_of.get(id) not in self.held:
                    self.tree.place(remote)

    def recent(self, number: int) -> list[str]:
        with self.lock:
            notes = [one.memory for one in self._view.notes.values() if one.memory.id in self.tree.file_of]
        return [one.id for one in sorted(notes, key=lambda one: one.updated_at, reverse=True)[:number]]

    def require_present(self, id: str) -> None:
        """As the memory is this moment; raises `NotFound` when it is gone or out of sight."""
        known = self._view.notes.get(id)
        try:
            memory = self._memory.get(id, for_use=False)
        except NotFound:
            self._view.notes.pop(id, None)
            with self.lock:
                self.tree.drop(id)
            raise
        if known is None or memory.version != known.memory.version:
            self._view.refresh(id, {})
        if id not in self._view.notes or _is_over(self._view.notes[id]):
            raise NotFound("there is no such note")

    def content(self, id: str) -> bytes:
        remote = self._view.notes[id]
        names = self.tree.places.names if remote.links else None
        links = () if names is None else tuple(names.link(target) for _, target in remote.links)
        known = self._contents.get(id)
        if known is None or known[0] is not remote or known[1] != links:
            text = rendered(None, remote, names or self.tree.places.names)
            known = self._contents[id] = (remote, links, text.encode())
        return known[2]

    def changed_ns(self, id: str) -> int:
        return int(self._view.notes[id].memory.updated_at.timestamp() * 1e9)

    def publish(self, held: HeldFile) -> None:
        """Saves what was written into a note. Raises what is wrong with it; what stood stands then.

        An empty file is not finished yet: a shell empties it before it writes.
        """
        if not held.is_dirty or not held.content.strip():
            return
        content = bytes(held.content)
        local = local_note(held.file, content)
        if local.is_conflict_copy:
            return
        id = self._id_for(local, held)
        remote = self._written(local, id, held)
        with self.lock:
            self._settle_aside(remote.memory.id)
            self._view.notes[remote.memory.id] = remote
            self.tree.bind(remote, held.file)
            held.id, held.is_dirty = remote.memory.id, bytes(held.content) != content

    def _id_for(self, local: LocalNote, held: HeldFile) -> str | None:
        with self.lock:
            there = self.tree.id_at.get(held.file)
            if local.id is None:
                aside = (id for id, one in self._aside.items() if one.was == held.file)
                return held.id or there or next(aside, None)
            owner = self.tree.file_of.get(local.id)
            if owner not in {None, held.file}:
                about = f"belongs to {owner}; without an id this becomes a memory of its own"
                raise InvalidInput(about, field="id")
            if there not in {None, local.id}:
                raise InvalidInput("is of another memory than the one of this file", field="id")
            return local.id

    def _written(self, local: LocalNote, id: str | None, held: HeldFile) -> Remote:
        if id is None:
            saved = self._writer.save(new_note(local, self.tree.places), key=held.key)
            self._accept(saved, local, saved.fields)
            self._tell_of_losses(local)
            return saved
        for left in reversed(range(MOST_TRIES)):
            try:
                return self._updated(local, id)
            except Conflict:
                if not left:
                    raise
        raise AssertionError(id)

    def _updated(self, local: LocalNote, id: str) -> Remote:
        try:
            if id in self._removed:
                self._memory.restore(id)
                self._removed.discard(id)
            remote = remote_of(self._memory.get(id, for_use=False), self._memory.links(id))
        except NotFound:
            about = f"{id} is of no memory that you may see; without an id this becomes a new one"
            raise InvalidInput(about, field="id") from None
        step = compared(local, self._base(local, remote), remote, self.tree.places)
        if set(step.conflicts) - {PATH}:
            key = f"mount-{id}-{local.sha256[:32]}-{remote.memory.version}"
            text = disputed_text(step, self._memory.member_id)
            self._writer.ask(remote.memory, text, file=local.file, key=key, links=True)
            self.tell(local.file, "was changed by others meanwhile: theirs stands, and yours waits in the inbox")
        if step.pushes:
            remote = self._writer.push(step, remote)
        self._accept(remote, local, step.fields)
        self._tell_of_losses(local)
        return remote

    def _base(self, local: LocalNote, remote: Remote) -> Agreed | None:
        """What whoever wrote the text had before; None when nobody knows."""
        id, claimed = remote.memory.id, _claimed(local)
        file = self.tree.file_of.get(id, local.file)
        known = self._accepted.get((id, claimed))
        if known is not None:
            return replace(known, file=file)
        if claimed in {None, str(remote.memory.version)}:
            return _agreed(remote, file)
        for version in self._memory.history(id):
            if str(version.memory.version) == claimed:
                return _agreed(replace(remote_of(version.memory), links=remote.links), file, links_of=remote)
        return None

    def _accept(self, remote: Remote, local: LocalNote, fields: Fields) -> None:
        text = text_digest(text_of(local))
        self._accepted[remote.memory.id, _claimed(local)] = replace(
            _agreed(remote, local.file), text=text, fields=fields
        )

    def _tell_of_losses(self, local: LocalNote) -> None:
        """A mount has no file of its own in which they could stay."""
        if keys := own_keys(local.note):
            self.tell(local.file, f"{', '.join(keys)} is no key of a memory and was not kept; a vault keeps it")
        for link in unknown_links(local.note, self.tree.places.names):
            self.tell(local.file, f"links to {link}, which is no note here: the link was not kept")

    def put_aside(self, file: str, target: str) -> None:
        """A note that gets the name of something else: an editor is about to write it anew, or somebody hides it."""
        with self.lock:
            id = self.tree.id_at[file]
            held = HeldFile(target, bytearray(self.content(id)), id=id, was=file)
            self._aside[id] = held
            self.held.pop(file, None)
            self.tree.drop(id, keep_folder=True)
            self.hold(held)

    def put_back(self, file: str) -> None:
        """What was put aside for a file that could not be written after all."""
        with self.lock:
            for id, held in list(self._aside.items()):
                if held.was == file and id in self._view.notes:
                    self._settle_aside(id)
                    self.let_go(held.file)
                    self.tree.bind(self._view.notes[id], file)

    def _settle_aside(self, id: str) -> None:
        held = self._aside.pop(id, None)
        if held is not None:
            held.id = held.was = None

    def move(self, file: str, target: str) -> None:
        """Another name of a note is another title or path of its memory."""
        with self.lock:
            id, replaced = self.tree.id_at[file], self.tree.id_at.get(target)
            local = local_note(target, self.content(id))
            agreed = _agreed(self._view.notes[id], file)
        if replaced is not None:
            self._require_may_remove()
        remote = self._view.notes[id]
        step = compared(local, agreed, remote, self.tree.places)
        if step.pushes:
            remote = self._writer.push(step, remote)
        if replaced is not None:
            self._delete(replaced)
        with self.lock:
            self._view.notes[id] = remote
            self.tree.drop(id, keep_folder=True)
            self.tree.bind(remote, target)
            self._accepted = {key: one for key, one in self._accepted.items() if key[0] != id}

    def remove(self, file: str) -> None:
        with self.lock:
            id = self.tree.id_at.get(file)
            aside = self.held.get(file)
            if id is None and aside is not None and aside.id is not None and self._aside.get(aside.id) is aside:
                id = aside.id
        if id is not None:
            self._require_may_remove()
            self._delete(id)
        with self.lock:
            self.let_go(file)

    def _delete(self, id: str) -> None:
        with contextlib.suppress(NotFound):
            self._memory.delete(id)
            self._removed.add(id)
        with self.lock:
            self._settle_aside(id)
            self._view.notes.pop(id, None)
            self.tree.drop(id, keep_folder=True)

    def _require_may_remove(self) -> None:
        now = time.monotonic()
        while self._removed_at and now - self._removed_at[0] > REMOVALS_SECONDS:
            self._removed_at.popleft()
        most = max(1, int(len(self._view.notes) * MOST_GONE))
        if len(self._removed_at) >= most and not self._allows_removals:
            raise AccessDenied("more than a tenth of the notes would go at once: --allow-deletions lets them")
        self._removed_at.append(now)

    def hold(self, held: HeldFile) -> None:
        self.held[held.file] = held
        self.tree.add(held.file)

    def let_go(self, file: str) -> None:
        """A held file; a note of that name stays."""
        if self.held.pop(file, None) is not None and file not in self.tree.id_at:
            self.tree.remove(file, keep_folder=True)

    def settle(self, held: HeldFile) -> None:
        """After the last writer has gone: a memory's note shows what the memory says again."""
        if held.is_dirty and held.file in self.tree.id_at and not held.content.strip():
            self.tell(held.file, IS_EMPTY)
        with self.lock:
            if held.file in self.tree.id_at and self.held.get(held.file) is held:
                self.let_go(held.file)

    def tell(self, file: str, about: str) -> None:
        self._say(f"{file}: {about}")


def _agreed(remote: Remote, file: str, *, links_of: Remote | None = None) -> Agreed:
    fields = dict(remote.fields)
    if links_of is not None:
        fields[LINKS] = links_of.fields[LINKS]
    memory = remote.memory
    return Agreed(memory.id, file, "", memory.version, "", remote.text_digest, fields)


def _claimed(local: LocalNote) -> object:
    """Which version the text says it is of."""
    return local.note.value(VERSION)


def _is_over(remote: Remote) -> bool:
    ends = remote.memory.expires_at
    return ends is not None and ends <= SystemClock().now()
