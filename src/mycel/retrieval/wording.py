"""A number for the words of a text: the same for texts that differ in their order, form or articles alone."""

from __future__ import annotations

from hashlib import blake2b

from mycel.retrieval.analysis import words

# No more than these: "not" or "before" make another approach.
_ARTICLES = frozenset({"a", "an", "the"})


def wording_of(text: str) -> int:
    """Fits a signed column of 64 bits."""
    tokens = sorted({token for word in words(text) for token in word.tokens} - _ARTICLES)
    said = " ".join(tokens) or text
    return int.from_bytes(blake2b(said.encode(), digest_size=8).digest(), "big", signed=True)
