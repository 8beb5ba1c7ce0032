"""Trouble, its cause and what cured it are one lesson, and a correction is kept without what it points at."""

from __future__ import annotations

import pytest

from mycel.contracts.judge import Judge
from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import Candidate
from mycel.engine.extraction.extract import extract
from mycel.engine.transcripts.reading import read_transcript
from mycel.providers.judge.shipped import builtin_judge


@pytest.fixture(scope="module")
def judge() -> Judge:
    found = builtin_judge()
    assert found is not None
    return found


def drawn(judge: Judge, *lines: str) -> list[Candidate]:
    return extract(read_transcript("\n".join(lines)), judge=judge)


def lessons(judge: Judge, *lines: str) -> list[str]:
    return [one.content for one in drawn(judge, *lines) if one.type is MemoryType.LESSON]


def test_cause_and_fix_are_one_lesson_with_the_trouble_told_before(judge: Judge) -> None:
    assert lessons(
        judge,
        "Lena: The nightly export runs out of memory since Monday.",
        "Sam: Oh no, again?",
        "Lena: Turned out the exporter loads the whole table. The fix was to stream it with a server-side cursor.",
        "Sam: Nice.",
    ) == [
        "Problem: The nightly export runs out of memory since Monday. Cause: The exporter loads the whole table. "
        "Remedy: The fix was to stream it with a server-side cursor."
    ]


def test_without_a_trouble_cause_and_fix_stand_together(judge: Judge) -> None:
    (found,) = drawn(
        judge,
        "Lena: Turned out the exporter loads the whole table. The fix was to stream it with a server-side cursor.",
        "Sam: Nice.",
        "Lena: Yes.",
    )
    assert found.content == "The exporter loads the whole table. The fix was to stream it with a server-side cursor."
    assert found.title == "The exporter loads the whole table"
    assert (found.type, found.said_by) == (MemoryType.LESSON, "Lena")


@pytest.mark.parametrize(
    "lines",
    [
        (
            "Lena: turned out the exporter loads the whole table",
            "Lena: fix was to stream it with a server-side cursor",
        ),
        (
            "Lena: The problem was the lock on the ledger table, the archiver holds it for half an hour.",
            "Lena: So we moved the archiver to 5 am and it has been quiet for three nights.",
        ),
        ("Lena: The fix was to pin the driver to 3.1. Turned out 3.2 drops prepared statements.",),
        ("Lena: The uploader sends the whole file twice. The fix was to stop it from retrying after a timeout.",),
        (
            "Lena: Login was broken for all customers this morning. The root cause was an expired certificate on the "
            "gateway. We fixed it by renewing it and adding a reminder.",
        ),
    ],
)
def test_what_one_speaker_tells_of_a_trouble_is_one_lesson(judge: Judge, lines: tuple[str, ...]) -> None:
    (found,) = lessons(judge, *lines, "Sam: ok", "Lena: yes")
    said = " ".join(line.removeprefix("Lena: ") for line in lines)
    assert {word.strip(".,").lower() for word in said.split()} - {"turned", "out", "so"} <= {
        word.strip(".,").lower() for word in found.split()
    }


def test_two_fixes_of_two_things_stay_two(judge: Judge) -> None:
    assert lessons(
        judge,
        "Sam: The fix for the import was to strip the byte order mark. The fix for the export was to quote the names.",
        "Lena: ok",
        "Sam: yes",
    ) == [
        "The fix for the import was to strip the byte order mark.",
        "The fix for the export was to quote the names.",
    ]


def test_two_lessons_said_outright_stay_two(judge: Judge) -> None:
    said = "Lesson learned: never run two exports at once. Lesson learned: look at the disk before a migration."
    assert len(lessons(judge, f"Sam: {said}", "Lena: ok", "Sam: yes")) == 2


def test_what_was_tried_in_vain_keeps_a_lesson_of_its_own(judge: Judge) -> None:
    found = lessons(
        judge,
        "Lena: I tried to raise the memory limit of the pod, but that did not help.",
        "Lena: The fix was to close the pool in the worker.",
        "Sam: ok",
    )
    assert any(one.startswith("Lena tried to raise the memory limit") for one in found)


def test_somebody_elses_cause_is_not_put_into_ones_mouth(judge: Judge) -> None:
    found = drawn(
        judge,
        "Lena: Turned out the exporter loads the whole table.",
        "Sam: The fix for the printer queue was to restart the spooler every night.",
        "Lena: ok",
    )
    assert "exporter" not in " ".join(one.content for one in found if one.said_by == "Sam")


@pytest.mark.parametrize(
    ("line", "content"),
    [
        ("no, not the old one: switch off the legacy sync.", "Switch off the legacy sync."),
        ("no, not that: use the staging key for the tests.", "Use the staging key for the tests."),
        ("No, not like this, always pass the tenant id to the cache.", "Always pass the tenant id to the cache."),
        ("no, not there; put the fixtures under tests/data", "Put the fixtures under tests/data"),
        ("no, not Redis: use Postgres for the queue.", "Not Redis: use Postgres for the queue."),
        ("no, not console.log: we have a logger in src/log.ts", "Not console.log: we have a logger in src/log.ts"),
    ],
)
def test_a_correction_is_an_instruction_without_what_it_only_points_at(judge: Judge, line: str, content: str) -> None:
    (found,) = drawn(judge, "swe-1: I switch it off now.", f"Ada: {line}", "swe-1: ok")
    assert (found.content, found.category) == (content, Category.CONVENTION)
    assert not found.title.lower().startswith("not the old one")


@pytest.mark.parametrize("line", ["no, not the first one, take the second.", "no, not this one: take the other one."])
def test_a_correction_that_names_nothing_is_no_memory(judge: Judge, line: str) -> None:
    assert drawn(judge, "swe-1: Which of them?", f"Ada: {line}", "swe-1: ok") == []


def test_a_long_tale_of_causes_and_cures_is_cut_into_lessons_of_a_readable_length(judge: Judge) -> None:
    said = " ".join(
        f"The fix was to pin the driver to 3.{number}. Turned out 3.{number} drops prepared statements."
        for number in range(20)
    )
    found = lessons(judge, f"Lena: {said}", "Sam: ok", "Lena: yes")
    assert len(found) >= 10
    assert all(f"3.{number}" in " ".join(found) for number in range(20))
    assert max(map(len, found)) < 500


def test_each_of_two_fixes_keeps_its_own_trouble(judge: Judge) -> None:
    first, second = lessons(
        judge,
        "Sam: The import of the prices fails with a decoding error. The export crashes on names with a comma.",
        "Lena: ok",
        "Sam: The fix for the import was to strip the byte order mark. The fix for the export was to quote the names.",
    )
    assert [("decoding error" in one, "comma" in one) for one in (first, second)] == [(True, False), (False, True)]
