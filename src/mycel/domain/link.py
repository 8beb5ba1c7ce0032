"""Links: how memories relate to each other, to projects and to repos."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import MemberId, MemoryId


class Relation(StrEnum):
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    APPLIES_TO = "applies_to"
    DERIVED_FROM = "derived_from"
    RELATED_TO = "related_to"


PROJECT_PREFIX = "project:"
REPO_PREFIX = "repo:"
PLACE_RELATIONS = frozenset({Relation.APPLIES_TO, Relation.RELATED_TO})


@dataclass(frozen=True, slots=True)
class Link:
    """From a memory to another memory, or to `project:NAME` or `repo:NAME`."""

    from_id: MemoryId
    to_id: str
    relation: Relation
    created_by: MemberId
    created_at: datetime

    @property
    def to_place(self) -> bool:
        return self.to_id.startswith((PROJECT_PREFIX, REPO_PREFIX))
