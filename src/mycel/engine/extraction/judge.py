"""Which type of memory a sentence makes, if any: by a rule that it follows, or by the weight of its signs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from mycel.domain.category import USUAL, Category
from mycel.domain.memory import MemoryType
from mycel.engine.extraction import chatter
from mycel.engine.extraction.cues.every import every_rule
from mycel.engine.extraction.people import takes_on
from mycel.engine.extraction.phrases import HYPOTHETICAL, PASSING
from mycel.engine.extraction.rules import Match, RuleBook
from mycel.engine.extraction.sections import kind_of
from mycel.engine.extraction.signals import add_signs, phrase_signs
from mycel.engine.extraction.talk import Talk
from mycel.engine.extraction.weighing import Weights, weigh

SECTION_CONFIDENCE = 0.8
ASSIGNED_CONFIDENCE = 0.75
TAKEN_ON_CONFIDENCE = 0.65
# Rules this sure are followed; others are one sign more, and what they keep need not be as likely.
SURE = 0.85
LEAST_CHANCE = 0.38
LEAST_CHANCE_RULED = 0.15
# What signs alone say is never as sure as what a rule says.
MOST_BY_WEIGHT = 0.7
LEAST_WORDS = 3
LEAST_WORDS_WEIGHED = 5

_UNREAL = frozenset(("could", "might", "would"))


class Verdict(NamedTuple):
    """What a sentence is, how sure that is, and where in it the statement itself begins."""

    type: MemoryType
    category: Category
    confidence: float
    begins: int = 0


class Reading(NamedTuple):
    """What there is to weigh: all signs, and what a rule says that is not sure enough."""

    signs: set[str]
    ruled: Verdict | None


def judge(talk: Talk, place: int, *, table: Weights) -> Verdict | None:
    found = read(talk, place)
    return _by_weight(found, talk.words(place), table=table) if isinstance(found, Reading) else found


def read(talk: Talk, place: int) -> Verdict | Reading | None:
    """What a sentence is, what there is to weigh, or None where it is nothing to keep."""
    words = talk.words(place)
    if len(words) < LEAST_WORDS or not talk.is_about_work(place):
        return None
    text = talk.text(place)
    if talk.assigns(place):
        return Verdict(MemoryType.TASK_HINT, Category.FACT, ASSIGNED_CONFIDENCE)
    if chatter.is_question(text, words=words):
        return None
    kind = kind_of(talk.statements[place].section)
    if kind is not None:
        return Verdict(*kind, SECTION_CONFIDENCE)
    signs = phrase_signs(words)
    ruled = _ruled(text, words, signs=signs, assistant=talk.is_assistant(place))
    if ruled is not None and ruled.confidence >= SURE:
        return ruled
    if ruled is not None:
        signs.add(f"ruled {ruled.type.value}")
    elif len(words) < LEAST_WORDS_WEIGHED or _is_chatter(text, words, signs=signs):
        return None
    if chatter.is_report(text):
        signs.add("report")
    add_signs(signs, text, words=words, topic=talk.topic(place))
    signs |= talk.setting_signs(place)
    return Reading(signs, ruled)


def _ruled(text: str, words: list[str], *, signs: set[str], assistant: bool) -> Verdict | None:
    ruled = None if HYPOTHETICAL in signs else _by_rule(text, words, assistant=assistant)
    if ruled is None and not assistant and takes_on(text, words=words):
        return Verdict(MemoryType.TASK_HINT, Category.FACT, TAKEN_ON_CONFIDENCE)
    return ruled


def _by_rule(text: str, words: list[str], *, assistant: bool) -> Verdict | None:
    for match in _rule_book().matches(text, words):
        if _holds(match, text, assistant=assistant):
            rule = match.rule
            return Verdict(rule.type, rule.category, rule.confidence, match.end if rule.leads else 0)
    return None


def _holds(match: Match, text: str, *, assistant: bool) -> bool:
    rule = match.rule
    if rule.personal and assistant:
        return False
    if rule.settled and chatter.is_taken_back(text[: match.start], text[match.end :]):
        return False
    return rule.firm or not chatter.is_report(text)


def _is_chatter(text: str, words: list[str], *, signs: set[str]) -> bool:
    """A rule may outweigh a "could" or a "currently"; signs alone do not."""
    if HYPOTHETICAL in signs or PASSING in signs or not _UNREAL.isdisjoint(words):
        return True
    return chatter.is_measured_now(text)


def _by_weight(reading: Reading, words: list[str], *, table: Weights) -> Verdict | None:
    ruled = reading.ruled
    least = LEAST_CHANCE if ruled is None else LEAST_CHANCE_RULED
    found = weigh(reading.signs, words, least=least, table=table)
    if found is None:
        return None
    if ruled is not None and (ruled.type is found.type or found.chance < LEAST_CHANCE):
        return ruled
    return Verdict(found.type, USUAL[found.type], min(MOST_BY_WEIGHT, 0.45 + found.chance / 4))


@cache
def _rule_book() -> RuleBook:
    return RuleBook(every_rule())
