from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.domain.source import Transcript
from mycel.engine.transcripts.reading import read_transcript
from mycel.engine.transcripts.session_growth import grown
from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES
from mycel.errors import LimitExceeded

words = st.text(st.sampled_from("ab \n."), min_size=1).filter(str.strip)
talks = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), words), max_size=6)


def talk(*said: tuple[str, str]) -> Transcript:
    return read_transcript([{"role": role, "content": content} for role, content in said])


FIRST = talk(("user", "Which port?"), ("assistant", "It is 5432."))


def test_a_longer_report_takes_the_place_of_the_shorter_one() -> None:
    longer = talk(("user", "Which port?"), ("assistant", "It is 5432."), ("user", "Thanks."))
    assert grown(FIRST, longer) == longer
    assert longer.turns[:2] == FIRST.turns


def test_the_same_report_brings_nothing_new() -> None:
    assert grown(FIRST, FIRST) == FIRST


@pytest.mark.parametrize("part", [("user", "Which port?"), ("assistant", "It is 5432.")])
def test_a_report_that_is_already_there_brings_nothing_new(part: tuple[str, str]) -> None:
    longer = talk(("user", "Hm."), ("user", "Which port?"), ("assistant", "It is 5432."), ("user", "Thanks."))
    assert grown(longer, talk(part)) == longer


def test_part_of_a_sentence_is_not_already_there() -> None:
    before = talk(("user", "Never use port 8080."), ("assistant", "Yes."))
    stands = grown(before, read_transcript("Never use port 80"))
    assert stands.text == f"{before.text}\n\nNever use port 80"


def test_any_other_report_is_added_at_the_end() -> None:
    other = talk(("user", "And the host?"))
    stands = grown(FIRST, other)
    assert stands.text == f"{FIRST.text}\n\n{other.text}"
    assert stands.text[stands.turns[-1].start : stands.turns[-1].end] == "And the host?"


def test_nothing_grows_from_nothing() -> None:
    empty = Transcript("", ())
    assert grown(empty, FIRST) == FIRST
    assert grown(FIRST, empty) == FIRST


def test_a_transcript_cannot_outgrow_the_limit() -> None:
    half = "x" * (MAX_TRANSCRIPT_BYTES // 2)
    with pytest.raises(LimitExceeded):
        grown(Transcript(half, ()), Transcript("y" + half, ()))


@settings(deadline=None)
@given(talks, talks)
def test_earlier_evidence_keeps_its_place(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    first = talk(*before)
    for report in (talk(*after), talk(*before, *after)):
        stands = grown(first, report)
        assert stands.text.startswith(first.text)
        assert all(0 <= turn.start < turn.end <= len(stands.text) for turn in stands.turns)
        for turn in first.turns:
            assert stands.text[turn.start : turn.end] == first.text[turn.start : turn.end]


@settings(deadline=None)
@given(talks, talks)
def test_a_session_that_goes_on_keeps_its_turns(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    first = talk(*before)
    stands = grown(first, talk(*before, *after))
    assert stands.turns[: len(first.turns)] == first.turns
    assert stands == talk(*before, *after)
