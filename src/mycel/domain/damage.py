"""What is wrong with the files of a store, and what its operator can do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mycel.domain.ids import TeamName

GUIDE = "docs/guides/damage.md"


# What answers say that leave such rows out.
ROWS_DAMAGED = "rows_damaged"
# A message names so many rows and counts the others.
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row with values that cannot be read: its columns, each with what is wrong there, and none of its text."""

    table: str
    id: str
    problems: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> list[str]:
        return [column for column, _ in self.problems]

    @property
    def text(self) -> str:
        said = ", ".join(f"{column} {problem}" for column, problem in self.problems)
        return f"{self.table} {self.id}: {said}"


def name_rows(rows: Sequence[DamagedRow]) -> str:
    """Name the first rows and count the others."""
    named = [row.text for row in rows[:MOST_NAMED]]
    if len(rows) > MOST_NAMED:
        named.append(f"and {len(rows) - MOST_NAMED} more")
    return "; ".join(named)


@dataclass(frozen=True, slots=True)
class Damage:
    """One store's: a team's, or without a team the workspace's own. Without a file there is nothing to read either.

    With `rows`, only these are damaged: the store goes on without them.
    """

    team: TeamName | None
    problem: str
    since: datetime
    readable: bool = True
    rows: int = 0

    @property
    def store(self) -> str:
        return "the workspace database" if self.team is None else f"the store of team {self.team}"

    @property
    def advice(self) -> str:
        if self.rows:
            return f"purge what is named or restore it from a backup, then run `mycel check`; see {GUIDE}"
        start = "restore it from a backup" if self.team is None else "restore it from a backup or an archive"
        return f"{start}, then run `mycel check`; see {GUIDE}"

    @property
    def text(self) -> str:
        state = "is damaged and read-only" if self.readable else "cannot be used"
        if self.rows:
            state = f"has {self.rows} damaged {'row' if self.rows == 1 else 'rows'}, left out of every answer,"
        since = self.since.isoformat(timespec="seconds").replace("+00:00", "Z")
        return f"{self.store} {state} since {since}: {self.problem}"

    @property
    def message(self) -> str:
        return f"{self.text}; {self.advice}"
