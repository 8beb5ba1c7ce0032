"""How a page says what it is given: short, safe, and nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mycel.domain.memory import Memory
from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.rendering import SHORT_TEXT, head_and_rest

LONG = "We release on Tuesdays. A release on a Friday needs the consent of a lead" + ", and a reason" * 8


@pytest.fixture
def memory(workspace: Workspace) -> Memory:
    return workspace.as_member("swe-1").save(LONG)


def test_a_hit_says_its_first_sentence_once_with_its_marks(memory: Memory) -> None:
    assert memory.title == "We release on Tuesdays."
    head, rest = head_and_rest(LONG.replace("release", "**release**"), memory)
    assert head == "We <mark>release</mark> on Tuesdays."
    assert rest.startswith("A <mark>release</mark> on a Friday")


def test_a_word_that_the_cut_goes_through_is_marked_on_both_sides(memory: Memory) -> None:
    cut = replace(memory, title="We rel…")
    head, rest = head_and_rest(LONG.replace("release", "**release**", 1), cut)
    assert (head, rest[:31]) == ("We <mark>rel</mark>…", "… <mark>ease</mark> on Tuesdays")


def test_a_short_text_is_its_own_headline(memory: Memory) -> None:
    short = replace(memory, content="Ports are fixed. All of them.", title="Ports are fixed.")
    assert len(short.content) <= SHORT_TEXT
    assert head_and_rest("Ports are **fixed**. All of them.", short) == (
        "Ports are <mark>fixed</mark>. All of them.",
        "",
    )


def test_a_snippet_from_further_on_stands_below_the_title(memory: Memory) -> None:
    assert head_and_rest("… needs the **consent** of a lead", memory) == (
        memory.title,
        "… needs the <mark>consent</mark> of a lead",
    )


def test_markup_and_hidden_characters_stay_text_in_both(memory: Memory) -> None:
    hostile = replace(memory, title="<b>x</b>", content="<b>x</b> <i>y</i>\u202e" + "z" * SHORT_TEXT)
    head, rest = head_and_rest("<b>**x**</b> <i>y</i>\u202e", hostile)
    assert head == "&lt;b&gt;<mark>x</mark>&lt;/b&gt;"
    assert "<i>" not in rest
    assert "\u202e" not in rest
