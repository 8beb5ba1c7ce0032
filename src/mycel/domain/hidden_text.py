"""Characters that hide text from people or steer a terminal: what holds them waits, and no program is handed them.

Only what has no honest use in a note counts. Joined emoji, variation selectors, right-to-left marks, embeddings and
isolates (which programs put around names by themselves) and the three flags made of tag characters are left alone.
"""

from __future__ import annotations

import re

from mycel.domain.envelope import unmarked

# Controls but those that space text, among them escape; the two overrides of direction; the tag block; and runs that
# only a coded message needs: two variation selectors for one character, or eight characters of no width.
_STEERING = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202d\u202e\U000e0000-\U000e007f]"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
    "|[\u200b-\u200d\u2060-\u2064\ufeff]{8,}"
)
_ASCII_STEERING = re.compile("[\x00-\x08\x0e-\x1b\x7f]")
# England, Scotland and Wales: a black flag, the letters of the region as tags, and the tag that ends them.
_FLAG = "\U0001f3f4"
_FLAGS = tuple(
    _FLAG + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_FLAG_OR_STEERING = re.compile(f"({'|'.join(_FLAGS)})|{_STEERING.pattern}")

# No script needs more marks on one character.
MOST_MARKS = 5
_MARKS = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06dc\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_PILE = re.compile(f"({_MARKS}{{{MOST_MARKS}}}){_MARKS}+")


def hides(text: str) -> bool:
    """Whether a text holds what its reader would not see, or what a terminal would obey."""
    if text.isascii():
        return not text.isprintable() and _ASCII_STEERING.search(text) is not None
    if _FLAG in text:
        for flag in _FLAGS:
            text = text.replace(flag, _FLAG)
    return _STEERING.search(text) is not None


def without_hidden(text: str) -> str:
    """The text without them; nearly every text is returned as it is."""
    return _FLAG_OR_STEERING.sub(lambda found: found[1] or "", text) if hides(text) else text


def with_hidden_named(text: str) -> str:
    """The text with the name of each of them in its place, for people who decide about it.

    Of marks that would pile up over the lines around, the first few stay.
    """
    if text.isascii() and text.isprintable():
        return text
    named = _FLAG_OR_STEERING.sub(lambda found: found[1] or _named(found[0]), text) if hides(text) else text
    return _PILE.sub(lambda found: f"{found[1]}[{len(found[0]) - MOST_MARKS} marks]", named)


def _named(characters: str) -> str:
    return "".join(f"[U+{ord(one):04X}]" for one in characters)


def program_text(text: str) -> str:
    """Stored text for a program that may hand it to a model: exact but for what hides or steers, and for our marks.

    Other invisible characters stay: a program compares and writes back what it was given.
    """
    return unmarked(without_hidden(text))
