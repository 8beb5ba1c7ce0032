"""Where words that somebody quotes stand in a text: at characters that are really there, or nowhere."""

from __future__ import annotations

import re

# Shorter words stand in many places by chance, and prove nothing.
LEAST_CHARACTERS = 4
MOST_CHARACTERS = 4000

_QUOTATION_MARKS = "'\"`´′″‘’‚‛“”„‟«»‹›"  # noqa: RUF001
_ONE_MARK = str.maketrans(dict.fromkeys(_QUOTATION_MARKS, "'"))
# What people and models put around a quote or where they cut it off.
_AROUND = f" \t\r\n.…{_QUOTATION_MARKS}"

_SPACE = re.compile(r"\s+")
# Words of scripts with spaces. No quote begins or ends inside one; scripts without spaces have no such places.
_WORD = re.compile(r"[A-Za-z0-9]+")
_PIECE = re.compile(r"(?P<word>[A-Za-z0-9]+)|(?P<space>\s+)|[^A-Za-z0-9\s]+")


def find_quote(quote: str, text: str, *, start: int, end: int) -> tuple[int, int] | None:
    """Its first place between `start` and `end`; white space and quotation marks may differ, nothing else."""
    for wanted in dict.fromkeys((quote.strip(), quote.strip(_AROUND))):
        letters = sum(character.isalnum() for character in wanted)
        if letters < LEAST_CHARACTERS or len(wanted) > MOST_CHARACTERS:
            continue
        looked_for = _flat(wanted)
        found = _flat(text[start:end]).find(looked_for)
        if found >= 0:
            places = (_place(text, start, end, at) for at in (found, found + len(looked_for)))
            return next(places), next(places)
    return None


def _flat(text: str) -> str:
    """One sort of white space and of quotation marks, and NUL, which no text holds, where a word begins and ends."""
    return _SPACE.sub(" ", _WORD.sub("\0\\g<0>\0", text.translate(_ONE_MARK)))


def _place(text: str, start: int, end: int, at: int) -> int:
    """Where in the text a place of its flat form is."""
    for piece in _PIECE.finditer(text, start, end):
        size = piece.end() - piece.start()
        width = size + 2 if piece["word"] else 1 if piece["space"] else size
        if at < width:
            return piece.start() + min(at, size)
        at -= width
    return end
