"""What an import of shared markdown came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mycel.domain.ids import MemoryId, SourceId


class Outcome(StrEnum):
    """`unchanged` wrote nothing; `missing` is no longer in the file and stays as it is."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    WAITING = "waiting"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """`memory_id` is the value that stands or waits; None where there is none, as for what a dry run would make."""

    key: str
    category: str
    outcome: Outcome
    memory_id: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of the file that became no value."""

    line: int
    what: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """`source_id` is the file as it was kept; None in a dry run that would have kept it."""

    name: str
    source_id: SourceId | None
    entries: tuple[ImportedEntry, ...]
    missing: tuple[ImportedEntry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    dry_run: bool = False

    def count(self, outcome: Outcome) -> int:
        return sum(entry.outcome is outcome for entry in (*self.entries, *self.missing))
