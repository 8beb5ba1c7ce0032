"""The parts of a store around memories: themselves, the links between them, where they belong, and requests.

`…Reads` is there on a store and inside a transaction, `…Writes` inside a transaction alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol

from mycel.access.scope import ReadScope
from mycel.domain.change import Operation
from mycel.domain.ids import MemberId, MemoryId, SourceId
from mycel.domain.link import Link, Relation
from mycel.domain.memory import MadeBy, Memory, Version
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Filters, Folder, Order, Page, Statistics
from mycel.domain.receipt import Receipt
from mycel.domain.source import Source
from mycel.domain.surroundings import Usage
from mycel.errors import NotFound


@dataclass(frozen=True, slots=True)
class Request:
    """What an idempotency key stood for, kept for seven days."""

    KEPT_MICROSECONDS: ClassVar[int] = 7 * 86_400 * 1_000_000

    member_id: MemberId
    operation: str
    key: str
    request_hash: str
    memory_id: MemoryId
    version: int


@dataclass(frozen=True, slots=True)
class Rating:
    memory_id: MemoryId
    member_id: MemberId
    useful: bool
    recall_id: str | None


class MemoryReads(Protocol):
    def find(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory | None:
        """Deleted memories are found only when asked for."""
        ...

    def get(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory:
        """As `find`; raises `NotFound`, and `MemoryDamaged` where it is there and cannot be read."""
        ...

    def absence(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> NotFound:
        """The error for one that `find` does not find; `MemoryDamaged` where it is there and cannot be read."""
        ...

    def ids_with(self, scope: ReadScope, parts: Sequence[str], *, limit: int, deleted: bool = False) -> list[MemoryId]:
        """Return the ids that begin or end with one of these parts, in their order; at least one part is given.

        A whole id is a part of itself, and none is shorter than `LEAST_SHORT`.
        """
        ...

    def find_version(self, scope: ReadScope, id: MemoryId, version: int) -> Memory | None: ...
    def find_as_of(self, scope: ReadScope, id: MemoryId, at: datetime) -> Memory | None:
        """What was believed at that moment, deleted since or not.

        None also when the reader could not see it then, or may not today: of a deleted memory its last readers count.
        """
        ...

    def find_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        """The active memory with the project, category, key and audience of `like`."""
        ...

    def find_waiting_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        """The same in the inbox, by the author of `like`."""
        ...

    def find_made(self, scope: ReadScope, source_id: SourceId, made_by: MadeBy) -> Memory | None:
        """The first memory that was made from this source in this way."""
        ...

    def made_from(self, scope: ReadScope, source_id: SourceId, *, deleted: bool = False) -> list[Memory]:
        """All that was made from this source, in the order it was made."""
        ...

    def indexed_from(self, scope: ReadScope, source: Source, *, shared: bool) -> list[Memory]:
        """What stands of the file that this source is a state of, for the same readers, in the order of the file."""
        ...

    def versions(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> list[Version]:
        """Oldest first, the present one last; of a deleted memory only when asked for."""
        ...

    def page(
        self, scope: ReadScope, filters: Filters, *, order: Order, limit: int, cursor: str | None = None
    ) -> Page[Memory]:
        """In a total order. Raises `InvalidInput` for a cursor that is not from this list."""
        ...

    def newest(self, scope: ReadScope, lists: Sequence[tuple[Filters, int]]) -> Sequence[Sequence[Memory]]:
        """So many of each list, as `page` has them; all are asked for together."""
        ...

    def count(self, scope: ReadScope, filters: Filters) -> int:
        """How many a list of them would have in all."""
        ...

    def folders(self, scope: ReadScope, path: str, filters: Filters) -> list[Folder]: ...
    def statistics(self, scope: ReadScope, filters: Filters) -> Statistics: ...
    def count_tags(self, scope: ReadScope, filters: Filters) -> Mapping[str, int]:
        """How many memories have each tag, the most frequent first, so many as `Statistics` has."""
        ...

    def usage(self, scope: ReadScope, id: MemoryId) -> Usage: ...
    def written_since(self, scope: ReadScope, since: datetime, *, by: MemberId | None) -> list[MemoryId]:
        """What this member, or anybody, has made or changed since then; also what is deleted, the oldest first."""
        ...

    def drawn_since(self, scope: ReadScope, since: datetime, *, by: MemberId | None) -> list[MemoryId]:
        """What was made from sources that it has captured since then, and is not deleted."""
        ...

    def was_changed_by_others(self, id: MemoryId, by: MemberId) -> bool:
        """Tell whether anybody but this member has ever written a version of a memory; for rules alone."""
        ...

    def changed_last_by(self, id: MemoryId) -> MemberId | None: ...
    def has_detail(self, id: MemoryId) -> bool:
        """Whether a row of details points into the text of this memory, which then must stay as it is."""
        ...

    def find_receipt(self, id: MemoryId) -> Receipt | None:
        """Of a memory that was purged."""
        ...

    def was_purged(self, scope: ReadScope, id: MemoryId) -> bool:
        """Whether a memory was purged that the scope would see: of any other, nobody is told."""
        ...

    def expired(self, scope: ReadScope, *, limit: int) -> list[Memory]:
        """Memories whose time is up and that are not archived yet; not those that the ledger of episodes keeps."""
        ...

    def forgotten(self, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
        """Deleted or archived since before that moment."""
        ...

    def settled(self, scope: ReadScope, *, limit: int) -> list[Memory]:
        """Memories marked as contested of which no opponent stands any more."""
        ...


class MemoryWrites(MemoryReads, Protocol):
    def insert(self, written: Sequence[tuple[Memory, PackedTerms]], *, by: MemberId) -> None:
        """New memories with their words, in order. Raises `Conflict` as `replace` does."""
        ...

    def replace(
        self,
        before: Memory,
        after: Memory,
        *,
        by: MemberId,
        operation: Operation = Operation.UPDATE,
        reason: str | None = None,
        words: PackedTerms | None = None,
    ) -> None:
        """Keeps `before` as a version. Raises `Conflict` when an active memory already has the key of `after`.

        The words of a long text are best worked out before the transaction and given here.
        """
        ...

    def get_mended(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory:
        """As `get`, for whoever is about to delete it: where the memory is damaged, what can be read of it is kept."""
        ...

    def renew_words(self, *, limit: int) -> int:
        """Analyse the texts again whose words are of an earlier analyser; returns how many of so many there were.

        Nothing of it gets into the log: what the memories say stays as it is.
        """
        ...

    def redact_versions(self, redacted: Sequence[Memory]) -> None:
        """Gives past versions the texts that these have: the past is changed for erasure alone."""
        ...

    def erase(self, memory: Memory, *, by: MemberId) -> Receipt:
        """Removes the memory, its versions, links, words and traces from every answer; sources stay as they are."""
        ...

    def rate(self, rating: Rating) -> bool | None:
        """A member's latest rating of a memory is the one that counts; answers its former one."""
        ...


