"""Changes: the ordered, gapless log of what happened in a team."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory, Visibility
from mycel.domain.team import Role


class Operation(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RESTORE = "restore"
    PURGE = "purge"
    LINK = "link"
    UNLINK = "unlink"
    # Never stored: what a reader is told when a record leaves its sight or its path.
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
