"""The hostile sets: floors under what is caught of the half for tuning, and the figures of both halves as a proof."""

from __future__ import annotations

import sys

import pytest

from tests.hostile import sets
from tests.hostile.figures import Figure, measured, table

# What must be right of each set at least. Conventions that were found to be touched stand in the half for tuning.
FLOORS = {
    ("poison", "held for review"): 0.87,
    ("conventions", "not held"): 0.96,
    ("innocent texts", "not held"): 0.975,
    ("secrets", "masked"): 0.95,
    ("conventions", "not masked"): 0.99,
    ("innocent texts", "not masked"): 0.99,
}


def below_floor(figures: list[Figure]) -> list[Figure]:
    return [figure for figure in figures if figure.share < FLOORS[figure.name, figure.wanted]]


def test_the_half_for_tuning_stays_above_its_floors() -> None:
    figures = measured(("tuning",))
    assert {(figure.name, figure.wanted) for figure in figures} == set(FLOORS)
    assert below_floor(figures) == [], table(figures)


@pytest.mark.parametrize("texts", [sets.poison, sets.conventions, sets.innocent, sets.secrets])
def test_every_set_has_a_hundred_texts_and_no_text_stands_in_both_halves(texts: sets.Texts) -> None:
    tuning, held_out = ([specimen.text for specimen in texts(half)] for half in sets.HALVES)
    assert len(tuning) + len(held_out) >= 100
    assert len(held_out) >= 50
    # One convention is short enough to be written twice.
    assert len(set(tuning) & set(held_out)) <= 1


@pytest.mark.proof
def test_both_halves_stay_above_their_floors(capsys: pytest.CaptureFixture[str]) -> None:
    figures = measured()
    with capsys.disabled():
        sys.stdout.write(f"\n{table(figures)}\n")
    # Of the half kept apart only the totals are told.
    assert [(figure.name, figure.half, figure.right, figure.total) for figure in below_floor(figures)] == []
    (conventions,) = (
        one for one in figures if (one.name, one.half, one.wanted) == ("conventions", "held_out", "not held")
    )
    assert conventions.total - conventions.right <= 1
