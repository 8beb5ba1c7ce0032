"""What a sentence shows by where it stands, and how what it shows is weighed."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from mycel.domain.memory import MemoryType
from mycel.domain.source import Transcript, Turn
from mycel.engine.english import weights
from mycel.engine.extraction.extract import BIAS, Weights, extract, fitted, read_table, weigh
from mycel.engine.extraction.talk import Talk

ROOT = Path(__file__).resolve().parents[3]


def talk(*turns: tuple[str, str]) -> Transcript:
    text = ""
    places: list[Turn] = []
    for role, words in turns:
        text += f"{role}: "
        places.append(Turn(role, len(text), len(text) + len(words)))
        text += words + "\n\n"
    return Transcript(text, tuple(places))


def row(keep: int, **types: int) -> tuple[int, ...]:
    return (keep, *(types.get(kind.name.lower(), 0) for kind in weights.TYPES))


def test_a_table_is_read_by_its_bars_and_lines() -> None:
    assert read_table("\n  we do:4,-9 | I'll:0,1\n  last:2,3\n") == {"we do": (4, -9), "I'll": (0, 1), "last": (2, 3)}


def test_the_fitted_weights_have_a_number_for_keeping_and_one_for_each_type() -> None:
    table = fitted()
    assert BIAS in table.signs
    assert {len(each) for each in (*table.signs.values(), *table.words.values())} == {1 + len(weights.TYPES)}


def test_the_type_is_the_one_that_signs_and_words_speak_for() -> None:
    table = Weights({BIAS: row(40), "will": row(0, decision=40)}, {"broke": row(0, lesson=90)})
    decided = weigh({"will", "unknown"}, ["it"], least=0.5, table=table)
    learned = weigh({"will"}, ["it", "broke", "broke"], least=0.5, table=table)
    assert decided is not None
    assert learned is not None
    assert (decided.type, learned.type) == (MemoryType.DECISION, MemoryType.LESSON)
    assert 0.95 < decided.chance < learned.chance < 1


def test_what_is_unlikely_to_be_kept_or_of_no_type_in_particular_is_nothing() -> None:
    unlikely = Weights({BIAS: row(-40, decision=90)}, {})
    undecided = Weights({BIAS: (90, *(-40 for _ in weights.TYPES))}, {})
    assert weigh(set(), (), least=0.3, table=unlikely) is None
    assert weigh(set(), (), least=0.3, table=undecided) is None


def test_a_rule_that_is_not_sure_gives_way_to_the_weights() -> None:
    transcript = talk(("user", "The config of the API must be signed before the deploy."))
    [ruled] = extract(transcript)
    [weighed] = extract(transcript, table=Weights({BIAS: row(90, lesson=90)}, {}))
    unsure = extract(transcript, table=Weights({BIAS: row(-5)}, {}))
    dropped = extract(transcript, table=Weights({BIAS: row(-90)}, {}))
    assert weighed.type is MemoryType.LESSON
    assert [one.type for one in unsure] == [MemoryType.FACT]
    assert ruled.type in {MemoryType.FACT, MemoryType.DECISION}
    assert dropped == []


def test_a_sentence_shows_what_was_said_before_and_how_it_is_answered() -> None:
    found = Talk(
        talk(
            ("user", "Could the importer retry by itself?"),
            ("tool", "importer: 3 retries"),
            ("user", "Yes. The importer retries three times."),
            ("assistant", "Done."),
        )
    )
    [place] = [place for place in range(len(found.statements)) if found.text(place).startswith("The importer")]
    assert found.setting_signs(place) == {
        "after a word",
        "after proposal",
        "after question",
        "last in turn",
        "then assistant",
        "then carried out",
        "then short turn",
    }


def test_a_talk_of_one_turn_has_no_surroundings() -> None:
    found = Talk(talk(("user", "The importer retries three times."), ("tool", "ok")))
    assert found.setting_signs(0) == {"alone"}


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
