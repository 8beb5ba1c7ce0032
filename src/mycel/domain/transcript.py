"""Captured talk as one text, and where in it each turn stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said: the characters from `start` to `end` of the text, without the speaker's name.

    `role` is `user`, `assistant`, `system`, `tool`, or empty where nobody knows; `speaker` a name, if one was given.
    """

    role: str
    start: int
    end: int
    speaker: str | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The text is what is stored as the source; evidence points into it."""

    text: str
    turns: tuple[Turn, ...]
