"""Candidates from a transcript, by rules and weights alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from math import exp
from typing import NamedTuple

from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import USUAL_CATEGORY, Candidate, Transcript
from mycel.engine.extraction.rules import Match, RuleBook
from mycel.engine.extraction.talk import Talk
from mycel.engine.language import (
    HYPOTHETICAL,
    add_signs,
    alternatives_of,
    content_of,
    gives_reason,
    is_chatter,
    is_question,
    is_report,
    is_taken_back,
    kind_of,
    phrase_signs,
    rationale_of,
    refers_back,
    rules,
    takes_on,
    title_of,
    weights,
)

# How much a sign or a word speaks for keeping, and then for each type.
Row = tuple[int, ...]

BIAS = "bias"


class Weights(NamedTuple):
    """Whole numbers, `weights.SCALE` of which make one: they add up to the same sum in any order."""

    signs: Mapping[str, Row]
    words: Mapping[str, Row]


class Weighed(NamedTuple):
    """A type, and the chance that the sentence is worth keeping and may have it."""

    type: MemoryType
    chance: float


@cache
def fitted() -> Weights:
    """Those that the package carries."""
    return Weights(read_table(weights.SIGNS), read_table(weights.WORDS))


def read_table(text: str) -> dict[str, Row]:
    """Entries such as `we do:4,9,-1,-1,-1,-4,-6`, apart by bars."""
    entries = (entry.strip().rpartition(":") for entry in text.replace("\n", "|").split("|") if entry.strip())
    return {name: tuple(map(int, numbers.split(","))) for name, _, numbers in entries}


def weigh(signs: Collection[str], words: Iterable[str], *, least: float, table: Weights) -> Weighed | None:
    """The likeliest type, where the chance is at least `least`."""
    rows = [table.signs[BIAS]]
    rows += filter(None, map(table.signs.get, signs))
    rows += filter(None, map(table.words.get, set(words)))
    keep = _logistic(sum([row[0] for row in rows]))
    if keep < least:
        return None
    _, *sums = map(sum, zip(*rows, strict=True))
    best = max(sums)
    chance = keep * _logistic(best)
    return Weighed(weights.TYPES[sums.index(best)], chance) if chance >= least else None


def _logistic(score: int) -> float:
    return 1 / (1 + exp(-score / weights.SCALE))


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
    if is_question(text, words=words):
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
    elif len(words) < LEAST_WORDS_WEIGHED or is_chatter(text, words, signs=signs):
        return None
    if is_report(text):
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
    if rule.settled and is_taken_back(text[: match.start], text[match.end :]):
        return False
    return rule.firm or not is_report(text)


def _by_weight(reading: Reading, words: list[str], *, table: Weights) -> Verdict | None:
    ruled = reading.ruled
    least = LEAST_CHANCE if ruled is None else LEAST_CHANCE_RULED
    found = weigh(reading.signs, words, least=least, table=table)
    if found is None:
        return None
    if ruled is not None and (ruled.type is found.type or found.chance < LEAST_CHANCE):
        return ruled
    return Verdict(found.type, USUAL_CATEGORY[found.type], min(MOST_BY_WEIGHT, 0.45 + found.chance / 4))


@cache
def _rule_book() -> RuleBook:
    return RuleBook(rules())


MOST_JOINED_CHARS = 500
# What is said again soon after is the same candidate.
REMEMBERED = 30
ALIKE = 0.75
SURER_WITH_REASON = 0.05
MOST_CONFIDENCE = 0.95
# A cue further in than this does not lead the sentence.
LEADING_CHARS = 40


def extract(transcript: Transcript, *, start: int = 0, table: Weights | None = None) -> list[Candidate]:
    """What the talk decided, learned, prefers, plans or knows, in order of the text.

    Each candidate's evidence begins at or after `start` and lies inside one turn. Text by tools and the system, code,
    quoted lines and notes given earlier yield nothing, and neither does small talk. What no rule is sure of is weighed
    by the fitted weights, or by those of `table`.
    """
    talk = Talk(transcript)
    table = table or fitted()
    verdicts = {place: verdict for place in range(len(talk.statements)) if (verdict := judge(talk, place, table=table))}
    found = (_candidate(talk, place, verdict, verdicts=verdicts) for place, verdict in verdicts.items())
    return [candidate for candidate in _without_repeats(found) if candidate.start >= start]


def _candidate(talk: Talk, place: int, verdict: Verdict, *, verdicts: Mapping[int, Verdict]) -> Candidate:
    statement = talk.statements[place]
    start, end = _joined(talk, place, verdicts=verdicts)
    content = content_of(talk.original(start, end))
    sentence = talk.original(statement.start, statement.end)
    leads = 0 < verdict.begins <= LEADING_CHARS
    decided = verdict.type is MemoryType.DECISION
    rationale = rationale_of(content) if decided else None
    surer = SURER_WITH_REASON if rationale else 0.0
    return Candidate(
        type=verdict.type,
        title=title_of(sentence[verdict.begins :] if leads else "", fallback=content_of(sentence)),
        content=content,
        confidence=round(min(MOST_CONFIDENCE, verdict.confidence + surer), 2),
        start=start,
        end=end,
        category=verdict.category,
        rationale=rationale,
        alternatives=alternatives_of(content) if decided else (),
    )


def _joined(talk: Talk, place: int, *, verdicts: Mapping[int, Verdict]) -> tuple[int, int]:
    """The evidence: with the sentence before if this one speaks of it, and the one after if that gives the reason."""
    start, end = talk.statements[place].start, talk.statements[place].end
    if refers_back(talk.text(place)) and _may_join(talk, place - 1, place, verdicts=verdicts):
        start = talk.statements[place - 1].start
    if _may_join(talk, place + 1, place, verdicts=verdicts) and gives_reason(talk.text(place + 1)):
        end = talk.statements[place + 1].end
    return start, end


def _may_join(talk: Talk, other: int, place: int, *, verdicts: Mapping[int, Verdict]) -> bool:
    """Whether a sentence stands with this one in a paragraph, is no candidate itself, and says something."""
    if not 0 <= other < len(talk.statements) or other in verdicts:
        return False
    one, two = talk.statements[other], talk.statements[place]
    if (one.turn, one.paragraph) != (two.turn, two.paragraph):
        return False
    if max(one.end, two.end) - min(one.start, two.start) > MOST_JOINED_CHARS:
        return False
    text = talk.text(other)
    return not is_question(text, words=talk.words(other)) and not is_report(text)


def _without_repeats(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    recent: deque[tuple[MemoryType, frozenset[str]]] = deque(maxlen=REMEMBERED)
    for candidate in candidates:
        words = frozenset(candidate.content.lower().split())
        if any(kind is candidate.type and _alike(words, others) for kind, others in recent):
            continue
        recent.append((candidate.type, words))
        yield candidate


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= ALIKE * len(words | others)
