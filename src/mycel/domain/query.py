"""What a reader can ask for: filters, order, pages and folders."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Generic, TypeVar, overload

from mycel.domain.inbox import Snoozes
from mycel.domain.memory import Memory, MemoryType, Scope, Status

ItemT = TypeVar("ItemT")


class OrderField(StrEnum):
    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"
    TITLE = "title"
    PATH = "path"
    CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True)
class Order:
    field: OrderField = OrderField.CREATED_AT
    descending: bool = True

    @property
    def text(self) -> str:
        return f"{'-' if self.descending else ''}{self.field}"

    def sort(self, items: Iterable[ItemT], memory_of: Callable[[ItemT], Memory]) -> list[ItemT]:
        """Put items in order by their memories; those that are equal in it stay as they came."""
        value_of = attrgetter(self.field)
        return sorted(items, key=lambda item: value_of(memory_of(item)), reverse=self.descending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Everything given must hold. An empty tuple asks for nothing in particular."""

    path: str = "/"
    at_path: str | None = None
    types: tuple[MemoryType, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    scopes: tuple[Scope, ...] = ()
    tags: tuple[str, ...] = ()
    category: str | None = None
    key: str | None = None
    project_id: str | None = None
    repo_id: str | None = None
    agent_id: str | None = None
    # What anybody but these wrote.
    not_by: tuple[str, ...] = ()
    session_id: str | None = None
    task_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    # Leaves out what had expired by then; None keeps the expired.
    alive_at: datetime | None = None
    # Only what had expired by then.
    expired_at: datetime | None = None
    # Only what has stood as it is since that moment or before.
    believed_at: datetime | None = None
    # Only what holds in the world at that moment.
    valid_at: datetime | None = None
    deleted: bool = False
    # Only what waits for a person: the inbox, and what says that it replaces something that stands. Lists know it.
    waiting: bool = False
    # Of what waits, what one member has put off, or all but that. Lists know it.
    snoozes: Snoozes | None = None
    # Only what was drawn from one source. Lists know it.
    source_id: str | None = None
    # Only what a lead has taught. Lists know it.
    taught: bool = False
    # Only what has a key and is about no person.
    knowledge: bool = False
    # The project of the question: global and own memories are in reach beside it.
    reach_project: str | None = None
    reach_repo: str | None = None

    @property
    def is_within_reach(self) -> bool:
        return self.reach_project is not None or self.reach_repo is not None

    def beyond_reach(self) -> Filters:
        """The same wherever it is from; a copy of so many fields is felt where it is not needed."""
        return replace(self, reach_project=None, reach_repo=None) if self.is_within_reach else self

    @property
    def lasting(self) -> Hashable:
        """All but by when something must have expired or not: the same for one question asked twice."""
        return _LASTING(self)


_LASTING = attrgetter(*(field.name for field in fields(Filters) if field.name not in {"alive_at", "expired_at"}))


class Page(Sequence[ItemT], Generic[ItemT]):
    """Items of one page; `next_cursor` asks for the following one, None ends."""

    __slots__ = ("items", "next_cursor")

    def __init__(self, items: Sequence[ItemT], next_cursor: str | None = None) -> None:
        self.items = tuple(items)
        self.next_cursor = next_cursor

    @overload
    def __getitem__(self, index: int) -> ItemT: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ItemT, ...]: ...
    def __getitem__(self, index: int | slice) -> ItemT | tuple[ItemT, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ItemT]:
        return iter(self.items)

    def __repr__(self) -> str:
        return f"Page({list(self.items)!r}, next_cursor={self.next_cursor!r})"


@dataclass(frozen=True, slots=True)
class Folder:
    """A path with how many readable memories lie at or below it."""

    path: str
    count: int


@dataclass(frozen=True, slots=True)
class Tree:
    """One level of the logical folders."""

    path: str
    items: Page[Memory]
    subdirs: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of what the caller may read, and of the engine's work on it by state.

    `by_day` counts what was written on each of the last days on which something was, in UTC. `by_tag` has the tags that
    stand most often where they were asked for, since counting them takes longer.
    """

    memories: int
    by_type: Mapping[str, int]
    by_status: Mapping[str, int]
    projects: int
    by_day: Mapping[str, int] = field(default_factory=dict[str, int])
    events: Mapping[str, int] = field(default_factory=dict[str, int])
    by_tag: Mapping[str, int] = field(default_factory=dict[str, int])
