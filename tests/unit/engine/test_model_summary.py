"""Summaries are short, whole, and made of everything that was said."""

from __future__ import annotations

from typing import Any

import pytest

from mycel.domain.source import Transcript
from mycel.engine.by_model.summary import summarize_with_model
from mycel.errors import Unavailable
from tests.unit.engine.scripted_model import ScriptedModel, talk


def test_a_short_talk_is_one_question() -> None:
    model = ScriptedModel({"summary": " The team moved to pnpm. "})
    assert summarize_with_model(model, talk(("user", "We move to pnpm.")), most_characters=300) == (
        "The team moved to pnpm."
    )
    assert "at most 300 characters" in model.instructions[0]


def test_nothing_said_is_an_empty_summary_without_a_question() -> None:
    model = ScriptedModel()
    assert summarize_with_model(model, Transcript("", ())) == ""
    assert model.materials == []


@pytest.mark.parametrize("wrong", [{}, {"summary": ""}, {"summary": 5}, {"summary": "a\0"}, {"summary": "\ud800"}])
def test_a_wrong_answer_is_no_summary(wrong: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="scripted"):
        summarize_with_model(ScriptedModel(wrong), talk(("user", "We move to pnpm.")))


def test_a_summary_that_is_too_long_ends_after_a_sentence_or_a_word() -> None:
    sentences = "The first sentence is here. " * 20
    found = summarize_with_model(ScriptedModel({"summary": sentences}), talk(("user", "a")), most_characters=100)
    assert found == ("The first sentence is here. " * 3).strip()
    words = summarize_with_model(ScriptedModel({"summary": "word " * 99}), talk(("user", "a")), most_characters=52)
    assert words == "word " * 9 + "word…"
    letters = summarize_with_model(ScriptedModel({"summary": "x" * 99}), talk(("user", "a")), most_characters=50)
    assert len(letters) == 50


@pytest.mark.parametrize("max_characters", [10, 400, 2000])
def test_a_long_talk_is_summed_up_in_rounds(max_characters: int) -> None:
    transcript = talk(*(("user", f"statement {number} " + "x" * 80) for number in range(100)))
    model = ScriptedModel(max_characters=max_characters)
    model.respond = lambda material: {"summary": "part " * 200}
    found = summarize_with_model(model, transcript)
    assert 0 < len(found) <= 1200
    assert all(f"statement {number} " in "\n".join(model.materials) for number in range(100))
    assert all(len(material) <= max(max_characters, 400) for material in model.materials)
