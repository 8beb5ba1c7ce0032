"""What is wrong with the files of a store, and what its operator can do about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mycel.domain.ids import TeamName

GUIDE = "docs/guides/damage.md"


@dataclass(frozen=True, slots=True)
class Damage:
    """One store's: a team's, or without a team the workspace's own. Without a file there is nothing to read either."""

    team: TeamName | None
    problem: str
    since: datetime
    readable: bool = True

    @property
    def store(self) -> str:
        return "the workspace database" if self.team is None else f"the store of team {self.team}"

    @property
    def advice(self) -> str:
        start = "restore it from a backup" if self.team is None else "restore it from a backup or an archive"
        return f"{start}, then run `mycel check`; see {GUIDE}"

    @property
    def text(self) -> str:
        state = "is damaged and read-only" if self.readable else "cannot be used"
        since = self.since.isoformat(timespec="seconds").replace("+00:00", "Z")
        return f"{self.store} {state} since {since}: {self.problem}"

    @property
    def message(self) -> str:
        return f"{self.text}; {self.advice}"
