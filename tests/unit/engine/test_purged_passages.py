"""What was purged is known again by its words, and by nothing that could be read."""

from __future__ import annotations

import pytest

from mycel.domain.source import BLANK
from mycel.engine.purged_passages import REDACTED, blank_purged, blank_said, passages_in, recognisable, redacted

SAID = "We decided to host the wiki in Bern, because of the law."
KEY = bytes(16)


def blanked(text: str) -> str:
    return blank_purged(text, list(recognisable(passages_in([SAID]), key=KEY)))


@pytest.mark.parametrize(
    "again",
    [SAID, SAID.upper(), SAID.replace(" ", "\n  "), f"({SAID})", SAID.removesuffix("."), SAID.replace(",", " -")],
)
def test_a_passage_is_blanked_in_whatever_spacing_signs_and_case(again: str) -> None:
    text = f"Before. {again} After."
    found = blanked(text)
    assert len(found) == len(text)
    assert found.replace(BLANK, "") == "Before.  After."
    assert blank_said(text, [SAID]) == found


def test_a_sentence_of_a_longer_passage_is_known_alone() -> None:
    marks = list(recognisable(passages_in([f"Yes. {SAID} It takes a week."]), key=KEY))
    assert blank_purged("Yes. It takes a week, as they say.", marks).startswith(f"Yes. {BLANK}")


@pytest.mark.parametrize("other", ["We decided to host the wiki in Basel, because of the law.", "the law", "", BLANK])
def test_other_words_stay(other: str) -> None:
    assert blanked(other) == other
    assert blank_said(other, [SAID]) == other


def test_nothing_can_be_read_from_what_is_kept() -> None:
    (one,) = recognisable([SAID], key=KEY)
    (other,) = recognisable([SAID], key=bytes([1]) * 16)
    assert one.digest != other.digest
    assert b"Bern" not in one.digest + one.key


def test_a_summary_loses_the_sentence_whole_shortened_or_nearly_so() -> None:
    summary = "\n".join(
        (
            f"Asked: {SAID}",
            "- We decided to host the wiki in Bern …",
            "- We decided to host the wiki in Bern, for the law.",
            "- The wiki has 300 pages.",
        )
    )
    clean = redacted(summary, passages_in([SAID]))
    assert "Bern" not in clean
    assert clean.count(REDACTED) == 3
    assert clean.endswith("- The wiki has 300 pages.")


def test_words_that_everybody_says_are_not_a_passage() -> None:
    assert passages_in(["Yes, please."]) == []


def test_a_passage_is_found_as_whole_words_only() -> None:
    text = "Her smart is long-winded talk. Smart is longer. Art is long!"
    assert blank_said(text, ["art is long"]) == text.replace("Art is long!", BLANK * len("Art is long!"))
