"""What single words have to do with an attack: the signs they carry, and the patterns they hint at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import NamedTuple

from mycel.engine.poison.lexicon import AFTER_WORD, Phrase, hints_of
from mycel.engine.poison.meaning import with_opposites
from mycel.retrieval.analysis import index_tokens, words

# So many points are an alarm; a phrase that gives an attack away has them alone. Of the 100 attacks and 100 conventions
# of the benchmarks, 4.5 points would find 90 and 3, and 6 points 79 and none.
ALARM = 5.25
# A group is looked for at another of its words.
_EVERYWHERE = frozenset({"the", "of", "in", "is", "a", "for", "on", "it", "to", "with", "from", "that", "this"})
# Beyond the numbers of all patterns.
ACROSS = 1 << 256
# Longer ones are looked at anew: a few hostile texts would fill the memory.
_CACHED_WORDS = 65_536
_LONGEST_CACHED_CHARS = 128


class Sign(NamedTuple):
    weight: float
    meaning: str
    said: str


class _Edges(NamedTuple):
    """The longest word of each hint that stands across words: as a whole word, or only its beginning or its end."""

    whole: frozenset[str]
    begun: tuple[str, ...]
    ended: tuple[str, ...]

    def may_be(self, word: str) -> bool:
        return word in self.whole or word.startswith(self.begun) or word.endswith(self.ended)


class Patterns(NamedTuple):
    """With the hints at each: those inside a word, and those that stand across words."""

    in_words: tuple[tuple[str, tuple[int, ...]], ...]
    across_words: tuple[tuple[str, tuple[int, ...]], ...]
    edges: _Edges
    by_number: tuple[tuple[str, float, re.Pattern[str]], ...]


class Clue(NamedTuple):
    """What a single word may have to do with an attack: its stems, and a bit for each pattern that it hints at.

    Without the bit `ACROSS` in any word no hint stands across words.
    """

    stems: tuple[str, ...]
    points: tuple[tuple[int, float], ...]
    groups: tuple[tuple[frozenset[str], int, float], ...]
    certain: int
    weighted: int


def clues_in(said: str) -> tuple[int, list[Clue]]:
    """What a text may speak of, and the clues in it: one look at each word for both."""
    hints = 0
    clues: list[Clue] = []
    for of_word, clue in filter(None, map(_looks.__getitem__, said.split())):
        hints |= of_word
        if clue is not None:
            clues.append(clue)
    return with_opposites(hints), clues


class _Looks(dict[str, tuple[int, Clue | None] | None]):
    """None for what has to do with nothing. The same words come again and again; a call per word would be felt."""

    def __missing__(self, word: str) -> tuple[int, Clue | None] | None:
        hints, clue = hints_of(word), _clue(word)
        found = (hints, clue) if hints or clue else None
        if len(word) <= _LONGEST_CACHED_CHARS:
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = found
        return found


_looks = _Looks()


def _clue(word: str) -> Clue | None:
    telling = _telling()
    stems = tuple([stem for stem in index_tokens(word) if stem in telling])
    certain = weighted = 0
    if _may_hint(word):
        certain, weighted = _hints_of(certain_patterns(), word), _hints_of(weighted_patterns(), word)
    if not (stems or certain or weighted):
        return None
    single, several = _groups()
    points = tuple(point for stem in stems for point in single.get(stem, ()))
    groups = tuple(group for stem in stems for group in several.get(stem, ()))
    return Clue(stems, points, groups, certain, weighted)


@cache
def _telling() -> frozenset[str]:
    """Every stem that speaks for an attack, by itself or in a group."""
    single, several = _groups()
    return frozenset(single).union(*(group for groups in several.values() for group, _, _ in groups))


def _may_hint(word: str) -> bool:
    """Most words are plain letters, for which one look does instead of one for each of the hints."""
    bare = word.rstrip(AFTER_WORD)
    if not (bare.isascii() and bare.isalpha()):
        return True
    return _any_in_letters().search(word) is not None or _any_edges().may_be(word)


@cache
def _any_edges() -> _Edges:
    certain, weighted = certain_patterns().edges, weighted_patterns().edges
    begun, ended = {*certain.begun, *weighted.begun}, {*certain.ended, *weighted.ended}
    return _Edges(certain.whole | weighted.whole, tuple(sorted(begun)), tuple(sorted(ended)))


@cache
def _any_in_letters() -> re.Pattern[str]:
    hints = [hint for patterns in (certain_patterns(), weighted_patterns()) for hint, _ in patterns.in_words]
    plain = [hint for hint in hints if all(sign.isalpha() or sign in AFTER_WORD for sign in hint)]
    return re.compile("|".join(map(re.escape, plain)))


def _hints_of(patterns: Patterns, word: str) -> int:
    found = 0
    for hint, numbers in patterns.in_words:
        if hint in word:
            for number in numbers:
                found |= 1 << number
    return found | ACROSS if patterns.edges.may_be(word) else found


def hinted(patterns: Patterns, said: str, hints: int) -> Collection[int]:
    """The numbers of the patterns that the words of a text hint at, alone or together."""
    found: set[int] = set()
    left = hints & ~ACROSS
    while left:
        last = left & -left
        found.add(last.bit_length() - 1)
        left ^= last
    if hints & ACROSS:
        found.update(number for hint, numbers in patterns.across_words if hint in said for number in numbers)
    return found


@cache
def certain_patterns() -> Patterns:
    from mycel.engine.poison import languages
    from mycel.engine.poison import phrases as plain_phrases

    phrases = (*plain_phrases.PHRASES, *languages.PHRASES)
    return _patterns(phrase for phrase in phrases if phrase.weight is None)


@cache
def weighted_patterns() -> Patterns:
    from mycel.engine.poison.phrases import PHRASES

    return _patterns(phrase for phrase in PHRASES if phrase.weight is not None)


def _patterns(phrases: Iterable[Phrase]) -> Patterns:
    by_hint: dict[str, tuple[int, ...]] = {}
    by_number: list[tuple[str, float, re.Pattern[str]]] = []
    for number, phrase in enumerate(phrases):
        by_number.append((phrase.meaning, phrase.weight or ALARM, re.compile(phrase.pattern)))
        for hint in phrase.hints:
            by_hint[hint] = (*by_hint.get(hint, ()), number)
    in_words = tuple((hint, numbers) for hint, numbers in by_hint.items() if hint.split() == [hint])
    across_words = tuple((hint, numbers) for hint, numbers in by_hint.items() if hint.split() != [hint])
    return Patterns(in_words, across_words, _edges_of([hint for hint, _ in across_words]), tuple(by_number))


def _edges_of(hints: Iterable[str]) -> _Edges:
    whole, begun, ended = set[str](), set[str](), set[str]()
    for hint in hints:
        pieces = hint.split()
        longest = max(pieces, key=len)
        at = pieces.index(longest)
        is_begun = at > 0 or hint[:1].isspace()
        is_ended = at < len(pieces) - 1 or hint[-1:].isspace()
        (whole if is_begun and is_ended else begun if is_begun else ended).add(longest)
    return _Edges(frozenset(whole), tuple(sorted(begun)), tuple(sorted(ended)))


@cache
def word_signs() -> dict[str, tuple[tuple[int, Sign], ...]]:
    from mycel.engine.poison.weighted_words import WORDS

    found: dict[str, tuple[tuple[int, Sign], ...]] = {}
    for number, (meaning, weight, phrases) in enumerate(WORDS):
        for phrase in phrases.split("|"):
            group = " ".join(stem for part in phrase.split() for stem in _stems(part))
            found[group] = (*found.get(group, ()), (number, Sign(weight, meaning, phrase)))
    return found


def _telling_most(stem: str) -> tuple[bool, int]:
    return stem not in _EVERYWHERE, len(stem)


@cache
def _groups() -> tuple[dict[str, list[tuple[int, float]]], dict[str, list[tuple[frozenset[str], int, float]]]]:
    """What speaks for an attack: words by themselves, and groups of words under the one that is met least."""
    single: dict[str, list[tuple[int, float]]] = {}
    several: dict[str, list[tuple[frozenset[str], int, float]]] = {}
    for group, signs in word_signs().items():
        stems = frozenset(group.split()) - {"*"}
        for number, sign in signs:
            if sign.weight > 0 and len(stems) == 1:
                single.setdefault(next(iter(stems)), []).append((number, sign.weight))
            elif sign.weight > 0:
                several.setdefault(max(stems, key=_telling_most), []).append((stems, number, sign.weight))
    return single, several


@cache
def first_words() -> frozenset[str]:
    return frozenset(group.partition(" ")[0] for group in word_signs())


def _stems(word: str) -> Iterable[str]:
    return ["*"] if word == "*" else [token for found in words(word) for token in found.tokens]
