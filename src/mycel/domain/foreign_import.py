"""Records of other systems: what became of each that was to be taken in, and the report about all of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

# What says which record of which system a memory was, in its metadata.
MARK = "import"


class ImportOutcome(StrEnum):
    """All but the first two and `refused` were skipped, for the reason that they say."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "it is here already"
    EDITED = "it was changed here since"
    DELETED = "it was deleted here"
    PURGED = "it was purged here"
    PAST = "its time is up"
    NO_END = "one of its ends is not here"
    REFUSED = "refused"

    @property
    def is_taken(self) -> bool:
        return self in {ImportOutcome.NEW, ImportOutcome.UPDATED}


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """What became of one record; `id` is that of the memory or source it is here, `reason` why it was refused."""

    outcome: ImportOutcome
    id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ImportCount:
    """How many records of a kind became what; `reason` says why those were left that were not taken."""

    kind: str
    becomes: str
    outcome: str
    count: int
    reason: str | None = None
    example: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignReport:
    """Every record that was read counts once: `read` is `taken`, `skipped` and `refused` together."""

    form: str
    origin: str
    read: int
    taken: int
    skipped: int
    refused: int
    counts: tuple[ImportCount, ...]
    warnings: tuple[str, ...] = ()
    trust: str = "low"
    dry_run: bool = False


def derived_id(*names: str) -> str:
    """A UUID of version 8: the same for the same names."""
    digits = sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


def digest_of(*texts: str) -> str:
    """Short, and enough to tell whether something was said otherwise."""
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
