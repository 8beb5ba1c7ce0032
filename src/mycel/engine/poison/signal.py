"""What a sign that a text gives orders to its reader is, and what such signs mean to a reviewer."""

from __future__ import annotations

from typing import NamedTuple

OVERRIDE = "tells its reader to disregard other instructions"
ADDRESS = "speaks to the AI that reads it"
CONCEALMENT = "asks to hide something from people"
DISCLOSURE = "asks to show or send private material"
MARKUP = "imitates messages of a system, a tool or a chat"
PERSONA = "tells its reader to be somebody else"
AUTHORITY = "claims authority over rules, notes or approvals"
STEERING = "dictates what its reader answers or does"
DISGUISE = "hides its words from people"
EXECUTION = "has its reader run what comes from outside"


class Phrase(NamedTuple):
    """A pattern over plain lower-case text, and hints one of which is in every match.

    Without a weight it gives an attack away alone; with one it only adds to other signs near it.
    """

    meaning: str
    hints: tuple[str, ...]
    pattern: str
    weight: float | None = None


class Words(NamedTuple):
    """Words and word groups that attacks use more than ordinary notes do, and how much more.

    They are divided by `|`; a star stands for any one word, and the forms of a word are one.
    """

    meaning: str
    weight: float
    phrases: str
