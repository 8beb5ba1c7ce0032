"""How much of a text fits into a number of tokens."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mycel.domain.rendering import CUT_MARK, LEAST_EXCERPT_TOKENS, estimate_tokens, line_tokens, shorten


@given(st.text())
def test_the_estimate_is_never_below_the_rules_of_thumb(text: str) -> None:
    assert estimate_tokens(text) >= math.ceil(len(text) / 4)
    assert estimate_tokens(text) >= math.ceil(round(len(text.split()) * 1.3, 9))


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("01a1de83-521e-7cb5-a49b-9d7569743d75", 18),
        ("東京都の天気予報", 8),
        ("if(a[i]!=b[j]){x+=1;}", 10),
        ("👩👩👩", 6),
    ],
)
def test_what_vocabularies_split_finely_counts_more(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least


@given(st.lists(st.text()))
def test_lines_together_are_at_most_their_sum(lines: list[str]) -> None:
    assert estimate_tokens("\n".join(lines)) <= sum(map(line_tokens, lines))


@given(text=st.text(min_size=1), tokens=st.integers(-5, 200))
def test_a_shortened_text_fits_and_says_so(text: str, tokens: int) -> None:
    found = shorten(text, tokens)
    if found is None:
        assert estimate_tokens(text) > tokens
    else:
        assert estimate_tokens(found) <= tokens
        assert found == text or (found.endswith(CUT_MARK) and text.startswith(found.removesuffix(CUT_MARK)))


def test_a_cut_falls_between_words_and_uses_the_room() -> None:
    found = shorten("word " * 500, 100)
    assert found is not None
    assert found.endswith("word …")
    assert estimate_tokens(found) > 90
    assert shorten("word " * 500, LEAST_EXCERPT_TOKENS - 1) is None
