"""A memory with a row of what only its sort has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mycel.domain.ids import MemoryId
from mycel.domain.memory import Memory


@dataclass(frozen=True, slots=True)
class Detailed:
    memory: Memory

    @property
    def id(self) -> MemoryId:
        return self.memory.id

    @property
    def task_id(self) -> str | None:
        return self.memory.task_id

    @property
    def project_id(self) -> str | None:
        return self.memory.project_id

    @property
    def created_at(self) -> datetime:
        return self.memory.created_at
