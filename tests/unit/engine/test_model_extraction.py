"""What a language model says becomes a candidate only when its shape is right and the source really says so."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import USUAL_CATEGORY, Candidate
from mycel.engine.by_model import extraction
from mycel.engine.by_model.extraction import extract_with_model
from mycel.engine.by_model.prompts import read_prompt
from mycel.engine.english.outright import MARKS
from mycel.engine.language import kind_of
from mycel.errors import Unavailable
from tests.unit.engine.scripted_model import ScriptedModel, talk

HEADINGS = ("Decisions", "Action items", "Lessons", "Gotchas", "Conventions", "References", "Preferences", "Facts")
TALK = talk(
    ("user", "We build the web client with pnpm, since npm was too slow.", "swe-1"),
    ("tool", "error: lockfile is out of date. We build the server with make."),
    ("assistant", "Noted: the lockfile must be committed as well."),
)


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "type": "decision",
        "category": "",
        "title": "pnpm for the web client",
        "content": "The web client is built with pnpm.",
        "rationale": "npm was too slow",
        "alternatives": ["npm", " "],
        "turn": 1,
        "quote": "We build the web client with pnpm, since npm was too slow.",
        "confidence": 0.9,
        **changes,
    }


def answer(*entries: object) -> dict[str, Any]:
    return {"candidates": list(entries)}


def one(**changes: Any) -> Candidate:
    (found,) = extract_with_model(ScriptedModel(answer(entry(**changes))), TALK).candidates
    return found


def reasons(*entries: object, start: int = 0) -> dict[str, int]:
    found = extract_with_model(ScriptedModel(answer(*entries)), TALK, start=start)
    assert found.candidates == ()
    return dict(found.dropped)


def test_a_sound_candidate_is_taken_with_its_evidence() -> None:
    start = TALK.turns[0].start
    assert one() == Candidate(
        type=MemoryType.DECISION,
        title="pnpm for the web client",
        content="The web client is built with pnpm.",
        confidence=0.9,
        start=start,
        end=start + len("We build the web client with pnpm, since npm was too slow."),
        category="decision",
        rationale="npm was too slow",
        alternatives=("npm",),
        grounds="scripted",
        said_by="swe-1",
    )


def test_the_model_is_asked_with_numbered_turns_and_told_what_to_keep() -> None:
    model = ScriptedModel(answer())
    assert extract_with_model(model, TALK).candidates == ()
    assert model.materials[0].startswith("[1] user swe-1\nWe build the web client")
    assert model.instructions == [read_prompt("extraction")]
    for type in extraction.EXTRACTABLE:
        assert f"`{type.value}`" in model.instructions[0]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "text",
        [1],
        {},
        entry(type="note"),
        entry(type="poem"),
        entry(type=None),
        entry(title=["a"]),
        entry(title="a\0b"),
        entry(content=""),
        entry(content=None),
        entry(content="x" * 70_000),
        entry(content="\ud800"),
        entry(confidence="high"),
        entry(confidence=1.5),
        entry(confidence=float("nan")),
        entry(confidence=None),
        entry(confidence=True),
        entry(category="c" * 300),
        entry(category=7),
        entry(rationale={"why": 1}),
        entry(alternatives=[1]),
        entry(alternatives={"a": 1}),
        entry(alternatives=["a"] * 200),
        entry(quote=None),
        entry(quote=["We build"]),
    ],
)
def test_a_wrong_shape_is_dropped_and_the_others_stay(wrong: object) -> None:
    found = extract_with_model(ScriptedModel(answer(wrong, entry())), TALK)
    assert [candidate.title for candidate in found.candidates] == ["pnpm for the web client"]
    assert found.dropped == {extraction.WRONG_SHAPE: 1}


@pytest.mark.parametrize("wrong", [{}, {"candidates": None}, {"candidates": {"a": 1}}, {"memories": []}])
def test_an_answer_without_the_list_is_no_answer(wrong: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="scripted"):
        extract_with_model(ScriptedModel(wrong), TALK)


def test_what_is_empty_or_missing_is_left_out() -> None:
    found = one(rationale=" ", alternatives=None)
    assert (found.rationale, found.alternatives) == (None, ())


def test_a_title_that_is_too_long_is_cut_and_a_missing_one_derived() -> None:
    assert len(one(title="pnpm " * 40).title) <= 80
    assert one(title="").title == "The web client is built with pnpm."
    assert one(title="pnpm\nfor  the client").title == "pnpm for the client"


def test_a_category_is_written_one_way() -> None:
    assert one(category="Mistake_Pattern").category == "mistake-pattern"


@pytest.mark.parametrize("named", [None, "", "codebase", "whatever the model likes"])
def test_a_category_that_the_rules_do_not_know_is_the_usual_one_of_its_type(named: str | None) -> None:
    assert one(category=named).category == "decision"
    assert one(category=named, type="fact").category == "codebase-knowledge"


def test_the_model_is_told_the_types_and_categories_that_the_rules_give() -> None:
    told = set(re.findall(r"Type `(\w+)`, category\s+`([\w-]+)`", read_prompt("extraction")))
    ruled = {mark.kind for mark in MARKS}
    ruled |= {kind for heading in HEADINGS if (kind := kind_of(heading)) is not None} | set(USUAL_CATEGORY.items())
    assert told == {(type.value, category.value) for type, category in ruled}
    fields = extraction.SCHEMA["properties"]["candidates"]["items"]["properties"]
    assert fields["category"]["enum"] == [category.value for category in Category]


def test_no_model_is_surer_than_the_limit() -> None:
    assert one(confidence=1).confidence == 0.95
    assert one(confidence=0.4).confidence == 0.4


def test_evidence_that_is_not_in_the_source_drops_the_candidate() -> None:
    assert reasons(entry(quote="We build everything with pnpm")) == {extraction.INVENTED_EVIDENCE: 1}
    assert reasons(entry(quote="npm")) == {extraction.INVENTED_EVIDENCE: 1}


def test_a_quote_across_two_turns_is_no_evidence() -> None:
    quote = TALK.text[TALK.turns[0].start : TALK.turns[2].end]
    assert reasons(entry(quote=quote)) == {extraction.INVENTED_EVIDENCE: 1}


def test_the_name_before_a_turn_is_no_evidence() -> None:
    assert reasons(entry(quote="assistant: Noted")) == {extraction.INVENTED_EVIDENCE: 1}


@pytest.mark.parametrize("turn", [3, 99, None, "1", 1.0])
def test_a_miscounted_turn_does_no_harm(turn: object) -> None:
    assert one(turn=turn).start == TALK.turns[0].start


def test_of_two_places_the_named_turn_is_taken() -> None:
    transcript = talk(("user", "the build is green"), ("user", "yes, the build is green"))
    model = ScriptedModel(answer(entry(quote="the build is green", turn=2)))
    (found,) = extract_with_model(model, transcript).candidates
    assert found.start == transcript.turns[1].start + len("yes, ")


def test_what_only_a_tool_said_is_not_taken() -> None:
    assert reasons(entry(quote="We build the server with make.", turn=2)) == {extraction.FROM_A_TOOL: 1}
    assert reasons(entry(quote="We build the server with make.", turn=1)) == {extraction.FROM_A_TOOL: 1}


def test_what_was_extracted_before_is_not_taken_again() -> None:
    later = TALK.turns[2].start
    assert reasons(entry(), start=later) == {extraction.BEFORE_START: 1}
    model = ScriptedModel(answer(entry(quote="the lockfile must be committed", turn=3)))
    assert len(extract_with_model(model, TALK, start=later).candidates) == 1


def test_nothing_new_is_not_asked_about() -> None:
    model = ScriptedModel()
    assert extract_with_model(model, TALK, start=len(TALK.text)).candidates == ()
    assert extract_with_model(model, talk(("tool", "all tests passed"))).candidates == ()
    assert model.materials == []


def test_the_same_statement_is_kept_once() -> None:
    again = entry(title="other title", content="the web client  is built with PNPM.")
    other = entry(title="npm", content="npm was too slow for the web client.")
    found = extract_with_model(ScriptedModel(answer(entry(), again, other)), TALK)
    assert len(found.candidates) == 2
    assert found.dropped == {extraction.DUPLICATE: 1}


def test_a_paraphrase_from_the_overlap_of_two_windows_is_kept_once() -> None:
    quote = "prices are kept in cents"
    transcript = talk(("user", "x" * 300), ("user", quote), ("user", "y" * 300))
    model = ScriptedModel(max_characters=400)
    model.respond = lambda material: answer(
        entry(title=f"asked {len(model.materials)}", content=f"said {len(model.materials)} times", quote=quote)
    )
    found = extract_with_model(model, transcript)
    assert len(model.materials) == 2
    assert all(quote in material for material in model.materials)
    assert [candidate.title for candidate in found.candidates] == ["asked 1"]
    assert found.dropped == {extraction.DUPLICATE: 1}


def test_a_long_talk_is_read_to_its_end() -> None:
    said = [f"rule {number} of the team is to keep file {number} small" for number in range(60)]
    transcript = talk(*(("user", words) for words in said))
    model = ScriptedModel(max_characters=600)
    model.respond = lambda material: answer(
        *(entry(title=words[:8], content=words, quote=words) for words in said if words in material)
    )
    found = extract_with_model(model, transcript)
    assert [candidate.content for candidate in found.candidates] == said
    assert all(len(material) <= 600 for material in model.materials)


def test_a_flood_is_cut_off() -> None:
    flood = [entry(content=f"statement {number}") for number in range(100)]
    found = extract_with_model(ScriptedModel(answer(*flood)), TALK)
    assert len(found.candidates) == extraction.MOST_CANDIDATES
    assert found.dropped == {extraction.TOO_MANY: 100 - extraction.MOST_CANDIDATES}
