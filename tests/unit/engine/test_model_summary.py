"""Summaries are short, whole, and made of everything that was said."""

from __future__ import annotations

from typing import Any

import pytest

from mycel.domain.source import Transcript
from mycel.engine.by_model.summary import PARTS, summarize_with_model
from mycel.errors import Unavailable
from tests.unit.engine.scripted_model import ScriptedModel, talk


def lists(**filled: object) -> dict[str, Any]:
    return {"summary": {**{part.lower(): [] for part in PARTS}, **filled}}


def test_a_short_talk_is_one_question() -> None:
    model = ScriptedModel(lists(decided=[" The team moved to pnpm. "], files=["a.py", "b.py"]))
    assert summarize_with_model(model, talk(("user", "We move to pnpm.")), most_characters=300) == (
        "Decided:\n- The team moved to pnpm.\nFiles: a.py, b.py"
    )
    assert "at most 300 characters" in model.instructions[0]


def test_nothing_said_is_an_empty_summary_without_a_question() -> None:
    model = ScriptedModel()
    assert summarize_with_model(model, Transcript("", ())) == ""
    assert model.materials == []


@pytest.mark.parametrize(
    "wrong",
    [
        *({}, {"summary": ""}, {"summary": 5}, {"summary": {"text": ["a"]}}),
        *(lists(open=open) for open in (5, ["a\0"], ["\ud800"], [7])),
    ],
)
def test_a_wrong_answer_is_no_summary(wrong: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="scripted"):
        summarize_with_model(ScriptedModel(wrong), talk(("user", "We move to pnpm.")))


def test_a_model_that_writes_a_text_instead_is_taken_at_its_word() -> None:
    model = ScriptedModel({"summary": " The team moved to pnpm. "})
    assert summarize_with_model(model, talk(("user", "We move to pnpm."))) == "Said:\n- The team moved to pnpm."


def test_lists_that_a_model_leaves_out_are_empty() -> None:
    model = ScriptedModel({"summary": {"decided": ["The team moved to pnpm."]}})
    assert summarize_with_model(model, talk(("user", "We move to pnpm."))) == "Decided:\n- The team moved to pnpm."


def test_a_summary_that_is_too_long_loses_its_last_points_and_then_words() -> None:
    points = lists(asked=["a"], learned=[f"The sentence {number} is here." for number in range(20)])
    found = summarize_with_model(ScriptedModel(points), talk(("user", "a")), most_characters=60)
    assert found == "Asked:\n- a\nLearned:\n- The sentence 0 is here."
    long = lists(open=["word " * 99])
    words = summarize_with_model(ScriptedModel(long), talk(("user", "a")), most_characters=52)
    assert words == "Open:\n- " + "word " * 7 + "word…"


@pytest.mark.parametrize("max_characters", [10, 400, 2000])
def test_a_long_talk_is_summed_up_in_rounds(max_characters: int) -> None:
    transcript = talk(*(("user", f"statement {number} " + "x" * 80) for number in range(100)))
    model = ScriptedModel(max_characters=max_characters)
    model.respond = lambda material: lists(done=["part " * 200])
    found = summarize_with_model(model, transcript)
    assert 0 < len(found) <= 1600
    assert all(f"statement {number} " in "\n".join(model.materials) for number in range(100))
    assert all(len(material) <= max(max_characters, 400) for material in model.materials)
