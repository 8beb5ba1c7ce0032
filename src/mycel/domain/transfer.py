"""A workspace moved to another database."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# What every team belongs to is moved as a part of its own, before them.
ORGANISATION = "organisation"


class Outcome(StrEnum):
    """What became of one part of the workspace, after both sides were compared row by row."""

    MOVED = "moved"
    ALREADY_THERE = "already there"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartMoved:
    """The organisation or a team. The checksum is that of all its rows, and the same on both sides."""

    name: str
    outcome: Outcome
    rows: int
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferReport:
    """`written_meanwhile` names what has changed on the old side since it was read: that is not on the new one.

    `left_out` names the rows that cannot be read on the old side, and are not on the new one either.
    """

    parts: tuple[PartMoved, ...]
    written_meanwhile: tuple[str, ...]
    left_out: tuple[str, ...] = ()
