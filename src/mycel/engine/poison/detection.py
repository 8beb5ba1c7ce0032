"""Tells a text that gives orders to the AI reading it from one that tells engineers how to work."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence

from mycel.engine.poison.clues import (
    ALARM,
    Clue,
    Patterns,
    Sign,
    certain_patterns,
    clues_in,
    first_words,
    hinted,
    weighted_patterns,
    word_signs,
)
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
from mycel.engine.poison.lexicon import DISGUISE
from mycel.engine.poison.orders import order_in, runs_unseen
from mycel.retrieval.analysis import words

# Each passage of a long text is another chance to be wrong: with e times as many passages this much more is asked for.
_POINTS_PER_LENGTH = 1.2
_DISGUISE_POINTS = 2.0
# Words count together only in so many characters, which are two or three sentences.
PASSAGE_CHARS = 280
_PART_CHARS = 1_200
_OVERLAP_CHARS = 300
_SHOWN_CHARS = 60

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_ENCODED, _TURNED = int(Concept.ENCODED), int(Concept.TURNED)
_LEET, _APART = int(Concept.LEET), int(Concept.APART)
_DISGUISED = _ENCODED | _TURNED | _LEET | _APART
_SPELLED_OUT = re.compile(r"ignore|disregard|forget|overrid|reveal|bypass|instruct|prompt|password|secret")

_Signs = dict[int, Sign]


def instruction_to_reader(text: str) -> str | None:
    """Why a text reads like orders to the AI it is shown to, in plain words for a reviewer; None when it does not.

    Takes time linear in the length of the text, whatever it holds.
    """
    alarm = ALARM
    if len(text) > PASSAGE_CHARS:
        alarm += _POINTS_PER_LENGTH * math.log(len(text) / PASSAGE_CHARS)
    for start in range(0, max(1, len(text) - _OVERLAP_CHARS), _PART_CHARS - _OVERLAP_CHARS):
        sign = _worst(text[start : start + _PART_CHARS], alarm=alarm)
        if sign:
            said = " ".join(sign.said.split())
            shown = said if len(said) <= _SHOWN_CHARS else said[: _SHOWN_CHARS - 1] + "\u2026"
            return f"{sign.meaning}: \u201c{shown}\u201d"
    return None


def _worst(part: str, *, alarm: float) -> Sign | None:
    """The sign to show for a part of a text that is an alarm."""
    said = plain(part)
    hints, clues = clues_in(said)
    told = without_mentions(said)
    found = _told(told, alarm=alarm, looked=(hints, clues) if told is said else None)
    if found or (not hints & _DISGUISED and part.isascii()):
        return found
    is_apart = letters_stand_apart(part)
    if is_apart and _SPELLED_OUT.search(spelled_out(part)):
        return Sign(ALARM, DISGUISE, said)
    for other in undisguised(part, said=said, is_apart=is_apart, has_digits=bool(hints & _LEET)):
        # Digits and signs stand among letters in ordinary text, too: only what they hide counts.
        found = _told(other, alarm=alarm - _DISGUISE_POINTS, than=said)
        if found:
            return Sign(found.weight, DISGUISE, said)
    for hidden in _decoded(part, hints):
        if runs_unseen(hidden) or _told(plain(hidden), alarm=alarm - _DISGUISE_POINTS):
            return Sign(ALARM, DISGUISE, said)
    return None


def _decoded(part: str, hints: int) -> Iterator[str]:
    if hints & _ENCODED:
        yield from decoded(part)
    if hints & _TURNED:
        yield from turned(part)


def _told(
    said: str, *, alarm: float, than: str | None = None, looked: tuple[int, list[Clue]] | None = None
) -> Sign | None:
    hints, clues = looked or clues_in(said)
    found = _phrase(said, clues) or _order(said, hints)
    if found or _most_points(said, clues) < alarm:
        return found
    return _passage(said, alarm=alarm, than=than)


def _order(said: str, hints: int) -> Sign | None:
    order = order_in(said, hints)
    return Sign(ALARM, *order) if order else None


def _phrase(said: str, clues: Sequence[Clue]) -> Sign | None:
    """What gives an attack away alone."""
    hints = 0
    for clue in clues:
        hints |= clue.certain
    if not hints:
        return None
    return next(iter(_found(certain_patterns(), said, hinted(certain_patterns(), said, hints)).values()), None)


def _passage(said: str, *, alarm: float, than: str | None) -> Sign | None:
    """The first passage with enough words of an attack, and, where given, with more than another text has."""
    for sentences in _passages(said, alarm=alarm):
        signs = {number: sign for sentence in sentences for number, sign in _signs(sentence).items()}
        points, passage = _points(signs), " ".join(sentences)
        if points >= alarm and (than is None or points >= _points(_signs(than)) + _DISGUISE_POINTS):
            meanings: dict[str, float] = {}
            for sign in signs.values():
                meanings[sign.meaning] = meanings.get(sign.meaning, 0.0) + sign.weight
            return Sign(points, max(meanings, key=lambda meaning: meanings[meaning]), passage)
    return None


def _passages(said: str, *, alarm: float) -> Iterator[list[str]]:
    """As many sentences in a row as are short enough, from each sentence on, where they may suffice for an alarm."""
    sentences = [sentence for sentence in _SENTENCE_END.split(said) if sentence]
    clues = [clues_in(sentence)[1] for sentence in sentences]
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


def _most_points(said: str, clues: Sequence[Clue]) -> float:
    """At least as many as any passage has, in a tenth of the time: nearly every note ends here."""
    if not clues:
        return 0.0
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
    patterns = weighted_patterns()
    return points + sum(max(0.0, patterns.by_number[number][1]) for number in hinted(patterns, said, hints))


def _points(signs: _Signs) -> float:
    return sum(sign.weight for sign in signs.values())


def _signs(said: str) -> _Signs:
    hints = 0
    for clue in clues_in(said)[1]:
        hints |= clue.weighted
    return _found(weighted_patterns(), said, hinted(weighted_patterns(), said, hints)) | _words(said)


def _found(patterns: Patterns, said: str, hinted: Collection[int]) -> _Signs:
    """The patterns found, under negative numbers; looking for their hints first takes a tenth of the time."""
    found: _Signs = {}
    for number in sorted(hinted):
        meaning, weight, pattern = patterns.by_number[number]
        if match := pattern.search(said):
            found[-1 - number] = Sign(weight, meaning, match[0])
    return found


def _words(said: str) -> _Signs:
    """One sign for each group of words that the text has something of."""
    signs = word_signs()
    return {number: sign for group in _word_groups(said) for number, sign in signs.get(group, ())}


def _word_groups(said: str) -> Iterator[str]:
    """Up to four words in a row from each word that begins a known group, and the pairs with one word between."""
    analysed = list(words(said))
    stems = [token for word in analysed for token in word.tokens]
    yield from (part for word in analysed for part in word.parts)
    first = first_words()
    for at, stem in enumerate(stems):
        if stem in first:
            group = stem
            yield group
            for following in stems[at + 1 : at + 4]:
                group = f"{group} {following}"
                yield group
            yield f"{stem} * {' '.join(stems[at + 2 : at + 3])}"
