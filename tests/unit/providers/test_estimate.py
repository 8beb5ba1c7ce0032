"""The estimate of tokens."""

from __future__ import annotations

import time

import pytest

from mycel.providers.embeddings.openai import cut_to_tokens, estimated_token_ends


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \n\t", []),
        ("elephants fly.", ["elep", "hant", "s", "fly", "."]),
        ("日本語 text", ["日", "本", "語", "text"]),
        ("abc日def", ["abc", "日", "def"]),
        ("한국", ["한", "국"]),
        ("größer", ["größ", "er"]),
        ("🐈🐈", ["🐈", "🐈"]),
    ],
)
def test_cuts_words_into_short_pieces(text: str, pieces: list[str]) -> None:
    ends = estimated_token_ends(text)
    starts = [0, *ends[:-1]]
    assert [text[start:end].strip() for start, end in zip(starts, ends, strict=False)] == pieces


@pytest.mark.parametrize("text", ["a", " ", ".", "日", "a "])
def test_takes_linear_time(text: str) -> None:
    started = time.process_time()
    estimated_token_ends(text * 200_000)
    assert time.process_time() - started < 2


def test_cuts_a_text_to_so_many_tokens() -> None:
    assert cut_to_tokens("one two three", most=3) == "one two thre"
    assert cut_to_tokens("one two", most=2) == "one two"
    assert cut_to_tokens("", most=2) == ""
    assert cut_to_tokens("a" * 8, most=2) == "a" * 8
