"""What a member sees of its team, as a vault wants it: every memory that stands, with its links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.change import Change, Operation
from mycel.domain.fields import MAX_PAGE
from mycel.domain.memory import Memory, Status
from mycel.errors import NotFound
from mycel.surfaces.vault.agreement import Agreed
from mycel.surfaces.vault.note_fields import CONFLICT_OF, LINKS, Fields, Remote, remote_of

_OF_LINKS = frozenset({Operation.LINK, Operation.UNLINK})


class TeamView:
    """Read whole at first, then kept up by the changes it is told of."""

    def __init__(self, memory: MemoryApi) -> None:
        self._memory = memory
        self.notes: dict[str, Remote] = {}
        self.cursor = 0
        self._told_of: set[str] = set()

    def read(self, known: Mapping[str, Fields], *, cursor: int, progress: Callable[[int], None] | None = None) -> None:
        """All of it. `known` is what notes said of memories when both sides agreed, at that place of the log."""
        linked = self._linked_since(cursor)
        found: dict[str, Remote] = {}
        for number, one in enumerate(self._standing(known), 1):
            if one.id in linked or known.get(one.id, {}).get(LINKS):
                found[one.id] = remote_of(one, self._memory.links(one.id))
            else:
                found[one.id] = remote_of(one)
            if progress is not None:
                progress(number)
        self.notes = found

    def follow(self, changes: Iterable[Change], known: Mapping[str, Fields]) -> None:
        """Takes in what happened; the other end of a link is told of as well."""
        ids: set[str] = set()
        for change in changes:
            self.cursor = max(self.cursor, change.sequence)
            self._told_of.add(change.memory_id)
            ids.add(change.memory_id)
            if change.other_id is not None and change.names_another:
                ids.add(change.other_id)
        for id in ids:
            self.refresh(id, known)

    def never_told_of(self, ids: Iterable[str]) -> set[str]:
        """Of memories that are gone: that one was deleted, purged or hidden by a change is told."""
        unknown = set(ids) - self._told_of
        if unknown:
            self._told_of |= {change.memory_id for change in self._memory.changes(0)}
        return unknown - self._told_of

    def has_other_past(self, one: Agreed) -> bool:
        """Whether the version that was agreed on is another by now. One that may not be seen any more tells nothing."""
        try:
            past = self._memory.history(one.id)
        except NotFound:
            return False
        then = [found.memory.updated_at for found in past if found.memory.version == one.version]
        return any(at.isoformat() != one.at for at in then)

    def refresh(self, id: str, known: Mapping[str, Fields]) -> None:
        try:
            memory = self._memory.get(id, for_use=False)
        except NotFound:
            self.notes.pop(id, None)
            return
        if self._is_shown(memory, known):
            self.notes[id] = remote_of(memory, self._memory.links(id))
        else:
            self.notes.pop(id, None)

    def _standing(self, known: Mapping[str, Fields]) -> Iterator[Memory]:
        for status in (Status.ACTIVE, Status.INBOX):
            agent = None if status is Status.ACTIVE or known else self._memory.member_id
            cursor: str | None = None
            while True:
                page = self._memory.list(status=status.value, agent=agent, limit=MAX_PAGE, cursor=cursor)
                yield from (one for one in page if self._is_shown(one, known))
                cursor = page.next_cursor
                if cursor is None:
                    break

    def _is_shown(self, memory: Memory, known: Mapping[str, Fields]) -> bool:
        """What waits for a reviewer is in the vault of who wrote it, and where it was before it had to wait."""
        if memory.team != self._memory.team or memory.deleted_at is not None:
            return False
        if memory.status is Status.ACTIVE:
            return True
        is_own = memory.agent_id == self._memory.member_id or memory.id in known
        return memory.status is Status.INBOX and is_own and CONFLICT_OF not in memory.metadata

    def _linked_since(self, cursor: int) -> set[str]:
        """Which memories were linked or unlinked since then: no list of memories tells their links."""
        found: set[str] = set()
        self.cursor = cursor
        for change in self._memory.changes(cursor):
            self.cursor = change.sequence
            self._told_of.add(change.memory_id)
            if change.operation in _OF_LINKS:
                found.add(change.memory_id)
        return found
