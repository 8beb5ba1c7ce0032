"""What is not English is compared by its letters alone: whatever the trained judge makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest

from mycel.contracts.judge import PairOdds
from mycel.engine.judging.judgement import CONTRADICTS, LIKELY_SAME, SURELY_SAME, Judgement, Statement
from mycel.engine.judging.pair import is_open, judge
from mycel.engine.language import Familiarity, familiarity

# A judge that is sure of something it cannot know: each of the three that lead to an action.
SURE = (
    PairOdds(0.99, 0.0, 0.0, 0.01, 0.0),
    PairOdds(0.0, 0.99, 0.0, 0.01, 0.0),
    PairOdds(0.0, 0.0, 0.99, 0.01, 0.0),
)


def read_notes() -> Mapping[str, list[str]]:
    notes: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "distinct_notes.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            notes[line[2:]] = []
        else:
            notes[list(notes)[-1]].append(line)
    return notes


NOTES = read_notes()
LANGUAGES = list(NOTES)


def acts(found: Judgement) -> bool:
    return found.likeness >= LIKELY_SAME or found.contradiction >= CONTRADICTS or found.supersedes


def test_there_are_forty_distinct_notes_in_eight_languages() -> None:
    assert len(LANGUAGES) == 8
    assert all(len(set(notes)) == 40 for notes in NOTES.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_done_with_distinct_notes_whatever_the_judge_says(language: str) -> None:
    for first, second in combinations(NOTES[language], 2):
        earlier, later = Statement(first), Statement(second)
        found = judge(earlier, later, cosine=0.99)
        assert not acts(found), (first, second, found)
        assert not is_open(earlier, later, found), "the judge is not even asked"
        for odds in SURE:
            assert not acts(judge(earlier, later, cosine=0.99, odds=odds)), (first, second)


def test_nothing_is_done_with_notes_of_two_languages() -> None:
    for one, other in combinations(LANGUAGES, 2):
        for first, second in zip(NOTES[one], NOTES[other], strict=True):
            for odds in SURE:
                assert not acts(judge(Statement(first), Statement(second), cosine=0.99, odds=odds)), (first, second)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_words_are_the_same_in_every_language(language: str) -> None:
    for note in NOTES[language]:
        found = judge(Statement(note), Statement(f"  {note.rstrip('.。')}!"), cosine=0.99)
        assert found.likeness >= SURELY_SAME, note


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Rechnungen gehen am dritten Werktag raus.", "Am dritten Werktag gehen die Rechnungen raus."),
        ("La oferta vale un mes completo.", "La oferta vale un mes, completo."),
        ("Les sauvegardes sont gardées à deux endroits.", "La sauvegarde est gardée à deux endroits."),
        ("O índice é refeito todas as noites.", "Todas as noites o índice é refeito."),
        ("Резервные копии хранятся в двух местах.", "Хранятся резервные копии в двух местах."),
        ("تحفظ النسخ الاحتياطية في مكانين.", "في مكانين تحفظ النسخ الاحتياطية."),
        ("备份保存在两个不同的地点。", "备份保存在两个不同地点"),
        ("夏は食堂が三十分早く開く。", "夏は、食堂が三十分早く開くです"),
    ],
)
def test_the_same_words_in_another_order_or_form_are_suggested(first: str, second: str) -> None:
    found = judge(Statement(first), Statement(second), cosine=0.99)
    assert found.likeness >= LIKELY_SAME
    assert not found.contradiction


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Wir liefern sonntags aus.", "Wir liefern sonntags nicht aus."),
        ("Кофемашину чистят по пятницам.", "Кофемашину не чистят по пятницам."),
        ("投诉在一天之内答复。", "投诉不在一天之内答复。"),
        ("Die Filiale in Bremen öffnet um neun.", "Die Filiale in Hamburg öffnet um neun."),
        ("In Halle 3 stehen Paletten aus Holz.", "In Halle 4 stehen Paletten aus Holz."),
        ("発注 112 は倉庫に届いた。", "発注 124 は倉庫に届いた。"),
        ("Vorfall 112: die Kasse stand zehn Minuten still.", "Vorfall 124: die Kasse stand zehn Minuten still."),
    ],
)
def test_one_other_word_is_neither_the_same_nor_against_it(first: str, second: str) -> None:
    for odds in SURE:
        assert not acts(judge(Statement(first), Statement(second), cosine=0.99, odds=odds))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Der Laden öffnet werktags um 9:00.", "Der Laden öffnet werktags um 10:30."),
        ("El descuento para socios es del 12%.", "El descuento para socios es del 15%."),
        ("Le service écoute sur le port 8080.", "Le service écoute sur le port 9090."),
    ],
)
def test_another_value_between_the_same_words_contradicts(first: str, second: str) -> None:
    assert judge(Statement(first), Statement(second), cosine=0.99).contradiction >= CONTRADICTS


@pytest.mark.parametrize(
    "text",
    [
        "The team meets in the Rue de la Paix.",
        "swe-3 was on call in week 21.",
        "Unit tests use Jest.",
        "In CI the tests run twice.",
        "Los Angeles is the region of the backups.",
        "docs are in en-US",
        "The label says „Öffnungszeiten“ in German.",
    ],
)
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert familiarity(text) is Familiarity.ENGLISH


def test_what_has_no_small_words_is_judged_where_it_shares_a_name() -> None:
    first, second = Statement("Nginx 1.25 / TLS 1.2"), Statement("prod: FRA, search SLO: 99.5%")
    assert not any(acts(judge(first, second, cosine=0.99, odds=odds)) for odds in SURE)
