"""Cascades: a memory of one team that others receive copies of, down the tree or one level up."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import EventId, MemberId, MemoryId, TeamName
from mycel.domain.source import EventState, IngestionEvent


class Direction(StrEnum):
    """`down` to every team below; `up` to the parent."""

    DOWN = "down"
    UP = "up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    memory_id: MemoryId
    event_id: EventId
    direction: Direction
    started_by: MemberId
    started_at: datetime
    withdrawn_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The version of a memory that a team has a copy of; 0 when the copy was taken back."""

    team: TeamName
    version: int
    delivered_at: datetime


def armed_again(event: IngestionEvent, *, due_at: datetime) -> IngestionEvent:
    """An event of a cascade, to be carried out anew whatever became of it: at once, and with all its tries.

    A store does the same in the transaction in which a cascaded memory gets a later version or is purged.
    """
    return replace(event, state=EventState.PENDING, due_at=due_at, lease=None, lease_until=None, tries=0)


def copy_id(origin: MemoryId, *, team: TeamName) -> MemoryId:
    """Always the same for a memory and a team, so that a repeated delivery meets its own copy."""
    return MemoryId(str(uuid.uuid5(uuid.UUID(origin), team)))
