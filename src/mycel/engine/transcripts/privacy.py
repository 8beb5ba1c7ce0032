"""Parts of a message that are not kept: what its author marked as private, and what no person said."""

from __future__ import annotations

import re

from mycel.domain.envelope import ENVELOPE

PRIVATE = "private"
REMINDER = "system-reminder"


def _tags(*names: str) -> re.Pattern[str]:
    # Spelled out instead of IGNORECASE, with which the search could not leap from one `<` to the next.
    either = "|".join("".join(f"[{sign.upper()}{sign}]" if sign.isalpha() else sign for sign in name) for name in names)
    return re.compile(rf"<(?>\s*)(/?)(?>\s*)({either})(?:\s(?>[^<>]*))?>")


_IN_TEXTS = _tags(PRIVATE)
# Memories given to an agent come back with its next report; nobody has said them again.
_IN_MESSAGES = _tags(PRIVATE, REMINDER, ENVELOPE)


class Shutter:
    """Takes the hidden parts out of one message, whose texts are given in order.

    What is opened and not closed hides everything to the end of the message. Two openings need two closings: a
    slip then hides too much, never too little.
    """

    def __init__(self, tags: re.Pattern[str] = _IN_MESSAGES) -> None:
        self._tags = tags
        self._open: dict[str, int] = {}

    def shown(self, text: str) -> str:
        if "<" not in text:
            return "" if self._open else text
        kept: list[str] = []
        at = 0
        for tag in self._tags.finditer(text):
            was_open = bool(self._open)
            self._count(tag[2].lower(), step=-1 if tag[1] else 1)
            if self._open and not was_open:
                kept.append(text[at : tag.start()])
            elif was_open and not self._open:
                at = tag.end()
        if not self._open:
            kept.append(text[at:])
        return "".join(kept)

    def _count(self, name: str, *, step: int) -> None:
        depth = self._open.get(name, 0) + step
        if depth > 0:
            self._open[name] = depth
        else:
            self._open.pop(name, None)


def without_private(text: str) -> str:
    """A text that a person gave, as it is but for its private parts."""
    return Shutter(_IN_TEXTS).shown(text)
