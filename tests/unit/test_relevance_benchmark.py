"""The suite that measures relevance counts what the default cut keeps and drops."""

from __future__ import annotations

from benchmarks.relevance import Judged, kept_and_dropped
from benchmarks.relevance_notes import DEV, HELD_OUT, half


def test_kept_counts_answers_and_dropped_counts_the_others() -> None:
    hits = [
        Judged("multi", 0.9, answers=True, shown=True),
        Judged("multi", 0.1, answers=True, shown=False),
        Judged("multi", 0.1, answers=False, shown=False),
        Judged("multi", 0.3, answers=False, shown=True),
        Judged("none", 0.1, answers=False, shown=False),
        Judged("none", 0.1, answers=False, shown=False),
    ]
    assert kept_and_dropped(hits) == (50, 75)


def test_what_there_is_none_of_is_neither_lost_nor_left_in() -> None:
    assert kept_and_dropped([]) == (100, 100)


def test_the_halves_share_no_note_and_judge_only_their_own() -> None:
    dev, held_out = half(DEV), half(HELD_OUT)
    assert not dev.texts.keys() & held_out.texts.keys()
    for task in (dev, held_out):
        assert all(question.gold | question.maybe <= task.texts.keys() for question in task.questions)
        assert all(not question.gold & question.maybe for question in task.questions)
