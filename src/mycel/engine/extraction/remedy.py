"""What went wrong, why, and what cured it: told in several sentences, kept as one lesson."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from mycel.domain.memory import MemoryType
from mycel.engine.extraction.talk import Talk
from mycel.engine.extraction.verdict import Verdict
from mycel.engine.language import (
    is_nameless,
    is_question,
    is_remedy,
    is_report,
    leans_on_talk,
    names_its_problem,
    points_back,
    tells_attempt,
    tells_cause,
    tells_cure,
    tells_problem,
)

# So many sentences before a remedy may tell its problem.
PROBLEM_WITHIN = 30
# And so many may tell it without a word that says that something went wrong.
JUST_BEFORE = 2
# Trouble, cause, cure and what came of it; whoever tells more tells another one.
MOST_TOGETHER = 4

_TROUBLE, _CAUSE, _CURE = range(3)
# What goes wrong is a fact, too.
_STATED = (MemoryType.LESSON, MemoryType.FACT)


class Story(NamedTuple):
    """The places of sentences that one speaker said one after the other, and of the trouble told before them."""

    places: tuple[int, ...]
    trouble: int | None = None


def stories(talk: Talk, verdicts: Mapping[int, Verdict], *, unmeant: Collection[int]) -> dict[int, Story]:
    """Of each remedy, by its place, what is told with it."""
    found: dict[int, Story] = {}
    within: dict[int, int] = {}
    for place in sorted(verdicts):
        verdict = verdicts[place]
        if verdict.type is not MemoryType.LESSON or verdict.outright:
            continue
        before = place - 1
        first = within.get(before, before)
        goes_on = _belongs(talk, before, place) and _may_be_told(talk, before, verdicts, unmeant=unmeant)
        if not goes_on or place - first >= MOST_TOGETHER:
            first = place
        within[place] = first
        if first != place:
            found.pop(before, None)
        if first != place or verdict.remedy:
            found[place] = Story(tuple(range(first, place + 1)))
    return {
        place: story._replace(trouble=_trouble(talk, place, story, verdicts, unmeant=unmeant))
        for place, story in found.items()
    }


def absorbed(talk: Talk, verdicts: Mapping[int, Verdict], told: Mapping[int, Story]) -> set[int]:
    """What is told within a story is not told twice; what was tried in vain is worth a lesson of its own."""
    inner = {one for place, story in told.items() for one in story.places if one != place}
    troubles = {story.trouble for story in told.values() if story.trouble is not None}
    return inner | {
        place
        for place in troubles & verdicts.keys()
        if verdicts[place].type is MemoryType.LESSON
        and not verdicts[place].outright
        and _part(talk.text(place)) == _TROUBLE
    }


def _belongs(talk: Talk, before: int, place: int) -> bool:
    """Whether the same speaker goes on: from the trouble to its cause, from there to the cure, or back to the cause."""
    if before < 0 or not talk.is_same_voice(before, place):
        return False
    one, other = _part(talk.text(before)), _part(talk.text(place))
    if other is None and one == _CAUSE:
        # A lesson that goes on from the cause is what was done about it.
        return not tells_attempt(talk.text(place))
    if other is None or not _is_about(talk, before, place):
        return False
    if one is None:
        return other == _CURE and leans_on_talk(talk.text(place)) and talk.in_one_paragraph(before, place)
    return one < other or (one, other) == (_CURE, _CAUSE)


def _is_about(talk: Talk, before: int, place: int) -> bool:
    """Nothing speaks against it where a cure does not say what it is for."""
    named = names_its_problem(talk.text(place))
    return not named or not talk.weighty_words(place).isdisjoint(talk.weighty_words(before))


def _part(text: str) -> int | None:
    if tells_attempt(text):
        return None
    if tells_cure(text):
        return _CURE
    if tells_cause(text):
        return _CAUSE
    return _TROUBLE if tells_problem(text) else None


def _may_be_told(talk: Talk, place: int, verdicts: Mapping[int, Verdict], *, unmeant: Collection[int]) -> bool:
    """Whether the sentence may be told as a part of a lesson: it is meant, and nothing of its own."""
    if place in unmeant:
        return False
    if place in verdicts:
        return verdicts[place].type is MemoryType.LESSON and not verdicts[place].outright
    text = talk.text(place)
    return not is_question(text, words=talk.words(place)) and not is_report(text) and not points_back(text)


def _trouble(
    talk: Talk, place: int, story: Story, verdicts: Mapping[int, Verdict], *, unmeant: Collection[int]
) -> int | None:
    """A remedy is worth little without its problem, which may stand some turns earlier.

    Unless it was told just before, they name something in common, or it may be the problem of something else.
    """
    texts = [talk.text(one) for one in story.places]
    if any(_part(text) == _TROUBLE or (len(texts) == 1 and tells_problem(text)) for text in texts):
        return None
    words = frozenset[str]().union(*(talk.weighty_words(one) for one in story.places))
    first = story.places[0]
    best: tuple[int, int] | None = None
    for other in range(first - 1, max(-1, first - 1 - PROBLEM_WITHIN), -1):
        text = talk.text(other)
        is_other = other in unmeant or (other in verdicts and verdicts[other].type not in _STATED)
        if is_other or points_back(text) or is_nameless(text) or is_remedy(text):
            continue
        shared = len(words & talk.weighty_words(other))
        is_near = first - other <= JUST_BEFORE
        if not tells_problem(text) and not (is_near and shared and not is_report(text) and not text.endswith("?")):
            continue
        if shared > (0 if best is None else best[0]) or other == first - 1:
            best = shared, other
    return None if best is None else best[1]
