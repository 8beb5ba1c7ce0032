"""What was purged is known again by its words, and by nothing that could be read."""

from __future__ import annotations

import pytest

from mycel.domain.ids import SourceId
from mycel.domain.memory import FIELDS, EvidenceRef
from mycel.domain.memory_field import LISTS, PROSE, FieldRow
from mycel.domain.source import BLANK
from mycel.engine.purged_passages import (
    REDACTED,
    blank_evidence,
    blank_purged,
    blank_said,
    passages_in,
    quoted_passages,
    recognisable,
    redacted,
    redacted_memory,
)
from mycel.testing.store_samples import sample

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


SOURCE = "aaaa bbbb cccc dddd"


def evidence(start: int, end: int) -> EvidenceRef:
    return EvidenceRef(SourceId("source-1"), start, end)


@pytest.mark.parametrize(
    ("own", "others", "is_whole", "left"),
    [
        pytest.param(evidence(5, 9), [], False, "____ ____ ____ ____", id="it alone used the source"),
        pytest.param(None, [], False, "____ ____ ____ ____", id="it alone used the source and quotes nothing"),
        pytest.param(evidence(5, 9), [evidence(10, 14)], False, "aaaa ____ cccc dddd", id="others use it too"),
        pytest.param(evidence(5, 9), [None], False, "aaaa ____ cccc dddd", id="others refer to all of it"),
        pytest.param(None, [evidence(10, 14)], False, "aaaa bbbb cccc dddd", id="it quotes nothing of a shared one"),
        pytest.param(
            None, [evidence(10, 14), evidence(12, 16)], True, "____ ____ cccc d___", id="a report but what others quote"
        ),
    ],
)
def test_a_source_keeps_what_others_were_drawn_from(
    own: EvidenceRef | None, others: list[EvidenceRef | None], is_whole: bool, left: str
) -> None:
    found = blank_evidence(SOURCE, [], evidence=own, others=others, is_whole=is_whole)
    assert len(found) == len(SOURCE)
    assert [a for a, b in zip(found, left, strict=True) if b not in "_ "] == [b for b in left if b not in "_ "]
    assert all(a == BLANK for a, b in zip(found, left, strict=True) if b == "_")


def test_a_memory_says_its_own_words_and_those_it_quotes() -> None:
    text = "Hello. We keep the pin under the mat. Bye."
    assert quoted_passages(text, None, "The pin is under the mat") == []
    assert quoted_passages(text, evidence(7, 37), "The pin is there") == [
        "We keep the pin under the mat.",
        "The pin is there",
    ]


def test_a_summary_is_redacted_in_all_its_texts() -> None:
    said = ["the pin is under the mat"]
    told = "The pin is under the mat."
    summary = sample(f"We met. {told}", title=told, summary=f"{told} We left.")
    clean = redacted_memory(summary, said)
    assert (clean.title, clean.summary) == (REDACTED, f"{REDACTED} We left.")
    assert clean.content == f"We met. {REDACTED}"
    assert redacted_memory(sample("We met."), said).content == "We met."


@pytest.mark.parametrize("row", [row for row in FIELDS.values() if row.holds in PROSE], ids=lambda row: row.name)
def test_no_field_of_sentences_keeps_what_was_purged(row: FieldRow) -> None:
    told = "The pin is under the mat."
    listed = row.holds in LISTS
    summary = sample(**{"content": "We met.", "title": "We met.", row.name: (told, "We met.") if listed else told})
    clean = getattr(redacted_memory(summary, ["the pin is under the mat"]), row.name)
    assert clean == ((REDACTED, "We met.") if listed else REDACTED)


def test_metadata_keeps_nothing_of_what_was_purged_however_deep_it_lies() -> None:
    told = "The pin is under the mat."
    metadata = {"room": "hall", "talk": {"said": [told, 3, None], told: True}, "both": f"We met. {told}"}
    clean = redacted_memory(sample("We met.", metadata=metadata), ["the pin is under the mat"]).metadata
    assert clean == {
        "room": "hall",
        "talk": {"said": [REDACTED, 3, None], REDACTED: True},
        "both": f"We met. {REDACTED}",
    }
