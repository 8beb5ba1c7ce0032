"""How a page says what it is given: short, safe, and nothing twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mycel.domain.ids import SourceId
from mycel.domain.inbox import Surroundings
from mycel.domain.memory import Memory
from mycel.embedded.workspace import Workspace
from mycel.surfaces.web.headlines import SHORT_TEXT, beyond_headline, coded, head_and_rest, in_one_line
from mycel.surfaces.web.rendering import ago, cited, lasting, lead_in, lead_out, moment
from mycel.surfaces.web.text_diff import diff_lines

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


@pytest.mark.parametrize(
    ("markdown", "line"),
    [
        ("Asked:\n- one thing\n- another\n\nDecided:\n- this", "Asked: one thing · another Decided: this"),
        ("## When it stands still\n\n1. Look.\n2. Wait.", "When it stands still · Look. Wait."),
        ("> quoted\n```sh\nmake test\n```\n| a | b |\n|---|---|\n| 1 | 2 |", "quoted make test | a | b | | 1 | 2 |"),
        ("-1 is no item, and #tags are words", "-1 is no item, and #tags are words"),
        ("", ""),
    ],
)
def test_markdown_in_a_list_is_one_line_without_its_marks(markdown: str, line: str) -> None:
    assert in_one_line(markdown) == line


@pytest.mark.parametrize(
    ("title", "content", "beyond"),
    [
        ("Completed: plain INDEX", "plain INDEX\nCompleted: it locked the table.", "Completed: it locked the table."),
        ("Write to /data", "We decided to write to /data.", ""),
        ("A name of its own", "A text that says something else.", "A text that says something else."),
    ],
)
def test_what_a_title_says_already_stands_once(memory: Memory, title: str, content: str, beyond: str) -> None:
    assert beyond_headline(replace(memory, title=title, content=content)) == beyond


def test_code_in_a_headline_is_code_and_the_rest_is_text() -> None:
    assert coded("Use `a<b>` not <i>pip</i>") == "Use <code>a&lt;b&gt;</code> not &lt;i&gt;pip&lt;/i&gt;"
    assert coded("one ` alone") == "one ` alone"


def test_what_is_to_come_is_told_like_what_was() -> None:
    now = datetime(2026, 11, 19, 12, tzinfo=UTC)
    ahead = {-960: "2026-10-10", -50: "2 d ago", -0.2: "12 min ago", 0: "just now", 0.2: "in 12 min", 5: "in 5 h"}
    for hours, words in {**ahead, 71.99: "in 3 d", 960: "2026-12-29"}.items():
        assert ago(now + timedelta(hours=hours), now=now) == words


def test_a_duration_is_told_in_two_units() -> None:
    assert [lasting(ms) for ms in (430, 45_000, 465_000, 3_600_000, 5_460_000, 180_000_000)] == [
        *("430 ms", "45 s", "7 min 45 s", "1 h", "1 h 31 min", "2 d 2 h"),
    ]


def test_a_text_that_is_a_moment_is_shown_as_one() -> None:
    assert moment("2026-11-22T05:58:24.255873+00:00") == "2026-11-22 05:58:24 UTC"
    assert moment("until 2026-11-22T05:58:24+00:00") == "until 2026-11-22T05:58:24+00:00"


def test_evidence_begins_and_ends_with_a_whole_word() -> None:
    text = "word " * 100 + "the quote" + " more" * 100
    at = text.index("the quote")
    before, after = text[at - 238 : at], text[at + 9 :][:240]
    source = SourceId("s")
    around = Surroundings(source_id=source, before=before, quote="the quote", after=after, start=at, end=at + 9)
    assert lead_in(around).startswith("… word word")
    assert lead_out(around).endswith("more more …")
    whole = replace(around, before="all of it: ", start=11, after=" and no more")
    assert (lead_in(whole), lead_out(whole)) == ("all of it: ", " and no more")


def changed_in(before: str, after: str) -> list[tuple[str, list[str]]]:
    """Sign and changed words of each line."""
    return [(line.sign, [piece.text for piece in line.pieces if piece.changed]) for line in diff_lines(before, after)]


def test_what_changed_in_a_line_is_marked_also_where_lines_were_added_to_it() -> None:
    grown = changed_in(
        "It retries five times before it stops.", "It retries three times before it stops.\n\nSince May."
    )
    assert grown == [("-", ["five"]), ("+", ["three"]), ("+", []), ("+", [])]


def test_no_words_are_picked_out_of_lines_that_say_something_else() -> None:
    assert changed_in("The mailer keeps its logs for 3 days; older ones go.", "We decided to keep ten.") == [
        ("-", []),
        ("+", []),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[m:01a1f43d-863e] a", '[m:<a href="/x/memory/01a1f43d-863e-1">01a1f43d-863e</a>] a'),
        # Two begin so, or none is known.
        ("[m:01a1f43d]", "[m:01a1f43d]"),
        ("[m:0badf00d]", "[m:0badf00d]"),
        ("01a1f43d-863e <b>", "01a1f43d-863e &lt;b&gt;"),
        ("[m:<script>]", "[m:&lt;script&gt;]"),
    ],
)
def test_an_id_is_a_link_where_it_names_one_memory(text: str, shown: str) -> None:
    assert cited(text, ["01a1f43d-863e-1", "01a1f43d-999e-2"], "/x") == shown
