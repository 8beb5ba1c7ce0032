"""Files that archives go through on their way in and out: how much of the disk they take, and when they are gone."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mycel.domain.ids import MemberId
from mycel.errors import LimitExceeded, StorageFull, TooLarge, Unavailable

# Of one member: more only keep each other waiting.
MAX_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class StagingLimits:
    """`own_bytes` is for what a member takes in for itself, `whole_bytes` for a whole team, by the operator."""

    own_bytes: int
    whole_bytes: int
    in_total: int
    min_free_bytes: int


class Staging:
    """Used from any thread. The folder is made when it is first needed; without one, the system's for such files."""

    def __init__(self, limits: StagingLimits, folder: Path | None = None) -> None:
        self.limits = limits
        self._folder = folder
        self._lock = threading.Lock()
        self._stages: Counter[MemberId] = Counter()
        self._bytes: Counter[MemberId] = Counter()

    def clear(self) -> None:
        """Of what a service has left that was killed."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def open(self, member: MemberId, name: str, *, limit: int | None = None) -> Stage:
        """A file of this name in a folder of its own; whoever gets it must close it."""
        with self._lock:
            if self._stages[member] >= MAX_AT_ONCE:
                raise LimitExceeded(f"{member} moves {MAX_AT_ONCE} archives already; wait", retry_after=5.0)
            self._stages[member] += 1
        try:
            if self._folder is not None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._require_room(self._folder or Path(tempfile.gettempdir()), 0)
            made = Path(tempfile.mkdtemp(prefix="mycel-", dir=self._folder))
        except BaseException:
            self._give_back(member, 0)
            raise
        return Stage(self, member, made / name, limit)

    def take(self, stage: Stage, size: int) -> None:
        """Room for so many bytes more of it; whatever keeps it from having that is an error."""
        limit = stage.limit
        self._require_room(stage.file.parent, size)
        with self._lock:
            if limit is not None and stage.size + size > limit:
                raise TooLarge(f"the archive is larger than {limit:,} bytes")
            if limit is not None and self._bytes[stage.member] + size > limit:
                raise LimitExceeded(f"the archives of {stage.member} are together larger than {limit:,} bytes; wait")
            if self._bytes.total() + size > self.limits.in_total:
                raise Unavailable("as many archives are on their way as there is room for", retry_after=30.0)
            self._bytes[stage.member] += size

    def close(self, stage: Stage) -> None:
        shutil.rmtree(stage.file.parent, ignore_errors=True)
        self._give_back(stage.member, stage.size)

    def _require_room(self, folder: Path, size: int) -> None:
        if shutil.disk_usage(folder).free - size < self.limits.min_free_bytes:
            raise StorageFull("the disk has no room for an archive; make some, and try again")

    def _give_back(self, member: MemberId, size: int) -> None:
        with self._lock:
            self._stages[member] -= 1
            self._bytes[member] -= size
            if not self._stages[member]:
                del self._stages[member], self._bytes[member]


class Stage:
    """One file on its way."""

    def __init__(self, staging: Staging, member: MemberId, file: Path, limit: int | None) -> None:
        self.member = member
        self.file = file
        self.limit = limit
        self.size = 0
        self._staging = staging
        self._opened: IO[bytes] | None = None
        self._is_closed = False

    def write(self, part: bytes) -> None:
        """In a worker thread."""
        self._staging.take(self, len(part))
        self.size += len(part)
        if self._opened is None:
            self._opened = self.file.open("xb")
        self._opened.write(part)

    def finish(self) -> None:
        """All has been written, if only nothing."""
        if self._opened is None:
            self.file.touch()
        else:
            self._opened.close()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            if self._opened is not None:
                self._opened.close()
            self._staging.close(self)
