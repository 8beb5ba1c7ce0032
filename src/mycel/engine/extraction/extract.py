"""Candidates from a transcript: sentences that the judge finds worth keeping, and those that say so themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from mycel.contracts.judge import Judge, Sentence, SentenceOdds
from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import USUAL_CATEGORY, Candidate, Transcript
from mycel.engine.extraction.compose import compose
from mycel.engine.extraction.meant import doubted, undone
from mycel.engine.extraction.remedy import absorbed, stories
from mycel.engine.extraction.retractions import find_retractions
from mycel.engine.extraction.talk import Talk
from mycel.engine.extraction.verdict import Verdict
from mycel.engine.language import (
    Outright,
    is_personal,
    is_question,
    is_remedy,
    is_report,
    is_unsettled,
    kind_of,
    said_outright,
    takes_on,
)
from mycel.errors import Unavailable

Kind = tuple[MemoryType, Category]

SECTION_CONFIDENCE = 0.8
OUTRIGHT_CONFIDENCE = 0.9
MARKED_CONFIDENCE = 0.75
ASSIGNED_CONFIDENCE = 0.75
TAKEN_ON_CONFIDENCE = 0.65
# What the judge alone finds is never as sure as what somebody said outright.
MOST_BY_JUDGE = 0.8
LEAST_WORDS = 3
# Sentences of a talk that the judge reads, some five milliseconds each; of a longer talk the last ones.
MOST_JUDGED = 20_000

# Worth keeping as the judge sees it; less is asked of what says itself what it is.
LEAST_KEEP = 0.8
LEAST_KEEP_MARKED = 0.2
SURE_OF_TYPE = 0.9
# Of what is said outright: that it is meant, and worth keeping at all, as the judge sees it.
LEAST_MEANT = 0.5
LEAST_KEEP_GROUNDED = 0.2
_MEANT = (
    *("explicit_decision", "decision_in_passing", "lesson", "solution", "failed_approach", "confirmed_fact"),
    *("correction", "standing_instruction", "preference", "promise", "reference"),
)
LEAST_SOLUTION = 0.5
LEAST_FAILED = 0.4
SURELY_LESSON = 0.7
# What is less likely worth keeping is not worth a point of a summary either.
LEAST_KEEP_TOLD = 0.2
# How likely it may be that something marked is quoted, supposed, of others or a joke.
MOST_DOUBT = 0.25
MOST_DOUBT_MARKED = 0.5
_UNMEANT = (
    *("example_text", "hypothetical", "joke", "machine_narrative", "name_with_cue", "negated"),
    *("news", "not_standalone", "other_company", "other_team", "private", "question", "quoted_text"),
)

_TYPES: Mapping[str, Kind] = MappingProxyType(
    {
        **{type.value: (type, category) for type, category in USUAL_CATEGORY.items()},
        "convention": (MemoryType.FACT, Category.CONVENTION),
        "preference": (MemoryType.PROFILE, Category.PREFERENCE),
    }
)


class Drawn(NamedTuple):
    """What was drawn from a talk, and of the other sentences, by where they begin, what the judge made of them.

    `failed` tell what was tried in vain, `untold` are quoted, supposed, of others, or hardly worth a word.
    """

    candidates: list[Candidate]
    failed: frozenset[int] = frozenset()
    untold: frozenset[int] = frozenset()


def extract(transcript: Transcript, *, start: int = 0, judge: Judge | None = None) -> list[Candidate]:
    """What the talk decided, learned, prefers, plans or knows, in order of the text.

    Each candidate's evidence begins at or after `start` and lies inside one turn. Text by tools and the system, code,
    quoted lines and notes given earlier yield nothing, and neither does what cannot stand alone. Without a judge only
    those sentences are found that say themselves what they are.
    """
    return draw(transcript, start=start, judge=judge).candidates


def draw(transcript: Transcript, *, start: int = 0, judge: Judge | None = None) -> Drawn:
    talk = Talk(transcript)
    odds = _weighed(talk, judge, start=start) if judge is not None else {}
    verdicts: dict[int, Verdict] = {}
    unsettled = {place for place in range(len(talk.statements)) if is_unsettled(talk.text(place))}
    for place in range(len(talk.statements)):
        if place in unsettled:
            continue
        verdict = _judged(talk, place, odds[place]) if place in odds else _ruled(talk, place)
        if verdict is not None:
            verdicts[place] = verdict
    for place in _not_meant(talk, verdicts, odds, judge):
        verdicts[place] = verdicts[place]._replace(outright=False, confidence=MARKED_CONFIDENCE)
    retractions = find_retractions(talk, verdicts)
    for place, retraction in retractions.items():
        if retraction.is_sure:
            del verdicts[place]
        else:
            verdicts[place] = verdicts[place]._replace(
                outright=False, confidence=MARKED_CONFIDENCE, taken_back_by=retraction.words
            )
    unmeant = frozenset(place for place, each in odds.items() if _doubt(each) > MOST_DOUBT_MARKED) | unsettled
    # What goes wrong is mostly something that a machine does.
    foreign = frozenset(place for place in unmeant & odds.keys() if _doubt_of_people(odds[place]) > MOST_DOUBT_MARKED)
    told = stories(talk, verdicts, unmeant=foreign | unsettled)
    inner = absorbed(talk, verdicts, told)
    composed = (
        compose(talk, place, verdict, taken=verdicts, story=told.get(place))
        for place, verdict in verdicts.items()
        if place not in inner
    )
    found = (candidate for candidate in composed if candidate is not None)
    return Drawn(
        [candidate for candidate in _without_repeats(found) if candidate.start >= start],
        failed=frozenset(
            talk.statements[place].start
            for place in verdicts.keys() & odds.keys()
            if odds[place].types.get("lesson", 0.0) > SURELY_LESSON
            and _odds_of(odds[place], "failed_approach") > LEAST_FAILED
        ),
        untold=frozenset(
            talk.statements[place].start
            for place, each in odds.items()
            if place not in verdicts and (place in unmeant or each.keep < LEAST_KEEP_TOLD)
        ),
    )


def _weighed(talk: Talk, judge: Judge, *, start: int) -> dict[int, SentenceOdds]:
    """What the judge makes of each sentence that says more than a word or two."""
    places = [
        place
        for place, statement in enumerate(talk.statements)
        if statement.start >= start and len(talk.words(place)) >= LEAST_WORDS
    ][-MOST_JUDGED:]
    asked = [Sentence(talk.text(place), talk.turn(place).role or "user", talk.befores[place]) for place in places]
    try:
        return dict(zip(places, judge.weigh(asked), strict=True))
    except Unavailable:
        # Rules alone find less, and that is better than nothing.
        return {}


def _not_meant(
    talk: Talk, verdicts: Mapping[int, Verdict], odds: Mapping[int, SentenceOdds], judge: Judge | None
) -> frozenset[int]:
    """The places of what is said outright and takes its sense from what is said around it."""
    outright = [place for place, verdict in verdicts.items() if verdict.outright]
    not_meant = undone(talk) & frozenset(outright) if outright else frozenset[int]()
    read = [place for place in outright if place in odds and place not in not_meant]
    return not_meant | doubted(talk, read, judge, _is_meant) if judge is not None and read else not_meant


def _judged(talk: Talk, place: int, odds: SentenceOdds) -> Verdict | None:
    text = talk.text(place)
    outright = said_outright(text)
    section = kind_of(talk.statements[place].section)
    if not _is_kept(odds, outright, section=section):
        return None
    if outright is None and section is None and is_question(text, words=talk.words(place)):
        return None
    is_work = talk.assigns(place) or (not talk.is_assistant(place) and takes_on(text, words=talk.words(place)))
    given = (MemoryType.TASK_HINT, Category.FACT) if is_work else section
    kind = _kind(odds, outright.kind if outright is not None else given)
    if outright is not None and outright.drops:
        # The judge takes the words that point back for a choice between two.
        kind = outright.kind
    explicit = outright is not None and outright.grounds and _is_meant(odds)
    # A judge is not surer than to a tenth.
    confidence = OUTRIGHT_CONFIDENCE if explicit else min(MOST_BY_JUDGE, round(0.5 + 0.3 * odds.keep, 1))
    return Verdict(
        *kind,
        confidence,
        outright.begins if outright is not None else 0,
        outright=explicit and not talk.is_assistant(place),
        remedy=kind[0] is MemoryType.LESSON and (is_remedy(text) or _odds_of(odds, "solution") > LEAST_SOLUTION),
        drops=outright is not None and outright.drops,
    )


def _is_kept(odds: SentenceOdds, outright: Outright | None, *, section: Kind | None) -> bool:
    """What says itself what it is need not be as likely, and what is marked falls only where it is not meant."""
    if outright is not None and outright.grounds and _doubt(odds) <= MOST_DOUBT_MARKED:
        return True
    # In a lesson it is mostly a machine that did something.
    is_lesson = outright is not None and outright.kind[0] is MemoryType.LESSON
    if is_lesson and _doubt_of_people(odds) <= MOST_DOUBT_MARKED:
        return True
    is_marked = outright is not None or section is not None
    return odds.keep >= (LEAST_KEEP_MARKED if is_marked else LEAST_KEEP)


def _doubt(odds: SentenceOdds) -> float:
    """How likely it is not meant, by the likeliest way of not meaning it: all of them together say little."""
    return max(_odds_of(odds, kind) for kind in _UNMEANT)


def _doubt_of_people(odds: SentenceOdds) -> float:
    return max(_odds_of(odds, kind) for kind in _UNMEANT if kind != "machine_narrative")


def _odds_of(odds: SentenceOdds, kind: str) -> float:
    return odds.kinds.get(kind, 0.0)


def _kind(odds: SentenceOdds, said: Kind | None) -> Kind:
    """What the sentence says that it is, unless the judge is sure of something else."""
    named = max(odds.types, key=lambda name: odds.types[name])
    return _TYPES[named] if said is None or odds.types[named] >= SURE_OF_TYPE else said


def _is_meant(odds: SentenceOdds) -> bool:
    """The judge can say no to any mark, and makes none: how sure a model is, is no ground."""
    meant = sum(_odds_of(odds, kind) for kind in _MEANT)
    return meant >= LEAST_MEANT and _doubt(odds) <= MOST_DOUBT and odds.keep >= LEAST_KEEP_GROUNDED


def _ruled(talk: Talk, place: int) -> Verdict | None:
    """By what the sentence says of itself, for where there is no judge."""
    words, text = talk.words(place), talk.text(place)
    if len(words) < LEAST_WORDS or is_personal(words):
        return None
    if talk.assigns(place):
        return Verdict(MemoryType.TASK_HINT, Category.FACT, ASSIGNED_CONFIDENCE)
    outright = said_outright(text)
    if is_question(text, words=words) and (outright is None or not outright.grounds):
        return None
    section = kind_of(talk.statements[place].section)
    if section is not None:
        return Verdict(*section, SECTION_CONFIDENCE)
    if outright is not None and (outright.grounds or not (talk.is_assistant(place) and is_report(text))):
        confidence = OUTRIGHT_CONFIDENCE if outright.grounds else MARKED_CONFIDENCE
        kind = outright.kind
        remedy = kind[0] is MemoryType.LESSON and is_remedy(text)
        return Verdict(
            *kind, confidence, outright.begins, outright=outright.grounds, remedy=remedy, drops=outright.drops
        )
    if not talk.is_assistant(place) and takes_on(text, words=words):
        return Verdict(MemoryType.TASK_HINT, Category.FACT, TAKEN_ON_CONFIDENCE)
    return None


# What is said again soon after is the same candidate.
REMEMBERED = 30
ALIKE = 0.75


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
