"""Misspelt words of a question: which known words they may have meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mycel.retrieval.analysis import spans, words

# Shorter words have too many others one letter away.
LEAST_LETTERS = 4
# Each spelling is looked up; longer words are seldom words.
MOST_LETTERS = 24
MOST_WORDS = 6
# The commonest may stand only where the filters do not look.
MOST_SPELLINGS = 3

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Frequencies = Callable[[Iterable[str]], Mapping[str, int]]


def corrected(text: str, count: Frequencies) -> str | None:
    """The text with each unknown word replaced by the commonest known ones that are a letter away; None for none.

    Known is what stands in some memory that the reader may read; `count` says in how many of them a term does.
    """
    asked = list(spans(text))
    known = count({term for span in asked for term in span.terms})
    unknown = [span for span in asked if not any(known.get(term) for term in span.terms)][:MOST_WORDS]
    changed = text
    for span in reversed(unknown):
        meant = _meant(text[span.start : span.end], count)
        if meant is not None:
            changed = changed[: span.start] + meant + changed[span.end :]
    return None if changed == text else changed


def _meant(word: str, count: Frequencies) -> str | None:
    letters = word.casefold()
    if not (letters.isascii() and letters.isalpha() and LEAST_LETTERS <= len(letters) <= MOST_LETTERS):
        return None
    terms = {spelling: term for spelling in sorted(_one_edit_away(letters)) for term in _terms(spelling)}
    counts = count(set(terms.values()))
    known = {terms[spelling]: spelling for spelling in terms if counts.get(terms[spelling])}
    best = sorted(known, key=lambda term: -counts[term])[:MOST_SPELLINGS]
    return " ".join(known[term] for term in best) or None


def _terms(spelling: str) -> tuple[str, ...]:
    return tuple(token for word in words(spelling) for token in word.tokens)


def _one_edit_away(word: str) -> set[str]:
    """A letter too many, missing, wrong, or two of them swapped."""
    halves = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    left_out = {before + after[1:] for before, after in halves if after}
    swapped = {before + after[1] + after[0] + after[2:] for before, after in halves if len(after) > 1}
    replaced = {before + letter + after[1:] for before, after in halves if after for letter in _LETTERS}
    added = {before + letter + after for before, after in halves for letter in _LETTERS}
    return (left_out | swapped | replaced | added) - {word}
