"""Why a hook ends before its work is done."""

from __future__ import annotations


class TimeUp(Exception):
    """The agent has waited long enough."""


class Unreachable(Exception):
    """Nobody answers there, or nobody who speaks HTTP."""
