"""Where words that somebody quotes stand in a text: at characters that are really there, or nowhere."""

from __future__ import annotations

import re

# Shorter words stand in many places by chance, and prove nothing.
LEAST_CHARACTERS = 4
MOST_CHARACTERS = 4000

_QUOTATION_MARKS = "'\"`´′″‘’‚‛“”„‟«»‹›"  # noqa: RUF001
_ANY_MARK = f"[{_QUOTATION_MARKS}]"
# What people and models put around a quote or where they cut it off.
_AROUND = f" \t\r\n.…{_QUOTATION_MARKS}"


def find_quote(quote: str, text: str, *, start: int, end: int) -> tuple[int, int] | None:
    """Its first place between `start` and `end`; white space and quotation marks may differ, nothing else."""
    for wanted in dict.fromkeys((quote.strip(), quote.strip(_AROUND))):
        letters = sum(character.isalnum() for character in wanted)
        if letters < LEAST_CHARACTERS or len(wanted) > MOST_CHARACTERS:
            continue
        if found := re.compile(_pattern(wanted)).search(text, start, end):
            return found.span()
    return None


def _pattern(wanted: str) -> str:
    words = (
        "".join(_ANY_MARK if character in _QUOTATION_MARKS else re.escape(character) for character in word)
        for word in wanted.split()
    )
    # A quote does not begin or end inside a word; scripts without spaces have no such places.
    before = r"(?<![A-Za-z0-9])" if wanted[0].isascii() and wanted[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if wanted[-1].isascii() and wanted[-1].isalnum() else ""
    return before + r"\s+".join(words) + after
