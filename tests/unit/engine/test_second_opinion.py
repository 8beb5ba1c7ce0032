"""Of doubtful pairs a language model is asked, in few questions, and what it says is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from mycel.domain.memory import Memory
from mycel.engine.by_model.judging import MOST_PAIRS, MOST_SECONDS, PAIRS_OF_A_QUESTION, with_second_opinion
from mycel.engine.consolidation import Judged
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, SURELY_SAME, Judgement
from mycel.errors import Misconfigured, Unavailable
from mycel.testing.store_samples import sample
from tests.unit.engine.scripted_model import ScriptedModel

DOUBTFUL = Judgement(LIKELY_SAME, 0.0, supersedes=False, reason="probably the same statement", doubtful=True)
EARLIER, LATER = "Staging is refreshed nightly.", "Each night staging gets a fresh copy."


def said(content: str) -> Memory:
    return sample(content)


def pair(earlier: str = EARLIER, later: str = LATER, judgement: Judgement = DOUBTFUL) -> Judged:
    return Judged(said(earlier), said(later), judgement)


def verdict(relation: object, number: object = 1) -> Mapping[str, Any]:
    return {"verdicts": [{"pair": number, "relation": relation}]}


@pytest.mark.parametrize(
    ("relation", "is_so"),
    [
        ("duplicate", lambda found: found.likeness >= SURELY_SAME),
        ("contradiction", lambda found: found.contradiction >= CONTRADICTS and not found.supersedes),
        ("supersedes", lambda found: found.supersedes),
        ("related", lambda found: found.likeness < LIKELY_SAME and found.contradiction < CONTRADICTS),
        ("unrelated", lambda found: found.likeness < LIKELY_SAME and found.contradiction < CONTRADICTS),
    ],
)
def test_what_the_model_says_of_a_doubtful_pair_is_done(relation: str, is_so: Any) -> None:
    model = ScriptedModel(verdict(relation))
    (found,) = with_second_opinion([pair()], model)
    assert is_so(found.judgement)
    assert "(scripted)" in found.judgement.reason
    assert not found.judgement.doubtful
    assert EARLIER in model.materials[0]


def test_it_is_asked_of_nothing_that_is_sure() -> None:
    sure = pair(judgement=replace(DOUBTFUL, doubtful=False))
    model = ScriptedModel()
    assert with_second_opinion([sure], model) == [sure]
    assert model.materials == []


def test_no_word_of_a_model_merges_other_values() -> None:
    (found,) = with_second_opinion(
        [pair("The limit is 5.", "At most 6 are allowed.")], ScriptedModel(verdict("duplicate"))
    )
    assert found.judgement.likeness < LIKELY_SAME


@pytest.mark.parametrize(
    "answer",
    [
        {"verdicts": None},
        {"verdicts": "duplicate"},
        {"verdicts": [None, 3, "duplicate", {}, {"pair": 1}, {"relation": "duplicate"}]},
        verdict("the same"),
        verdict(["duplicate"]),
        verdict("duplicate", 0),
        verdict("duplicate", 2),
        verdict("duplicate", "1"),
        verdict("duplicate", None),
        {},
    ],
)
def test_nonsense_changes_nothing(answer: Mapping[str, Any]) -> None:
    assert with_second_opinion([given := pair()], ScriptedModel(answer)) == [given]


@pytest.mark.parametrize("error", [Unavailable("down"), Misconfigured("no key")])
def test_a_model_that_cannot_answer_changes_nothing_and_is_asked_once(error: Exception) -> None:
    model = ScriptedModel()
    model.respond = lambda _: (_ for _ in ()).throw(error)
    many = [pair() for _ in range(3 * PAIRS_OF_A_QUESTION)]
    assert with_second_opinion(many, model) == many
    assert len(model.materials) == 1


def test_it_is_asked_of_so_many_pairs_and_no_more() -> None:
    model = ScriptedModel()
    model.respond = lambda _: {"verdicts": []}
    with_second_opinion([pair() for _ in range(2 * MOST_PAIRS)], model)
    assert len(model.materials) == MOST_PAIRS // PAIRS_OF_A_QUESTION


def test_no_question_is_begun_when_its_time_is_over() -> None:
    model, moments = ScriptedModel(), iter([0.0, 1.0, MOST_SECONDS + 1])
    model.respond = lambda _: {"verdicts": []}
    with_second_opinion([pair() for _ in range(MOST_PAIRS)], model, now=lambda: next(moments))
    assert len(model.materials) == 1


def test_without_a_model_all_stays_as_it_is() -> None:
    assert with_second_opinion([given := pair()], None) == [given]
