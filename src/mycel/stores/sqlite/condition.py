"""Whether a store's files can be relied on: what was found wrong with them, kept over restarts and told in the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from mycel.domain.damage import Damage
from mycel.domain.ids import TeamName
from mycel.errors import StoreDamaged
from mycel.stores.sqlite import damage_marker
from mycel.stores.sqlite.file_access import read_start
from mycel.stores.sqlite.file_guard import identity_of

MISSING = "its file is missing, and it was there before"
EMPTY = "its file is empty, and it was not before"
UNMADE = "its file holds no tables, and it did before"
NO_DATABASE = "its file is no SQLite database"
MALFORMED = "SQLite finds its file malformed"

_START = b"SQLite format 3\0"

_log = logging.getLogger("mycel.stores")


def find_absence(path: Path) -> str | None:
    """What keeps a file from holding anything at all."""
    try:
        return None if path.stat().st_size else EMPTY
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        return f"its file cannot be looked at: {error.strerror}"


def find_file_problem(path: Path, team: TeamName | None, *, was_made: bool) -> Damage | None:
    """What a look at a closed file tells, and what was noted about it."""
    absence = find_absence(path)
    if absence is not None:
        return Damage(team, absence, datetime.now(UTC), readable=False) if was_made else None
    noted = damage_marker.find(path)
    if noted is not None:
        return Damage(team, noted.problem, noted.since)
    return None if read_start(path, len(_START)) == _START else Damage(team, NO_DATABASE, datetime.now(UTC))


class Condition:
    """Of one file. A damaged one is read and not written; one that is lost is neither, until it is back."""

    def __init__(self, path: Path, team: TeamName | None, *, damaged: Callable[[], None]) -> None:
        self._path = path
        self._damaged = damaged
        self._team = team
        self._changing = threading.Lock()
        self.damage: Damage | None = None

    def require_sound(self) -> None:
        """Nothing may be written otherwise."""
        if self.damage is not None:
            raise StoreDamaged(self.damage.message)

    def mark(self, problem: str, *, is_loss: bool = False) -> StoreDamaged:
        """Damaged from now on, also after a restart; returns the error to raise."""
        with self._changing:
            known = self.damage
            if known is None or not known.readable:
                known = self._found(problem, readable=True)
                damage_marker.note(self._path, problem, known.since, is_loss=is_loss)
                self._damaged()
        return StoreDamaged(known.message)

    def lose(self, problem: str) -> StoreDamaged:
        """There is no store any more; returns the error to raise."""
        with self._changing:
            known = self.damage
            if known is None or known.problem != problem:
                known = self._found(problem, readable=False)
        return StoreDamaged(known.message)

    def meet(self) -> None:
        """There is a file: what was noted about it holds, what was lost is back."""
        noted = damage_marker.find(self._path)
        with self._changing:
            if noted is not None:
                if self.damage is None or not self.damage.readable:
                    self.damage = Damage(self._team, noted.problem, noted.since)
                    self._tell(self.damage)
            elif self.damage is not None and not self.damage.readable:
                self._recovered()

    def find_sound(self, *, asked: bool, settle: Callable[[], bool]) -> list[str]:
        """A check has found nothing wrong: the file is written again. What was lost before is told once more.

        Where nobody has asked for the check, only if another file than the damaged one stands there. `settle` is to
        write what is left of a damaged log into the file: the rest of it would be found again at the next opening.
        """
        noted = damage_marker.find(self._path)
        is_same = noted is not None and noted.file == identity_of(self._path)
        if self.damage is None or (is_same and not asked):
            return []
        is_loss = noted is not None and noted.is_loss and is_same
        lost = [f"{self.damage.problem}; the rest is sound"] if is_loss else []
        if is_loss and not settle():
            return lost
        damage_marker.remove(self._path)
        with self._changing:
            self._recovered()
        return lost

    def _found(self, problem: str, *, readable: bool) -> Damage:
        self.damage = Damage(self._team, problem, datetime.now(UTC), readable=readable)
        self._tell(self.damage)
        return self.damage

    def _recovered(self) -> None:
        _log.warning("the store of %s can be used again", _name(self._team), extra=_details("store_sound", self._team))
        self.damage = None

    def _tell(self, damage: Damage) -> None:
        _log.error("%s", damage.message, extra=_details("store_damaged", self._team, since=damage.since.isoformat()))


def _name(team: TeamName | None) -> str:
    return "the workspace" if team is None else f"team {team}"


def _details(event: str, team: TeamName | None, **more: object) -> dict[str, object]:
    return {"event": event, "details": {"team": team, **more}}
