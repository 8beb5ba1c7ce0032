from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.engine.english.sentences import fenced_blocks, split_sentences


def sentences(text: str, **options: bool) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, **options)]


@pytest.mark.parametrize(
    "text",
    [
        "Use e.g. Redis here.",
        "Use a cache, i.e. Redis, here.",
        "Redis vs. Memcached is settled.",
        "Logs, traces, etc. are kept.",
        "Version v1.2.3 is out.",
        "See src/app/main.py for it.",
        "See https://example.org/a.html?b=c.d for it",
        "It took 3.14 seconds.",
        "Wait... what was it?",
        "Hm… maybe later.",
        "Ask Dr. Smith or J. Smith.",
        "See fig. 3 and no. 5 there.",
        "Run `a. B c` first.",
        "Run ``a ` b. C`` first.",
        "Run git add . && git commit",
        "Run cd .. && ls",
        "It opens at 9 a.m. every day.",
        "Set a != b here.",
    ],
)
def test_stops_that_end_nothing_do_not_divide(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("it broke. then i fixed it.", ["it broke.", "then i fixed it."]),
        ("The answer is no. Then stop.", ["The answer is no.", "Then stop."]),
        ("It took 5 ms. Then it ended.", ["It took 5 ms.", "Then it ended."]),
        ("Logs, traces, etc. Then stop.", ["Logs, traces, etc.", "Then stop."]),
        ("So did I. Then it ended.", ["So did I.", "Then it ended."]),
        ("We chose option A. Then stop.", ["We chose option A.", "Then stop."]),
        ("Wait... What was it?", ["Wait...", "What was it?"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("**Note.** It works.", ["**Note.**", "It works."]),
        ("It is v1.2.3. It works.", ["It is v1.2.3.", "It works."]),
        ("Edit main.py. Then run it.", ["Edit main.py.", "Then run it."]),
        ("今日は晴れ。明日は雨\uff01本当\uff1f", ["今日は晴れ。", "明日は雨\uff01", "本当\uff1f"]),
        ("यह ठीक है। वह नहीं।", ["यह ठीक है।", "वह नहीं।"]),
    ],
)
def test_sentences_are_divided(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- one\n* two\n+ three", ["one", "two", "three"]),
        ("1. one\n2) two\n  a) three", ["one", "two", "three"]),
        ("- [ ] open\n- [x] closed", ["open", "closed"]),
        ("# Title #\n## Part", ["Title #", "Part"]),
        ("> quoted\n> > twice", ["quoted", "twice"]),
        ("> - item. More.", ["item.", "More."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("one\n\n---\n\ntwo", ["one", "two"]),
        ("port is 5432\nuser is admin", ["port is 5432", "user is admin"]),
        ("  padded \t\r\n  more  ", ["padded", "more"]),
    ],
)
def test_lines_stand_alone_without_their_marks(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_lines_broken_by_the_width_of_the_page_are_joined() -> None:
    text = "The gateway failed because its pool of connections was too\nsmall for the load. We raised it.\n- item"
    assert sentences(text) == [
        "The gateway failed because its pool of connections was too\nsmall for the load.",
        "We raised it.",
        "item",
    ]


def test_a_blank_line_ends_a_sentence_without_a_stop() -> None:
    first = "The gateway failed because its pool of connections was too"
    assert sentences(f"{first}\n\nsmall") == [first, "small"]


def test_a_block_of_code_is_one_span_or_none() -> None:
    code = "```py\nx = 1. Y = 2.\n\n# no heading\n```"
    text = f"Before.\n{code}\nAfter."
    assert sentences(text) == ["Before.", code, "After."]
    assert sentences(text, keep_code=False) == ["Before.", "After."]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```\na\n```\n", ["```\na\n```\n"]),
        ("~~~\n```\n~~~\nb", ["~~~\n```\n~~~\n"]),
        ("````\n```\n````", ["````\n```\n````"]),
        ("```\nnever closed", ["```\nnever closed"]),
        ("- ```\n  a\n  ```\nb", ["- ```\n  a\n  ```\n"]),
        ("```in one line``` and on", []),
        ("no fence", []),
    ],
)
def test_fenced_blocks_are_found_as_markdown_has_them(text: str, blocks: list[str]) -> None:
    assert [text[start:end] for start, end in fenced_blocks(text)] == blocks


def test_only_the_part_between_the_offsets_is_read() -> None:
    text = "One. Two. Three."
    assert split_sentences(text, 5, 9) == [(5, 9)]
    assert split_sentences(text, 5) == [(5, 9), (10, 16)]
    assert split_sentences(text, 7, 7) == []


def test_what_holds_no_word_is_left_out() -> None:
    assert sentences("...\n***\n- \n> \n```\n```\n!?") == []


markdown = st.lists(
    st.sampled_from(
        ["a", "B", "1", ". ", ".", "\n", "- ", "> ", "# ", "`", "```", "```\n", "…", "。", " ", "e.g.", "|", "é"]
    )
).map("".join)


@settings(deadline=None)
@given(st.text() | markdown, st.integers(0, 30), st.integers(0, 30))
def test_spans_follow_one_another_inside_the_part_asked_for(text: str, start: int, length: int) -> None:
    begin = min(start, len(text))
    end = min(begin + length, len(text))
    spans = split_sentences(text, begin, end)
    places = [place for span in spans for place in span]
    assert places == sorted(places)
    assert all(begin <= place <= end for place in places)
    for first, last in spans:
        assert text[first:last] == text[first:last].strip() != ""


@settings(deadline=None)
@given(st.text() | markdown)
def test_no_word_is_lost(text: str) -> None:
    kept = "".join(text[start:end] for start, end in split_sentences(text))
    # Numbers and letters of list items go with their marks.
    assert [sign for sign in text if sign.isalpha() and sign not in "aB"] == [
        sign for sign in kept if sign.isalpha() and sign not in "aB"
    ]


@pytest.mark.parametrize("unit", [". ", "a\n", "# a\n", "` `` ", "```\n", "\n", " ", "> ", "1. ", "A. ", "a.b", "。"])
def test_large_texts_are_read_in_bounded_time(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    began = time.process_time()
    split_sentences(text)
    assert time.process_time() - began < 5.0
