"""What becomes of a record that comes from an archive, by what stands here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mycel.domain.archive import MemoryRecord, Standing, Taken, weigh_memory, weigh_same
from mycel.domain.memory import Version
from mycel.domain.place import Project
from mycel.testing.store_samples import AUTHOR, START, sample

FIRST = sample("one")
SECOND = replace(FIRST, version=2, content="two")
OTHER = replace(FIRST, content="something else")


def state(memory: object) -> Version:
    return Version(memory, START, None, AUTHOR, None)  # type: ignore[arg-type]


RECORD = MemoryRecord(state(SECOND), (state(FIRST),))


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        (Standing(None), Taken.NEW),
        (Standing(None, is_key_taken=True), Taken.KEY),
        (Standing(None, is_purged=True), Taken.PURGED),
        (Standing(None, is_purged=True, is_key_taken=True), Taken.PURGED),
        (Standing(state(SECOND), frozenset({1})), Taken.UNCHANGED),
        (Standing(state(SECOND)), Taken.UPDATED),
        (Standing(state(FIRST)), Taken.UPDATED),
        (Standing(state(FIRST), is_key_taken=True), Taken.KEY),
        (Standing(state(replace(FIRST, version=3))), Taken.NEWER),
        (Standing(state(OTHER)), Taken.OTHER),
        (Standing(replace(state(FIRST), believed_from=START.replace(year=2025))), Taken.OTHER),
    ],
)
def test_a_memory_is_taken_only_where_nothing_stands_against_it(standing: Standing, expected: Taken) -> None:
    assert weigh_memory(RECORD, standing) is expected


def test_what_stands_under_the_same_name_stays() -> None:
    web = Project("web", None, START)
    assert weigh_same(web, None) is Taken.NEW
    assert weigh_same(web, Project("web", None, START)) is Taken.UNCHANGED
    assert weigh_same(web, Project("web", "another", START)) is Taken.OTHER
