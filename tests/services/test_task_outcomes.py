"""What the ledger says of a reported task."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.squad import Squad, open_squad


@pytest.fixture
def squad(tmp_path: Path) -> Iterator[Squad]:
    squad = open_squad(tmp_path)
    with squad.workspace:
        yield squad


def test_the_outcome_of_a_failed_task_is_what_was_said_and_no_more(squad: Squad) -> None:
    record = squad.author.after_task(
        task_id="T-1", action="failed", approach="raise the pool size", what_went_wrong="the database refused"
    )
    assert record.episode.outcome == "the database refused"
    assert record.episode.memory.content == "raise the pool size\n\nFailed: the database refused"


def test_the_outcome_of_a_completed_task_is_left_as_it_is(squad: Squad) -> None:
    told = "What went wrong: nothing."
    record = squad.author.after_task(task_id="T-1", action="completed", approach="wait", output=told)
    assert record.episode.outcome == told