class LinkReads(Protocol):
    def of(self, scope: ReadScope, id: MemoryId) -> list[Link]:
        """From and to this memory, where both ends are in sight."""
        ...

    def contests(self, scope: ReadScope, ids: Sequence[MemoryId]) -> dict[MemoryId, int]:
        """Count, of each of these that any contradicts, the memories in sight that stand or wait and contradict it."""
        ...

    def confirmations(self, scope: ReadScope, ids: Sequence[MemoryId]) -> dict[MemoryId, int]:
        """Count, of each value of a key that others confirm, the members in sight who wrote the same value."""
        ...

    def made_since(self, scope: ReadScope, since: datetime, *, by: MemberId | None) -> list[Link]:
        """Between what the scope sees, or from that to a place."""
        ...


class LinkWrites(LinkReads, Protocol):
    def pointing_at(self, id: MemoryId, relation: Relation) -> list[MemoryId]:
        """Return the memories that have a link of this relation to one, deleted or not; for rules alone."""
        ...

    def find_same(self, link: Link) -> Link | None:
        """The link between the same ends, whoever made it."""
        ...

    def add(self, link: Link, *, origin: Memory) -> Link:
        """The link that stands, which may have been there before."""
        ...

    def remove(self, link: Link, *, origin: Memory) -> bool: ...


class PlaceReads(Protocol):
    def projects(self, scope: ReadScope) -> list[Project]:
        """Those registered by hand, and those that a memory in sight mentions."""
        ...

    def repos(self, scope: ReadScope) -> list[Repo]: ...
    def views(self, scope: ReadScope) -> list[SavedView]:
        """A member's own."""
        ...


class PlaceWrites(PlaceReads, Protocol):
    def find_project(self, name: str) -> Project | None:
        """As it was registered by hand."""
        ...

    def find_repo(self, name: str) -> Repo | None: ...
    def register_project(self, project: Project) -> Project:
        """As it stands afterwards: what was known and is not given anew stays."""
        ...

    def register_repo(self, repo: Repo) -> Repo: ...
    def save_view(self, member_id: MemberId, view: SavedView) -> None: ...
    def delete_view(self, member_id: MemberId, name: str) -> bool: ...


class Requests(Protocol):
    def find(self, member_id: MemberId, operation: str, key: str) -> Request | None: ...
    def remember(self, request: Request) -> None: ...
