from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mycel.engine.chunks import Chunk, split_document, title_of

FILLER = "The gateway restarts the pool of connections when it fails. "


def parts(text: str, *, most_bytes: int) -> list[str]:
    return [text[chunk.start : chunk.end] for chunk in split_document(text, most_bytes=most_bytes)]


def paths(text: str, *, most_bytes: int) -> list[tuple[str, ...]]:
    return [chunk.headings for chunk in split_document(text, most_bytes=most_bytes)]


def section(heading: str, *, size: int = 300) -> str:
    return f"{heading}\n\n{(FILLER * 40)[:size]}\n\n"


class TestHeadings:
    def test_divide_a_document_and_give_its_parts_their_path(self) -> None:
        text = section("# Guide") + section("## Setup") + section("### Linux") + section("## Use ##") + section("# End")
        assert paths(text, most_bytes=400) == [
            ("Guide",),
            ("Guide", "Setup"),
            ("Guide", "Setup", "Linux"),
            ("Guide", "Use"),
            ("End",),
        ]
        assert "".join(parts(text, most_bytes=400)) == text

    def test_may_be_underlined(self) -> None:
        text = section("Guide\n=====") + section("Setup\n-----") + section("# End")
        assert paths(text, most_bytes=400) == [("Guide",), ("Guide", "Setup"), ("End",)]
        assert parts(text, most_bytes=400)[1].startswith("Setup\n-----")

    @pytest.mark.parametrize(
        "text",
        [
            "```\n# no heading\n\nno heading\n===\n```\n" + FILLER,
            "#hashtag\n#!/bin/sh\n    # indented\n####### seven\n" + FILLER,
            "a paragraph\nof two lines\n---\n" + FILLER,
            "- item\n---\n| a |\n---\n> quote\n---\n" + FILLER,
            "text\n\n---\n\ntext",
        ],
    )
    def test_are_not_seen_where_there_are_none(self, text: str) -> None:
        assert paths(text, most_bytes=10_000) == [()]

    def test_with_nothing_below_but_another_go_with_that_one(self) -> None:
        text = "# Guide\n\n" + section("## Setup", size=900)
        assert split_document(text, most_bytes=1000) == [Chunk(0, len(text), ("Guide", "Setup"))]

    def test_text_before_the_first_stands_alone(self) -> None:
        text = section("Introduction.") + section("# Guide")
        assert paths(text, most_bytes=400) == [(), ("Guide",)]

    def test_front_matter_stays_with_the_first_part(self) -> None:
        matter = "---\ntitle: Guide\n# comment\nkind: text\n---\n\n"
        text = matter + section("# Guide") + section("# End")
        assert paths(text, most_bytes=400) == [("Guide",), ("End",)]
        assert parts(text, most_bytes=400)[0].startswith(matter)

    def test_a_rule_at_the_top_is_not_front_matter(self) -> None:
        text = "---\n\n" + section("# Guide") + "---\n\n" + section("# End")
        assert paths(text, most_bytes=400) == [("Guide",), ("End",)]


class TestJoining:
    def test_small_neighbours_stay_together_under_their_parent(self) -> None:
        text = (
            section("# Guide", size=800) + section("## A", size=20) + section("## B", size=20) + section("# C", size=20)
        )
        assert paths(text, most_bytes=1000) == [("Guide",), ("Guide",), ("C",)]

    def test_no_more_than_a_quarter_of_the_limit_is_joined(self) -> None:
        text = "".join(section(f"# {number}", size=40) for number in range(40))
        sizes = [len(part) for part in parts(text, most_bytes=1000)]
        assert max(sizes) <= 250
        assert len(sizes) < 20

    def test_a_small_document_is_one_chunk(self) -> None:
        text = section("# A", size=20) + section("# B", size=20)
        assert split_document(text, most_bytes=1000) == [Chunk(0, len(text), ())]


class TestLongSections:
    def test_are_cut_between_paragraphs(self) -> None:
        text = "# Guide\n\n" + "".join(f"{FILLER * 3}\n\n" for _ in range(8))
        found = parts(text, most_bytes=500)
        assert len(found) > 2
        assert all(part.endswith("\n\n") for part in found)
        assert set(paths(text, most_bytes=500)) == {("Guide",)}

    def test_are_cut_between_lines_then_sentences_then_words(self) -> None:
        assert all(part.endswith("\n") for part in parts((FILLER + "\n") * 20, most_bytes=500))
        assert all(part.endswith("fails. ") for part in parts(FILLER * 20, most_bytes=500))
        assert all(part.endswith("word ") for part in parts("word " * 200, most_bytes=100))

    def test_are_cut_between_characters_when_nothing_else_is_left(self) -> None:
        assert [len(part.encode()) for part in parts("é" * 100, most_bytes=51)] == [50, 50, 50, 50]
        assert parts("😀😀", most_bytes=1) == ["😀", "😀"]

    def test_code_is_not_torn_apart_where_a_paragraph_ends_before_it(self) -> None:
        code = "```\n" + "x = 1\n\n" * 20 + "```\n"
        text = f"{FILLER * 3}\n\n{code}\n{FILLER * 3}\n"
        assert any(part.startswith(code) for part in parts(text, most_bytes=300))


class TestTitles:
    def test_are_the_path_of_headings(self) -> None:
        assert title_of(Chunk(0, 0, ("Guide", "Setup")), text="") == "Guide › Setup"  # noqa: RUF001

    def test_are_the_first_words_without_headings(self) -> None:
        text = "\n> The pool was too small. It failed."
        assert title_of(Chunk(0, len(text)), text=text) == "The pool was too small."
        assert title_of(Chunk(0, 200), text="word " * 40) == "word " * 10 + "…"
        assert title_of(Chunk(0, 3), text="---") == ""

    def test_stay_short(self) -> None:
        assert len(title_of(Chunk(0, 0, ("x" * 500,)), text="")) <= 120
        assert len(title_of(Chunk(0, 500), text="x" * 500)) <= 122


pieces = st.sampled_from(
    [
        "# A\n",
        "## B\n",
        "a\n",
        "=====\n",
        "-----\n",
        "---\n",
        "```\n",
        "\n",
        "word. ",
        "é",
        "😀",
        "x: y\n",
        "\r\n",
        "- i\n",
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.lists(pieces, max_size=60).map("".join) | st.text(), st.integers(1, 80))
def test_chunks_cover_the_text_and_keep_to_the_limit(text: str, most_bytes: int) -> None:
    chunks = split_document(text, most_bytes=most_bytes)
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text
    assert all(chunk.start < chunk.end for chunk in chunks)
    assert all(one.end == other.start for one, other in pairwise(chunks))
    for chunk in chunks:
        part = text[chunk.start : chunk.end]
        assert len(part.encode()) <= most_bytes or len(part) == 1
        title_of(chunk, text=text)


@pytest.mark.parametrize("unit", [". ", "a\n", "# a\n", "a\n===\n", "```\n", "\n", " ", "> ", "word ", "é", "x: y\n"])
def test_large_documents_are_split_in_bounded_time(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    began = time.process_time()
    assert sum(chunk.end - chunk.start for chunk in split_document(text, most_bytes=1000)) == len(text)
    assert time.process_time() - began < 5.0
