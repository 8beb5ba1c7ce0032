"""Which type of memory a sentence makes, if any: by a rule that it follows, or by the weight of its signs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from mycel.domain.memory import MemoryType
from mycel.engine.extraction import chatter
from mycel.engine.extraction.cues.every import every_rule
from mycel.engine.extraction.people import takes_on
from mycel.engine.extraction.phrases import HYPOTHETICAL, PASSING
from mycel.engine.extraction.rules import Match, RuleBook
from mycel.engine.extraction.sections import kind_of
from mycel.engine.extraction.signals import add_signs, phrase_signs
from mycel.engine.extraction.talk import Talk
from mycel.engine.extraction.weighing import weigh

SECTION_CONFIDENCE = 0.8
ASSIGNED_CONFIDENCE = 0.75
TAKEN_ON_CONFIDENCE = 0.65
# Signs alone count from here on; what they say is never as sure as what a rule says.
LEAST_CHANCE = 0.45
MOST_BY_WEIGHT = 0.7
LEAST_WORDS = 3
LEAST_WORDS_WEIGHED = 5

_UNREAL = frozenset(("could", "might", "would"))
_CATEGORIES = {
    MemoryType.DECISION: "decision",
    MemoryType.TASK_HINT: "fact",
    MemoryType.REFERENCE: "fact",
    MemoryType.PROFILE: "preference",
    MemoryType.FACT: "codebase-knowledge",
    MemoryType.LESSON: "mistake-pattern",
}


class Verdict(NamedTuple):
    """What a sentence is, how sure that is, and where in it the statement itself begins."""

    type: MemoryType
    category: str
    confidence: float
    begins: int = 0


def judge(talk: Talk, place: int) -> Verdict | None:
    words = talk.words(place)
    if len(words) < LEAST_WORDS:
        return None
    verdict = _verdict(talk, place, talk.text(place), words)
    return verdict if verdict is not None and talk.is_about_work(place) else None


def _verdict(talk: Talk, place: int, text: str, words: list[str]) -> Verdict | None:
    if talk.assigns(place):
        return Verdict(MemoryType.TASK_HINT, "fact", ASSIGNED_CONFIDENCE)
    if chatter.is_question(text, words=words):
        return None
    kind = kind_of(talk.statements[place].section)
    if kind is not None:
        return Verdict(*kind, SECTION_CONFIDENCE)
    assistant = talk.is_assistant(place)
    signs = phrase_signs(words)
    if HYPOTHETICAL not in signs:
        ruled = _by_rule(text, words, assistant=assistant)
        if ruled is not None:
            return ruled
    if not assistant and takes_on(text, words=words):
        return Verdict(MemoryType.TASK_HINT, "fact", TAKEN_ON_CONFIDENCE)
    if len(words) < LEAST_WORDS_WEIGHED or _is_chatter(text, words, signs=signs):
        return None
    add_signs(signs, text, words=words, topic=talk.topic(place), setting=talk.setting(place))
    return _by_weight(signs)


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
    return chatter.is_report(text) or chatter.is_measured_now(text)


def _by_weight(signs: set[str]) -> Verdict | None:
    best, chance = weigh(signs)
    if chance < LEAST_CHANCE:
        return None
    return Verdict(best, _CATEGORIES[best], min(MOST_BY_WEIGHT, 0.45 + chance / 4))


@cache
def _rule_book() -> RuleBook:
    return RuleBook(every_rule())
