"""Which memories are neighbours."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mycel.domain.ids import SourceId
from mycel.domain.memory import SourceRef
from mycel.domain.neighbourhood import Neighbourhood
from mycel.testing.store_samples import START, TEAMMATE, sample

NEAR = Neighbourhood()


def test_two_before_and_two_after_the_nearest_first() -> None:
    memories = {number: sample() for number in range(1, 10)}
    assert NEAR.pick(5, memories) == (4, 3, 6, 7)
    assert NEAR.pick(1, memories) == (2, 3)
    assert NEAR.pick(9, memories) == (8, 7)


@pytest.mark.parametrize(
    "apart",
    [
        {"path": "/elsewhere"},
        {"agent_id": TEAMMATE},
        {"session_id": "another"},
        {"source_ref": SourceRef(SourceId("another"))},
        {"at": START + timedelta(minutes=31)},
    ],
    ids=lambda apart: next(iter(apart)),
)
def test_what_was_not_saved_together_is_no_neighbour(apart: dict[str, object]) -> None:
    assert NEAR.pick(1, {1: sample(), 2: sample(**apart)}) == ()


def test_what_was_saved_long_before_in_numbers_is_no_neighbour() -> None:
    assert NEAR.pick(100, {100: sample(), 36: sample(), 35: sample()}) == (36,)
