"""How much of a text fits into a number of tokens, and what to show when not all of it does."""

from __future__ import annotations

import re

CUT_MARK = " …"
# A shorter beginning tells its reader nothing.
LEAST_EXCERPT_TOKENS = 12

# As byte-pair vocabularies split: words whole, digits by three, and about three bytes of anything else.
_PIECE = re.compile(r"[A-Za-z]{1,8}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,3}|[\x80-\u07ff]{1,2}|[^\s\x00-\u07ff]")
# Emoji and rare scripts take one more.
_TWO_PIECES = re.compile("[\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """An upper estimate for the usual tokenizers; of two texts on lines of their own, at most the sum of both.

    Prose is about 1.3 tokens a word and 4 characters a token; ids, code and other scripts need far more than that.
    """
    if not text:
        return 0
    return -(-max(130 * len(text.split()), 25 * len(text), 100 * _count_pieces(text)) // 100)


def line_tokens(line: str) -> int:
    """What a line adds to a text, with its line break."""
    return estimate_tokens(line) + 1


def shorten(text: str, tokens: int) -> str | None:
    """The whole text, or its beginning with a mark that something is missing; None when too little would be left."""
    # Four characters a token is the most that the estimate allows.
    if len(text) <= 4 * tokens and estimate_tokens(text) <= tokens:
        return text
    if tokens < LEAST_EXCERPT_TOKENS:
        return None
    kept = _at_word_end(text[: 4 * tokens])
    while (needed := estimate_tokens(kept + CUT_MARK)) > tokens:
        kept = _at_word_end(kept[: min(len(kept) - 1, len(kept) * tokens // needed)])
    return kept + CUT_MARK if kept else None


def _at_word_end(text: str) -> str:
    """Without the word that the cut went through, unless that is most of the text, as in scripts without spaces."""
    head, space, _ = text.rpartition(" ")
    return head.rstrip() if space and 2 * len(head) >= len(text) else text.rstrip()


def _count_pieces(text: str) -> int:
    pieces = len(_PIECE.findall(text))
    return pieces if text.isascii() else pieces + len(_TWO_PIECES.findall(text))
