"""Talk of our own with its labels inside, as the model that reads talk is taught with it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def talks() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        yield importlib.import_module("training.extraction.talks")


def test_labels_inside_a_talk_are_read_to_their_places(talks: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("# session\nswe-1: ok. {df We use Go}, {t? I'll see}\na: Done.\n", "utf-8")
    [read] = talks.own_talks(tmp_path)
    text = read.transcript.text
    assert text == "swe-1: ok. We use Go, I'll see\n\nassistant: Done.\n\n"
    assert [(text[one.start : one.end], one.types) for one in read.keep] == [("We use Go", {"decision", "fact"})]
    assert [(text[one.start : one.end], one.types) for one in read.may] == [("I'll see", {"task_hint"})]


def test_a_mark_that_cannot_be_read_is_refused(talks: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("# session\nswe-1: {x We use Go}\n", "utf-8")
    with pytest.raises(ValueError, match="mark"):
        talks.own_talks(tmp_path)


def test_the_material_has_every_kind_of_talk_and_marks_nothing_in_small_talk(talks: ModuleType) -> None:
    read = talks.own_talks()
    assert {one.kind for one in read} == {"session", "standup", "design", "incident", "smalltalk", "sentences"}
    assert not any(one.keep or one.may for one in read if one.kind == "smalltalk")
