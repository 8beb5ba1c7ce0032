"""A quote is found at real characters of the text, or not at all."""

from __future__ import annotations

import pytest

from mycel.engine.by_model.extraction import find_quote

TEXT = 'user: We\'ll use "pnpm"\n  for the web client.\nassistant: reuse tabs, not "tabsize". 价格保存在分单位里。'


def found(quote: str, *, start: int = 0, end: int = len(TEXT)) -> str | None:
    span = find_quote(quote, TEXT, start=start, end=end)
    return None if span is None else TEXT[slice(*span)]


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ('We\'ll use "pnpm"', 'We\'ll use "pnpm"'),
        ("We\u2019ll use “pnpm” for the web client", 'We\'ll use "pnpm"\n  for the web client'),
        ("We'll use 'pnpm'", 'We\'ll use "pnpm"'),
        ("  for the\tweb client.  ", "for the web client."),
        ("“for the web client…”", "for the web client"),
        ("...for the web client...", "for the web client"),
        ("保存在分单位里", "保存在分单位里"),
    ],
)
def test_white_space_and_quotation_marks_may_differ(quote: str, words: str) -> None:
    assert found(quote) == words


@pytest.mark.parametrize(
    "quote",
    ["We use pnpm", 'we\'ll use "pnpm"', "use tabs", "reuse tab", "client. reuse", "", "…", '"', "in", "a" * 5000],
)
def test_other_words_are_not_found(quote: str) -> None:
    assert found(quote) is None


def test_nothing_outside_the_bounds_is_found() -> None:
    assert found("We'll use", start=TEXT.index("assistant")) is None
    assert found("reuse tabs", end=TEXT.index("reuse") + 5) is None


def test_signs_with_a_meaning_elsewhere_are_only_signs() -> None:
    text = "set retries to (.*)+ [a-z]{3} $HOME \\d"
    assert find_quote("(.*)+ [a-z]{3} $HOME \\d", text, start=0, end=len(text)) == (15, len(text))
    assert find_quote("retries to .{3}", text, start=0, end=len(text)) is None
