"""Receipts: the proof that a memory was purged, and what must be known to keep it out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import MemberId, MemoryId


class Erasure(StrEnum):
    """`logical`: no read can reach it. `scrubbed`: its bytes are gone from the files as well."""

    LOGICAL = "logical"
    SCRUBBED = "scrubbed"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Holds no text of what was purged."""

    id: str
    memory_id: MemoryId
    purged_by: MemberId
    purged_at: datetime
    state: Erasure
    scrubbed_at: datetime | None = None
    # Backups made while the memory existed: Mycel cannot reach into them.
    held_by_backups: tuple[str, ...] = ()
    # Teams whose copies have not been taken back yet.
    held_by_teams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PurgedPassage:
    """Recognised when it comes again, but not to be read: how many words and letters, and a keyed hash of them."""

    words: int
    letters: int
    key: bytes
    digest: bytes
