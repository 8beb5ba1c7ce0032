"""English: how it is written, which of its words say what, and how its sentences are read.

`mycel.engine.language` is the door through which the rest of the engine asks.
"""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """A list of words, written as one text so that it stays readable."""
    return frozenset(words.split())
