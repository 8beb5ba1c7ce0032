"""Backups: what one holds, what a look at it found, and what restoring it would take away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mycel.domain.ids import TeamName


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """Holds every write that was acknowledged before `made_at`.

    One whose manifest cannot be read has a `problem`, and nothing else is known of it. `damaged` names rows that could
    not be read when it was made: it has them as they are.
    """

    name: str
    folder: str
    made_at: datetime | None
    teams: tuple[TeamName, ...] = ()
    size_bytes: int = 0
    problem: str | None = None
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupCheck:
    """`problems` name what is damaged, missing or too much; none, and all of it can be restored."""

    backup: Backup
    problems: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRestored:
    """`changes_lost`: what was written since and is taken back; None where the present cannot be read.

    `purged_again` is what was purged since the backup was made, and is taken out of it.
    """

    team: TeamName
    memories_now: int | None
    memories_then: int | None
    changes_lost: int | None
    purged_again: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePlan:
    """What restoring would do. `unreadable` names what of the present can no longer say what was taken away since."""

    backup: Backup
    teams: tuple[TeamRestored, ...]
    members_lost: tuple[str, ...] = ()
    members_removed: tuple[str, ...] = ()
    tokens_lost: int = 0
    tokens_revoked: int = 0
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """`kept` is where the old was put: a folder of its files, or a backup of its database."""

    plan: RestorePlan
    kept: str | None
