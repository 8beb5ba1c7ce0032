"""What was purged from a session, as far as it must be known to keep it out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PurgedPassage:
    """Recognised when it comes again, but not to be read: how many words and letters, and a keyed hash of them."""

    words: int
    letters: int
    key: bytes
    digest: bytes
