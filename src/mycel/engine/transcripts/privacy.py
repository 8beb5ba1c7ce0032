"""Parts of a message that are not kept: what its author marked as private, and what no person said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mycel.domain.envelope import ENVELOPE

PRIVATE = "private"
REMINDER = "system-reminder"
# Around what hooks have said, as Gemini puts it into a prompt.
OF_HOOKS = "hook_context"

_PIECE = 256 * 1024
# The signs of a tag as HTML, JSON, programs and addresses write them, and those who write these once more.
_LESS = r"(?:&(?:amp;){0,9}(?:lt|#0{0,5}60|#x0{0,5}3c);|\\{1,32}(?:u00|x)3c|%(?:25){0,9}3c)"
_GREATER = r"(?:&(?:amp;){0,9}(?:gt|#0{0,5}62|#x0{0,5}3e);|\\{1,32}(?:u00|x)3e|%(?:25){0,9}3e)"
_SLASH = r"(?:\\{0,32}/|&(?:amp;){0,9}#(?:0{0,5}47|x0{0,5}2f);|%(?:25){0,9}2f)"


class _Tags:
    """`escaped` ones count as well: whoever quotes what an agent was given may write them so."""

    def __init__(self, *names: str, escaped: bool) -> None:
        self._names = names
        name = "|".join(names)
        plain = rf"<(?>\s*)(/?)(?>\s*)({name})(?:\s(?>[^<>]*))?>"
        other = rf"{_LESS}(?>\s*)({_SLASH}?)(?>\s*)({name})(?:\s(?>[^<>&\\%]*))?{_GREATER}"
        self.pattern = re.compile(f"(?i:{plain}|{other})" if escaped else f"(?i:{plain})")

    def found_in(self, text: str) -> Iterator[tuple[int, int, str, bool]]:
        """Where each begins and ends, its name, and whether it closes."""
        if self._may_stand_in(text):
            for found in self.pattern.finditer(text):
                name = found[found.lastindex or 0]
                yield found.start(), found.end(), name.lower(), bool(found[(found.lastindex or 0) - 1])

    def _may_stand_in(self, text: str) -> bool:
        """In pieces, so that a long text does not hold up other threads."""
        more = max(map(len, self._names))
        pieces = (text[at : at + _PIECE + more].lower() for at in range(0, len(text), _PIECE))
        return any(name in piece for piece in pieces for name in self._names)


_IN_TEXTS = _Tags(PRIVATE, escaped=False)
# Memories given to an agent come back with its next report; nobody has said them again.
_IN_MESSAGES = _Tags(PRIVATE, REMINDER, ENVELOPE, OF_HOOKS, escaped=True)


class PrivateFilter:
    """Takes the hidden parts out of one message, whose texts are given in order.

    What is opened and not closed hides everything to the end of the message. Two openings need two closings: a
    slip then hides too much, never too little.
    """

    def __init__(self, tags: _Tags = _IN_MESSAGES) -> None:
        self._tags = tags
        self._open: dict[str, int] = {}

    def shown(self, text: str) -> str:
        kept: list[str] = []
        at = 0
        for start, end, name, closes in self._tags.found_in(text):
            was_open = bool(self._open)
            self._count(name, step=-1 if closes else 1)
            if self._open and not was_open:
                kept.append(text[at:start])
            elif was_open and not self._open:
                at = end
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
    return PrivateFilter(_IN_TEXTS).shown(text)
