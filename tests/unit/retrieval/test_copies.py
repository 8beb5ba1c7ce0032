"""Which memories can stand for one another in an answer, and which are two facts however alike they look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from mycel.domain.memory import Memory
from mycel.retrieval.copies import CROWD, MOST_COMPARED, Likeness, stand_ins
from mycel.testing.store_samples import sample

PIPELINE = "Deploys of the billing service always go through the blue pipeline before noon."


def memory(text: str, *, by: str = "swe-1", **fields: Any) -> Memory:
    return sample(text, agent_id=by, **fields)


def groups(memories: Sequence[Memory]) -> list[int]:
    """How many each that stands for itself stands for besides."""
    return [len(copies) for _, copies in stand_ins([Likeness(one) for one in memories])]


@pytest.mark.parametrize(
    "variation",
    [
        PIPELINE,
        "deploys of the billing service ALWAYS go through the blue pipeline, before noon",
        "Deploys of the billing service should always go through the blue pipeline before noon.",
        "Before noon, deploys of the billing service always go through the blue pipeline.",
        f"{PIPELINE} (2026-03-01)",
        f"{PIPELINE} Says Ops.",
        f"Note: {PIPELINE}",
    ],
)
@pytest.mark.parametrize("author", ["swe-1", "swe-2"])
def test_a_small_variation_is_a_copy_whoever_wrote_it(variation: str, author: str) -> None:
    assert groups([memory(PIPELINE), memory(variation, by=author)]) == [1]
    assert groups([memory(variation, by=author), memory(PIPELINE)]) == [1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The port of staging is 8080.", "The port of production is 9090."),
        (
            "In staging the price import of the shop runs at night.",
            "In production the price import of the shop runs at night.",
        ),
        (
            "The exporter of the shop needs version 3.11.4 of the client.",
            "The exporter of the shop needs version 3.11.5 of the client.",
        ),
        (
            "The migration of the price list took place on 2026-03-01.",
            "The migration of the price list took place on 2026-04-01.",
        ),
        ("Run 12 of the nightly import took 340 s.", "Run 13 of the nightly import took 290 s."),
        ("The broker of the nightly price import is Redis.", "The broker of the nightly price import is Kafka."),
        (
            "Deploys of the billing service on Friday are fine.",
            "Deploys of the billing service on Friday are not fine.",
        ),
        (
            "The nightly import of the prices is in src/prices/load.py.",
            "The nightly import of the prices is in src/stock/load.py.",
        ),
    ],
)
def test_other_values_are_two_facts(first: str, second: str) -> None:
    assert groups([memory(first), memory(second)]) == [0, 0]
    assert groups([memory(first), memory(second, by="swe-2")]) == [0, 0]


def test_a_crowd_by_one_author_that_differs_in_a_counter_is_told_once() -> None:
    assert groups([memory(f"{PIPELINE} Note {number}.") for number in range(60)]) == [59]


def test_a_few_values_of_one_thing_each_stand() -> None:
    few = [memory(f"{PIPELINE} Version {number}.") for number in range(CROWD - 1)]
    assert groups(few) == [0] * (CROWD - 1)


def test_several_authors_are_no_crowd() -> None:
    assert groups([memory(f"{PIPELINE} Note {number}.", by=f"swe-{number}") for number in range(8)]) == [0] * 8


@pytest.mark.parametrize("fields", [{"type": "episode"}, {"type": "artifact"}])
def test_events_and_files_are_each_their_own(fields: dict[str, Any]) -> None:
    assert groups([memory(f"{PIPELINE} Run {number}.", **fields) for number in range(8)]) == [0] * 8


def test_measurements_are_no_counter() -> None:
    runs = [f"Run {n} of the nightly import of the price list of the shop took {40 + n * 7} s." for n in range(8)]
    assert groups([memory(text) for text in runs]) == [0] * 8


def test_values_of_different_keys_are_two_facts() -> None:
    assert groups([memory("true", key="uses-cache"), memory("true", key="uses-queue")]) == [0, 0]


def test_words_without_spaces_are_compared_too() -> None:
    assert groups(
        [memory("部署必须始终经过蓝色管道并在中午之前完成"), memory("部署必须始终经过蓝色管道并在中午之前完成。")]
    ) == [1]


def test_beyond_what_anybody_reads_each_stands_for_itself() -> None:
    found = groups([memory(PIPELINE) for _ in range(MOST_COMPARED + 3)])
    assert found == [MOST_COMPARED - 1, 0, 0, 0]
