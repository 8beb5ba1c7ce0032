"""Tells a text that gives orders to the AI reading it from one that tells engineers how to work."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from mycel.engine.poison.concepts import Concept
from mycel.engine.poison.disguise import (
    decoded,
    letters_stand_apart,
    plain,
    spelled_out,
    turned,
    undisguised,
    without_mentions,
)
from mycel.engine.poison.lexicon import DISGUISE, Phrase, hints_of
from mycel.engine.poison.meaning import with_opposites
from mycel.engine.poison.orders import order_in, runs_unseen
from mycel.retrieval.analysis import words

# So many points are an alarm; a phrase that gives an attack away has them alone. Of the 100 attacks and 100 conventions
# of the benchmarks, 4.5 points would find 90 and 3, and 6 points 79 and none.
ALARM = 5.25
# Each passage of a long text is another chance to be wrong: with e times as many passages this much more is asked for.
_POINTS_PER_LENGTH = 1.2
_DISGUISE_POINTS = 2.0
# Words count together only in so many characters, which are two or three sentences.
PASSAGE_CHARS = 280
_PART_CHARS = 1_200
_OVERLAP_CHARS = 300
_SHOWN_CHARS = 60

# A group is looked for at another of its words.
_EVERYWHERE = frozenset({"the", "of", "in", "is", "a", "for", "on", "it", "to", "with", "from", "that", "this"})

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# Beyond the numbers of all patterns.
_ACROSS = 1 << 256
_ENCODED, _TURNED, _LEET = int(Concept.ENCODED), int(Concept.TURNED), int(Concept.LEET)
_SPELLED_OUT = re.compile(r"ignore|disregard|forget|overrid|reveal|bypass|instruct|prompt|password|secret")


class _Sign(NamedTuple):
    weight: float
    meaning: str
    said: str


_Signs = dict[int, _Sign]


class _Edges(NamedTuple):
    """The longest word of each hint that stands across words: as a whole word, or only its beginning or its end."""

    whole: frozenset[str]
    begun: tuple[str, ...]
    ended: tuple[str, ...]

    def may_be(self, word: str) -> bool:
        return word in self.whole or word.startswith(self.begun) or word.endswith(self.ended)


class _Patterns(NamedTuple):
    """With the hints at each: those inside a word, and those that stand across words."""

    in_words: tuple[tuple[str, tuple[int, ...]], ...]
    across_words: tuple[tuple[str, tuple[int, ...]], ...]
    edges: _Edges
    by_number: tuple[tuple[str, float, re.Pattern[str]], ...]


class _Clue(NamedTuple):
    """What a single word may have to do with an attack: its stems, and a bit for each pattern that it hints at.

    Without the bit `_ACROSS` in any word no hint stands across words.
    """

    stems: tuple[str, ...]
    points: tuple[tuple[int, float], ...]
    groups: tuple[tuple[frozenset[str], int, float], ...]
    certain: int
    weighted: int


def instruction_to_reader(text: str) -> str | None:
    """Why a text reads like orders to the AI it is shown to, in plain words for a reviewer; None when it does not.

    Takes time linear in the length of the text, whatever it holds.
    """
    alarm = ALARM + _POINTS_PER_LENGTH * math.log(max(1.0, len(text) / PASSAGE_CHARS))
    for start in range(0, max(1, len(text) - _OVERLAP_CHARS), _PART_CHARS - _OVERLAP_CHARS):
        sign = _worst(text[start : start + _PART_CHARS], alarm=alarm)
        if sign:
            said = " ".join(sign.said.split())
            shown = said if len(said) <= _SHOWN_CHARS else said[: _SHOWN_CHARS - 1] + "\u2026"
            return f"{sign.meaning}: \u201c{shown}\u201d"
    return None


def _worst(part: str, *, alarm: float) -> _Sign | None:
    """The sign to show for a part of a text that is an alarm."""
    said = plain(part)
    hints, clues = _looked(said)
    told = without_mentions(said)
    found = _told(told, alarm=alarm, looked=(hints, clues) if told is said else None)
    if found:
        return found
    is_apart = letters_stand_apart(part)
    if is_apart and _SPELLED_OUT.search(spelled_out(part)):
        return _Sign(ALARM, DISGUISE, said)
    for other in undisguised(part, said=said, is_apart=is_apart, has_digits=bool(hints & _LEET)):
        # Digits and signs stand among letters in ordinary text, too: only what they hide counts.
        found = _told(other, alarm=alarm - _DISGUISE_POINTS, than=said)
        if found:
            return _Sign(found.weight, DISGUISE, said)
    for hidden in _decoded(part, hints):
        if runs_unseen(hidden) or _told(plain(hidden), alarm=alarm - _DISGUISE_POINTS):
            return _Sign(ALARM, DISGUISE, said)
    return None


def _decoded(part: str, hints: int) -> Iterator[str]:
    if hints & _ENCODED:
        yield from decoded(part)
    if hints & _TURNED:
        yield from turned(part)


def _told(
    said: str, *, alarm: float, than: str | None = None, looked: tuple[int, list[_Clue]] | None = None
) -> _Sign | None:
    hints, clues = looked or _looked(said)
    found = _phrase(said, clues) or _order(said, hints)
    if found or _most_points(said, clues) < alarm:
        return found
    return _passage(said, alarm=alarm, than=than)


def _order(said: str, hints: int) -> _Sign | None:
    order = order_in(said, hints)
    return _Sign(ALARM, *order) if order else None


def _phrase(said: str, clues: Sequence[_Clue]) -> _Sign | None:
    """What gives an attack away alone."""
    hints = 0
    for clue in clues:
        hints |= clue.certain
    if not hints:
        return None
    return next(iter(_found(_certain(), said, _hinted(_certain(), said, hints)).values()), None)


def _passage(said: str, *, alarm: float, than: str | None) -> _Sign | None:
    """The first passage with enough words of an attack, and, where given, with more than another text has."""
    for sentences in _passages(said, alarm=alarm):
        signs = {number: sign for sentence in sentences for number, sign in _signs(sentence).items()}
        points, passage = _points(signs), " ".join(sentences)
        if points >= alarm and (than is None or points >= _points(_signs(than)) + _DISGUISE_POINTS):
            meanings: dict[str, float] = {}
            for sign in signs.values():
                meanings[sign.meaning] = meanings.get(sign.meaning, 0.0) + sign.weight
            return _Sign(points, max(meanings, key=lambda meaning: meanings[meaning]), passage)
    return None


def _passages(said: str, *, alarm: float) -> Iterator[list[str]]:
    """As many sentences in a row as are short enough, from each sentence on, where they may suffice for an alarm."""
    sentences = [sentence for sentence in _SENTENCE_END.split(said) if sentence]
    clues = [_clues(sentence) for sentence in sentences]
    covered = 0
    for first in range(len(sentences)):
        end, length = first, 0
        while end < len(sentences) and (end == first or length + len(sentences[end]) <= PASSAGE_CHARS):
            length += len(sentences[end])
            end += 1
        if end > covered:
            covered = end
            together = [clue for one in clues[first:end] for clue in one]
            if _most_points(" ".join(sentences[first:end]), together) >= alarm:
                yield sentences[first:end]


def _most_points(said: str, clues: Sequence[_Clue]) -> float:
    """At least as many as any passage has, in a tenth of the time: nearly every note ends here."""
    found: dict[int, float] = {}
    hints = 0
    stems = set[str]().union(*[clue.stems for clue in clues])
    for clue in clues:
        hints |= clue.weighted
        found.update(clue.points)
        for group, number, weight in clue.groups:
            if group <= stems:
                found[number] = weight
    points = sum(found.values())
    if not hints:
        return points
    patterns = _weighted()
    return points + sum(max(0.0, patterns.by_number[number][1]) for number in _hinted(patterns, said, hints))


def _points(signs: _Signs) -> float:
    return sum(sign.weight for sign in signs.values())


def _signs(said: str) -> _Signs:
    hints = 0
    for clue in _clues(said):
        hints |= clue.weighted
    return _found(_weighted(), said, _hinted(_weighted(), said, hints)) | _words(said)


def _found(patterns: _Patterns, said: str, hinted: Collection[int]) -> _Signs:
    """The patterns found, under negative numbers; looking for their hints first takes a tenth of the time."""
    found: _Signs = {}
    for number in sorted(hinted):
        meaning, weight, pattern = patterns.by_number[number]
        if match := pattern.search(said):
            found[-1 - number] = _Sign(weight, meaning, match[0])
    return found


def _words(said: str) -> _Signs:
    """One sign for each group of words that the text has something of."""
    lexicon = _lexicon()
    return {number: sign for group in _word_groups(said) for number, sign in lexicon.get(group, ())}


def _word_groups(said: str) -> Iterator[str]:
    """Up to four words in a row from each word that begins a known group, and the pairs with one word between."""
    analysed = list(words(said))
    stems = [token for word in analysed for token in word.tokens]
    yield from (part for word in analysed for part in word.parts)
    beginnings = _beginnings()
    for at, stem in enumerate(stems):
        if stem in beginnings:
            group = stem
            yield group
            for following in stems[at + 1 : at + 4]:
                group = f"{group} {following}"
                yield group
            yield f"{stem} * {' '.join(stems[at + 2 : at + 3])}"


@cache
def _certain() -> _Patterns:
    from mycel.engine.poison import languages
    from mycel.engine.poison import phrases as plain_phrases

    phrases = (*plain_phrases.PHRASES, *languages.PHRASES)
    return _patterns(phrase for phrase in phrases if phrase.weight is None)


@cache
def _weighted() -> _Patterns:
    from mycel.engine.poison.phrases import PHRASES

    return _patterns(phrase for phrase in PHRASES if phrase.weight is not None)


def _patterns(phrases: Iterable[Phrase]) -> _Patterns:
    by_hint: dict[str, tuple[int, ...]] = {}
    by_number: list[tuple[str, float, re.Pattern[str]]] = []
    for number, phrase in enumerate(phrases):
        by_number.append((phrase.meaning, phrase.weight or ALARM, re.compile(phrase.pattern)))
        for hint in phrase.hints:
            by_hint[hint] = (*by_hint.get(hint, ()), number)
    in_words = tuple((hint, numbers) for hint, numbers in by_hint.items() if hint.split() == [hint])
    across_words = tuple((hint, numbers) for hint, numbers in by_hint.items() if hint.split() != [hint])
    return _Patterns(in_words, across_words, _edges_of([hint for hint, _ in across_words]), tuple(by_number))


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
def _lexicon() -> dict[str, tuple[tuple[int, _Sign], ...]]:
    from mycel.engine.poison.weighted_words import WORDS

    found: dict[str, tuple[tuple[int, _Sign], ...]] = {}
    for number, (meaning, weight, phrases) in enumerate(WORDS):
        for phrase in phrases.split("|"):
            group = " ".join(stem for part in phrase.split() for stem in _stems(part))
            found[group] = (*found.get(group, ()), (number, _Sign(weight, meaning, phrase)))
    return found


def _telling_most(stem: str) -> tuple[bool, int]:
    return stem not in _EVERYWHERE, len(stem)


@cache
def _groups() -> tuple[dict[str, list[tuple[int, float]]], dict[str, list[tuple[frozenset[str], int, float]]]]:
    """What speaks for an attack: words by themselves, and groups of words under the one that is met least."""
    single: dict[str, list[tuple[int, float]]] = {}
    several: dict[str, list[tuple[frozenset[str], int, float]]] = {}
    for group, signs in _lexicon().items():
        stems = frozenset(group.split()) - {"*"}
        for number, sign in signs:
            if sign.weight > 0 and len(stems) == 1:
                single.setdefault(next(iter(stems)), []).append((number, sign.weight))
            elif sign.weight > 0:
                several.setdefault(max(stems, key=_telling_most), []).append((stems, number, sign.weight))
    return single, several


def _looked(said: str) -> tuple[int, list[_Clue]]:
    """What a text may speak of, and the clues in it: one look at each word for both."""
    looked = list(map(_look, said.split()))
    hints = 0
    for hint, _ in looked:
        hints |= hint
    return with_opposites(hints), [clue for _, clue in looked if clue]


@lru_cache(maxsize=65_536)
def _look(word: str) -> tuple[int, _Clue | None]:
    return hints_of(word), _clue(word)


def _clues(said: str) -> list[_Clue]:
    """Of the few words that are any: the same words come again and again, and looking them up is quick."""
    return list(filter(None, map(_clue, said.split())))


@lru_cache(maxsize=65_536)
def _clue(word: str) -> _Clue | None:
    stems = tuple(stem for found in words(word) for stem in (*found.tokens, *found.parts) if stem in _telling())
    certain, weighted = _hints_of(_certain(), word), _hints_of(_weighted(), word)
    if not (stems or certain or weighted):
        return None
    single, several = _groups()
    points = tuple(point for stem in stems for point in single.get(stem, ()))
    groups = tuple(group for stem in stems for group in several.get(stem, ()))
    return _Clue(stems, points, groups, certain, weighted)


@cache
def _telling() -> frozenset[str]:
    """Every stem that speaks for an attack, by itself or in a group."""
    single, several = _groups()
    return frozenset(single).union(*(group for groups in several.values() for group, _, _ in groups))


def _hints_of(patterns: _Patterns, word: str) -> int:
    found = 0
    for hint, numbers in patterns.in_words:
        if hint in word:
            for number in numbers:
                found |= 1 << number
    return found | _ACROSS if patterns.edges.may_be(word) else found


def _hinted(patterns: _Patterns, said: str, hints: int) -> Collection[int]:
    """The numbers of the patterns that the words of a text hint at, alone or together."""
    found: set[int] = set()
    left = hints & ~_ACROSS
    while left:
        last = left & -left
        found.add(last.bit_length() - 1)
        left ^= last
    if hints & _ACROSS:
        found.update(number for hint, numbers in patterns.across_words if hint in said for number in numbers)
    return found


@cache
def _beginnings() -> frozenset[str]:
    return frozenset(group.partition(" ")[0] for group in _lexicon())


def _stems(word: str) -> Iterable[str]:
    return ["*"] if word == "*" else [token for found in words(word) for token in found.tokens]
