"""How alike two statements are, and whether they are one and the same."""

from __future__ import annotations

from collections import Counter
from math import exp

from mycel.engine.judging.clauses import Clause, Role, Tense
from mycel.engine.judging.reading import Reading

# Said in the same words, whatever their order.
SAME = 0.95
# What differs in a word is never taken for the same, however near its meaning.
MOST_UNLESS_SAME = 0.84

# Logistic regression on pairs of sentences that people scored from 0 to 5, for a score of 4 and above.
_WITH_COSINE = (34.9, 2.3, -1.1, -34.8)
_BY_WORDS = (7.0, -0.8, -5.3)


def likeness(first: Reading, second: Reading, *, cosine: float | None) -> float:
    """The chance that both say nearly the same; from `SAME` on that they say exactly the same."""
    if is_same(first, second):
        return SAME
    overlap = _overlap(first.counts, second.counts)
    differs = float(first.values != second.values)
    if cosine is None:
        by_overlap, by_values, constant = _BY_WORDS
        odds = by_overlap * overlap + by_values * differs + constant
    else:
        by_cosine, by_overlap, by_values, constant = _WITH_COSINE
        odds = by_cosine * cosine + by_overlap * overlap + by_values * differs + constant
    return min(MOST_UNLESS_SAME, 1 / (1 + exp(-max(-60.0, min(60.0, odds)))))


def is_same(first: Reading, second: Reading) -> bool:
    """Whether every word with weight and every deciding one is in both, in places that mean the same."""
    if first.deciding != second.deciding or not (first.is_whole and second.is_whole) or not first.words:
        return False
    if first.words == second.words or "".join(first.words) == "".join(second.words):
        return _tenses(first) == _tenses(second) and _voices(first) == _voices(second)
    if first.counts != second.counts or len(first.clauses) != 1 or _tenses(first) != _tenses(second):
        return False
    one, other = first.clauses[0], second.clauses[0]
    return bool(one.verb) and one.verb == other.verb and _phrases(one) == _phrases(other)


def _tenses(reading: Reading) -> list[tuple[Tense, bool]]:
    return [(clause.tense, clause.is_told) for clause in reading.clauses]


def _voices(reading: Reading) -> list[bool]:
    """In the same order of words, only the voice says who does it: the cat chases, the cat is chased by."""
    return [clause.is_passive or clause.has_agent for clause in reading.clauses]


def _phrases(clause: Clause) -> dict[tuple[Role, str], list[str]]:
    """The words of each part of a clause in order: parts may move, words within one may not."""
    found: dict[tuple[Role, str], list[str]] = {}
    for token in clause.tokens:
        # In the passive, what something is done to comes first; and places are the same wherever they stand.
        role = Role.OBJECT if clause.is_passive and token.role is Role.SUBJECT else token.role
        role = Role.SCOPE if role is Role.OBJECT and token.marker else role
        found.setdefault((role, token.marker), []).append(token.term)
    return found


def _overlap(first: Counter[str], second: Counter[str]) -> float:
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0
