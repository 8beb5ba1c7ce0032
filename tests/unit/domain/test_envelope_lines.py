"""What may stand in stored text and would not be seen, or seen as another line: every character of its classes."""

import sys
import unicodedata
from collections.abc import Callable

import pytest

from mycel.domain.envelope import is_unseen, one_line, whole_text
from mycel.surfaces.cli import output

EVERY = [chr(number) for number in range(sys.maxunicode + 1)]
# Signs that are seen: those of Arabic and Indic numbers stand over the digits that follow.
SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
LINE_ENDS = "\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
SELECTORS = [one for one in EVERY if 0xE0000 <= ord(one) <= 0xE0FFF]


def unseen() -> list[str]:
    found = [one for one in EVERY if unicodedata.category(one) in {"Cc", "Cf", "Zl", "Zp"} and one not in SEEN]
    return [one for one in (*found, *SELECTORS) if one not in "\t\n"]


def test_no_character_that_is_not_seen_reaches_an_agent() -> None:
    assert len(unseen()) > 4000
    for character in unseen():
        text = f"first{character}second"
        assert whole_text(text) == ("first\nsecond" if character in LINE_ENDS else "firstsecond"), ascii(character)
        assert character not in one_line(text), ascii(character)


@pytest.mark.parametrize("show", [output.visible, output.one_line])
def test_a_terminal_shows_what_it_would_hide_or_obey(show: Callable[[str], str]) -> None:
    kept = "\u200c\u200d"
    for character in unseen():
        assert is_unseen(character) is (character not in kept), ascii(character)
        assert (character in show(f"first{character}second")) is (character in kept), ascii(character)


def test_what_people_write_stays() -> None:
    for text in ("a\tb\nc", "\u2764\ufe0f", "na\u00efve", "\u65e5\u672c\u8a9e", "\u0661\u0662"):
        assert output.visible(text) == text
    assert whole_text("a\r\nb\rc") == "a\nb\nc"
