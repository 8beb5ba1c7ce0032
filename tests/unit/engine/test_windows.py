"""Windows hold whole turns where they can, a bounded number of characters, and leave nothing out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.domain.source import Transcript
from mycel.engine.by_model.windows import LEAST_CHARACTERS, TOOL_CHARACTERS, divide_into_windows
from tests.unit.engine.scripted_model import talk


def test_turns_are_numbered_with_role_and_speaker() -> None:
    transcript = talk(("user", "Which port?", "swe-1"), ("assistant", "8080."), ("", "Noted.", "a\nb"))
    (window,) = divide_into_windows(transcript, most_characters=1000)
    assert window.text == "[1] user swe-1\nWhich port?\n\n[2] assistant\n8080.\n\n[3] unknown a b\nNoted."


def test_a_text_without_turns_is_one_turn() -> None:
    (window,) = divide_into_windows(Transcript("Prices are kept in cents.", ()), most_characters=1000)
    assert window.text == "[1] unknown\nPrices are kept in cents."


@pytest.mark.parametrize("transcript", [Transcript("", ()), Transcript(" \n", ()), talk(("user", "  "))])
def test_nothing_said_is_no_window(transcript: Transcript) -> None:
    assert divide_into_windows(transcript, most_characters=1000) == []


def test_windows_end_between_turns_and_repeat_a_little() -> None:
    transcript = talk(*(("user", f"statement {number} " + "x" * 40) for number in range(20)))
    windows = divide_into_windows(transcript, most_characters=700)
    assert len(windows) > 1
    numbers = [[piece.number for piece in window.pieces] for window in windows]
    assert all(before[-1] == after[0] for before, after in pairwise(numbers))
    assert sorted({number for window in numbers for number in window}) == list(range(1, 21))


def test_of_a_tool_only_the_beginning_is_shown() -> None:
    transcript = talk(("tool", "y" * 5000), ("user", "It failed."))
    (window,) = divide_into_windows(transcript, most_characters=2000)
    assert window.text.count("y") == TOOL_CHARACTERS


def test_what_came_before_the_start_is_only_context() -> None:
    transcript = talk(("user", "old " * 200), ("user", "older news"), ("user", "the new part"))
    start = transcript.text.index("the new part")
    (window,) = divide_into_windows(transcript, most_characters=1000, start=start)
    assert "the new part" in window.text
    assert "older news" in window.text
    assert len(window.text) < 250
    assert divide_into_windows(transcript, most_characters=1000, start=len(transcript.text)) == []


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=900)), max_size=12),
    st.integers(LEAST_CHARACTERS, 1500),
)
def test_every_character_is_shown_and_no_window_is_too_long(said: list[tuple[str, str]], most: int) -> None:
    transcript = talk(*said)
    windows = divide_into_windows(transcript, most_characters=most)
    assert all(len(window.text) <= most for window in windows)
    shown = {at for window in windows for piece in window.pieces for at in range(piece.start, piece.end)}
    wanted = {
        at
        for turn in transcript.turns
        if transcript.text[turn.start : turn.end].strip()
        for at in range(turn.start, turn.end)
    }
    assert wanted == shown
