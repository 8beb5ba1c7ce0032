"""Archives: everything of a team, or what one member sees of it, as records that can be moved elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.artifact import ArtifactDetail
from mycel.domain.episode import EpisodeDetail
from mycel.domain.ids import MemberId, MemoryId, SourceId, TeamName
from mycel.domain.link import Link
from mycel.domain.memory import Version
from mycel.domain.place import Project, Repo
from mycel.domain.source import IngestionEvent, Source

FORMAT = "mycel-archive"
FORMAT_VERSION = 2
READ_VERSIONS = (1, FORMAT_VERSION)


class Kind(StrEnum):
    """What a line holds. An entry stands after what it refers to; versions and details right after their memory."""

    HEADER = "header"
    RECEIPT = "receipt"
    PROJECT = "project"
    REPO = "repo"
    SOURCE = "source"
    PASSAGE = "passage"
    EVENT = "event"
    MEMORY = "memory"
    VERSION = "version"
    EPISODE = "episode"
    ARTIFACT = "artifact"
    LINK = "link"
    FOOTER = "footer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """`whole` when nothing of the team was left out; otherwise it is what `made_by` saw of it."""

    team: TeamName
    made_by: MemberId
    made_at: datetime
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What is left of a purged memory, so that it comes back nowhere."""

    id: str
    memory_id: MemoryId
    purged_by: MemberId
    purged_at: datetime
    memory_created_at: datetime
    scrubbed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BackupNote:
    """That a backup was made, so that the receipt of what is purged can name it; without an end it may be under way."""

    location: str
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """What was purged from a source, to be recognised in a later report of its session; hashes in hexadecimal."""

    source_id: SourceId
    words: int
    letters: int
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory as it stands, its past states from the oldest on, and what only its sort has."""

    present: Version
    past: tuple[Version, ...] = ()
    episode: EpisodeDetail | None = None
    artifact: ArtifactDetail | None = None


Record = Tombstone | Project | Repo | Source | SourcePassage | IngestionEvent | MemoryRecord | Link


class Taken(StrEnum):
    """What became of a record that was to be taken in; all but the first three say why it was left out."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    PURGED = "it was purged here"
    TAKEN_AWAY = "somebody who outranks you has taken it away here"
    STANDS = "it stands here and is not purged by an import"
    NEWER = "a newer version stands here"
    OTHER = "something else stands here under its id"
    KEY = "another memory has its key here"
    END = "a memory that it links was left out"
    SENDING = "what a team sends to others does not move"
    PAST = "it no longer stands"
    REFUSED = "it may not be saved here"
    OPERATORS = "only the operator moves it"

    @property
    def left_out(self) -> bool:
        return self not in {Taken.NEW, Taken.UPDATED, Taken.UNCHANGED}


@dataclass(frozen=True, slots=True)
class Standing:
    """What is here already that bears on a memory of an archive: itself, which of its versions, who has its key."""

    present: Version | None
    versions: frozenset[int] = frozenset()
    is_purged: bool = False
    is_key_taken: bool = False


def weigh_memory(record: MemoryRecord, standing: Standing) -> Taken:
    """What is to become of it: what was purged here stays purged, what is newer here stays."""
    new, present = record.present, standing.present
    if standing.is_purged:
        return Taken.PURGED
    if present is None:
        return Taken.KEY if standing.is_key_taken else Taken.NEW
    if present == new:
        is_whole = {past.memory.version for past in record.past} <= standing.versions
        return Taken.UNCHANGED if is_whole else Taken.UPDATED
    if present.memory.version > new.memory.version:
        return Taken.NEWER
    # It goes on only from a state that it has been in.
    is_known = any(
        past.memory == present.memory and past.believed_from == present.believed_from for past in record.past
    )
    if not is_known:
        return Taken.OTHER
    return Taken.KEY if standing.is_key_taken else Taken.UPDATED


def weigh_same(record: object, standing: object) -> Taken:
    """A record from which nothing here is drawn, beside what stands under its name."""
    if standing is None:
        return Taken.NEW
    return Taken.UNCHANGED if standing == record else Taken.OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """`counts` says how many lines of each kind the archive has; `left_out` names what is damaged and not in it."""

    team: TeamName
    made_at: datetime
    whole: bool
    counts: Mapping[str, int]
    sha256: str
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReport:
    """Records by kind, and of each kind how many became what; a memory counts once, with its versions and details."""

    team: TeamName
    origin: Header
    counts: Mapping[str, Mapping[Taken, int]]
    dry_run: bool = False

    def count(self, *outcomes: Taken) -> int:
        return sum(number for taken in self.counts.values() for what, number in taken.items() if what in outcomes)

    @property
    def left_out(self) -> int:
        return self.count(*(outcome for outcome in Taken if outcome.left_out))
