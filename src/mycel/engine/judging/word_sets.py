"""Lists of words, written as one text each so that they stay readable."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())
