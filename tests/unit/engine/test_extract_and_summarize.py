"""A language model finds more than rules do, and may overlook what nobody should."""

from __future__ import annotations

from typing import Any

from mycel.domain.source import Step
from mycel.engine.executor import InlineExecutor
from mycel.engine.extract_and_summarize import extract_and_summarize
from tests.unit.engine.scripted_model import ScriptedModel, talk

CHOSEN = "We build the web client with pnpm, since npm was too slow."
RULE = "Rule: nobody edits the generated files by hand."
TALK = talk(("user", CHOSEN, "swe-1"), ("user", RULE, "swe-2"), ("assistant", RULE))


def drawn(*entries: dict[str, Any]) -> list[str]:
    model = ScriptedModel({"candidates": list(entries)})
    found = extract_and_summarize(TALK, steps=(Step.EXTRACT,), start=0, executor=InlineExecutor(), model=model)
    assert found.by == "scripted"
    return [one.content for one in found.candidates]


def entry(content: str, *, turn: int, quote: str) -> dict[str, Any]:
    return {
        **{"type": "decision", "category": "", "title": content, "content": content, "rationale": ""},
        **{"alternatives": [], "turn": turn, "quote": quote, "confidence": 0.9},
    }


def test_what_a_person_said_outright_is_kept_where_the_model_leaves_it_out() -> None:
    chosen = entry("The web client is built with pnpm.", turn=1, quote=CHOSEN)
    assert drawn(chosen) == ["The web client is built with pnpm.", RULE]
    assert drawn() == [RULE]


def test_what_the_model_made_of_the_same_words_stands_alone() -> None:
    assert drawn(entry("Generated files are edited by nobody.", turn=2, quote=RULE)) == [
        "Generated files are edited by nobody."
    ]
