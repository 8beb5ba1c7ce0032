"""What of a memory is embedded, and its division into passages short enough for a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

from mycel.domain.envelope import under_key

# Models read longer texts, but one vector then stands for too many things at once.
PASSAGE_TOKENS = 256
# Special tokens at both ends, and the prefix some models want.
RESERVED_TOKENS = 16

# Where a text is best divided, best first: between paragraphs, sentences, words.
_BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?。！？])\s+|\n"), re.compile(r"\s+"))  # noqa: RUF001


def embedded_text(*, title: str, content: str, key: str | None = None) -> str:
    """A derived title is the beginning of the content and adds nothing."""
    beginning = title.rstrip("…").strip()
    text = content if content.lstrip().startswith(beginning) else f"{title}\n{content}"
    return under_key(key, text)


def text_hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def divide(text: str, token_ends: Sequence[int], *, tokens: int = PASSAGE_TOKENS) -> list[tuple[int, int]]:
    """Passages as character ranges that follow one another and leave nothing out, none above `tokens`."""
    most = max(1, tokens - RESERVED_TOKENS)
    if len(token_ends) <= most:
        return [(0, len(text))]
    cuts = [0, *_cuts(text, token_ends, most), len(text)]
    return [(start, end) for start, end in pairwise(cuts) if text[start:end].strip()]


def _cuts(text: str, token_ends: Sequence[int], most: int) -> Iterator[int]:
    first = 0
    while len(token_ends) - first > most:
        start = token_ends[first - 1] if first else 0
        last = token_ends[first + most - 1]
        cut = _best_cut(text, start, last)
        while first < len(token_ends) and token_ends[first] <= cut:
            first += 1
        yield cut


def _best_cut(text: str, start: int, last: int) -> int:
    """In the last half of what fits, so that no passage gets tiny."""
    half = start + (last - start) // 2
    for breaks in _BREAKS:
        ends = [match.end() for match in breaks.finditer(text, half, last)]
        if ends:
            return ends[-1]
    return last
