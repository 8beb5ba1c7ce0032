"""Changes: the ordered, gapless log of what happened in a team."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.link import PROJECT_PREFIX, REPO_PREFIX
from mycel.domain.memory import Memory, MemoryType, Status, Visibility
from mycel.domain.team import Role


class Operation(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RESTORE = "restore"
    PURGE = "purge"
    LINK = "link"
    UNLINK = "unlink"
    # Never stored: what a reader is told when a record leaves its sight or its filter.
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Audience:
    """Who could read a memory at one moment; a hidden one and an absent one must look alike."""

    visibility: Visibility
    agent_id: MemberId
    allowed_roles: tuple[Role, ...] = ()


def audience_of(memory: Memory) -> Audience:
    return Audience(memory.visibility, memory.agent_id, memory.allowed_roles)


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the log, as one reader may see it."""

    sequence: int
    operation: Operation
    memory_id: MemoryId
    path: str
    version: int
    changed_by: MemberId
    committed_at: datetime
    other_id: str | None = None

    @property
    def names_another(self) -> bool:
        """Whether it is about two memories; the other end of a link may also be a project or repo."""
        return self.other_id is not None and not self.other_id.startswith((PROJECT_PREFIX, REPO_PREFIX))


@dataclass(frozen=True, slots=True)
class Sighting:
    """How a memory stood at one moment, as far as that decides who is told of it."""

    audience: Audience
    path: str
    # None also where the memory was purged before the log kept this.
    type: MemoryType | None
    project_id: str | None


# A path is text like any other: nobody reads that of a memory in a log before somebody has approved it.
WAITING_PATH = "/inbox"


def sighting_of(memory: Memory) -> Sighting:
    path = WAITING_PATH if memory.status is Status.INBOX else memory.path
    return Sighting(audience_of(memory), path, memory.type, memory.project_id)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of the log as it is stored: for services that tell each reader its part of it."""

    # As whoever sees the memory is told of it.
    change: Change
    after: Sighting
    # None where it was no different.
    before: Sighting | None = None


class Today(NamedTuple):
    """Who may read what an entry names by now. A purged memory keeps the audience it had, as the end of no link."""

    memory: Audience | None
    other: Audience | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Of whose changes an auditor wants to know, of what and when. Everything given must hold."""

    by: MemberId | None = None
    operation: Operation | None = None
    memory_id: MemoryId | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFilter:
    """Everything given must hold. No types ask for any."""

    path: str = "/"
    project_id: str | None = None
    types: tuple[MemoryType, ...] = ()

    def takes(self, seen: Sighting) -> bool:
        if self.project_id is not None and seen.project_id != self.project_id:
            return False
        if self.types and seen.type not in self.types:
            return False
        folder = self.path
        return folder == "/" or seen.path == folder or seen.path.startswith(f"{folder}/")

    def concerns(self, entry: LogEntry) -> bool:
        """Whether anybody with this filter may be told of it."""
        return self.takes(entry.after) or (entry.before is not None and self.takes(entry.before))
