"""Near-duplicates: texts that tell a reader the same thing twice."""

from __future__ import annotations

from functools import cache, cached_property

from mycel.retrieval.analysis import index_text

# The share of common terms from which two texts say the same.
LEAST_OVERLAP = 0.7
# Long texts are compared by their beginnings first: analysing a whole document takes milliseconds.
HEAD_CHARS = 2000

_DECISIVE = (
    "not no never none neither nor without except cannot can't don't doesn't isn't aren't won't shouldn't mustn't "
    "true false enable enabled disable disabled allow allowed deny denied forbid forbidden always "
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december"
)


class Wording:
    """The terms of one text, worked out when they are first compared."""

    def __init__(self, text: str) -> None:
        self._text = text

    def repeats(self, other: Wording) -> bool:
        """Whether either can stand for both. Numbers and negations must agree: ports 5432 and 5433 are two facts."""
        if self._is_short and other._is_short:
            return self.decisive == other.decisive and overlap(self.terms, other.terms)
        return overlap(self._head, other._head) and self.decisive == other.decisive and overlap(self.terms, other.terms)

    @property
    def _is_short(self) -> bool:
        return len(self._text) <= HEAD_CHARS

    @cached_property
    def _head(self) -> frozenset[str]:
        return self.terms if self._is_short else _terms(self._text[:HEAD_CHARS])

    @cached_property
    def terms(self) -> frozenset[str]:
        return _terms(self._text)

    @cached_property
    def decisive(self) -> frozenset[str]:
        """What makes two texts say different things even where every other word is the same."""
        numbers = (term for term in self.terms if not term.isalpha() and any(map(str.isdigit, term)))
        return frozenset(numbers) | (self.terms & decisive_terms())


def _terms(text: str) -> frozenset[str]:
    # A text without a word, such as an emoji, is alike to itself alone.
    return frozenset(index_text(text).split()) or frozenset({text})


def overlap(first: frozenset[str], second: frozenset[str], *, least: float = LEAST_OVERLAP) -> bool:
    total = len(first) + len(second)
    # The common terms are at most the shorter text: most pairs end here.
    if min(len(first), len(second)) < least * max(len(first), len(second)):
        return False
    common = len(first & second)
    return common >= least * (total - common)


@cache
def decisive_terms() -> frozenset[str]:
    return frozenset(index_text(_DECISIVE).split())
