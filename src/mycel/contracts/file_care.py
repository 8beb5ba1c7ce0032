"""What only a store on files can do, and needs."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from mycel.domain.damage import Damage, DamagedRow


class Files(Protocol):
    @property
    def name(self) -> str:
        """What those who look after a workspace call it: the team's name, or one that no team can have."""
        ...

    def backup(self, folder: Path) -> Path:
        """A consistent copy while readers and writers go on; where in a backup's folder a workspace looks for it."""
        ...

    def check(self) -> list[str]:
        """Full integrity check; what is wrong, in words, or nothing.

        Damage turns the store read-only; one that is found sound is written again.
        """
        ...

    def damage(self) -> Damage | None:
        """What is known to be wrong with the files, as they are now."""
        ...

    @property
    def damaged_rows(self) -> Damage | None:
        """The rows that are known to have a value which cannot be read; all else goes on without them. Costs nothing
        as long as there are none."""
        ...

    def find_damaged_rows(self) -> list[DamagedRow]:
        """Look through every column of every row."""
        ...


class FileCare(Files, Protocol):
    """Of a team's store."""

    @property
    def is_damaged(self) -> bool:
        """As far as it is known already; costs nothing."""
        ...

    def is_readable(self) -> bool:
        """Whether there is anything to read: not where a store was and is gone."""
        ...

    def scrub(self) -> int:
        """Removes the bytes of purged memories from the files; returns how many receipts that settled."""
        ...

    def save_index(self, model: str, *, dimensions: int) -> None:
        """Keeps what makes the first search after the next opening fast."""
        ...
