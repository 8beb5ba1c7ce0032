"""Where tokens end when the tokenizer is not known: an estimate that needs no model."""

from __future__ import annotations

import re

# Han, kana, Hangul: there a character is about a token. Elsewhere a token has about four characters of a word.
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[^\W{_DENSE}]{{1,4}}|\S")


def estimated_token_ends(text: str) -> list[int]:
    return [match.end() for match in _TOKEN.finditer(text)]


def cut_to_tokens(text: str, *, most: int) -> str:
    """The beginning of the text that has at most so many tokens, as estimated."""
    # No token is shorter than a character.
    if len(text) <= most:
        return text
    ends = estimated_token_ends(text)
    return text if len(ends) <= most else text[: ends[most - 1]]
