"""A candidate as it will be read: with its speaker, its subject, its days and, of a remedy, the problem."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from mycel.domain.marks import EXPLICIT
from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import Candidate
from mycel.engine.extraction.talk import Talk
from mycel.engine.language import (
    alternatives_of,
    content_of,
    gives_reason,
    is_nameless,
    is_question,
    is_remedy,
    is_report,
    leans_on_talk,
    name_speaker,
    points_back,
    rationale_of,
    resolve_days,
    tells_after,
    tells_problem,
    title_of,
)

MOST_JOINED_CHARS = 500
SURER_WITH_REASON = 0.05
MOST_CONFIDENCE = 0.95
# A cue further in than this does not lead the sentence.
LEADING_CHARS = 40
# So many sentences before a remedy may tell its problem.
PROBLEM_WITHIN = 30
# So many sentences before a promise or a decision may tell what it is about.
REQUEST_WITHIN = 4
LEAST_ASKED_WORDS = 4
# Fewer say nothing by themselves: a day alone, a yes.
LEAST_TOLD_WORDS = 3

_NOBODYS_NAME = {"user": "the user", "assistant": "the assistant"}
# What is often said in answer to a question or a request, and means little without it.
_ANSWERS = frozenset((MemoryType.DECISION, MemoryType.TASK_HINT))
# What holds every week has no date.
_LASTING = frozenset((Category.CONVENTION, Category.PREFERENCE))


class Verdict(NamedTuple):
    """What a sentence is, how sure that is, where in it the statement begins, and whether it was said outright."""

    type: MemoryType
    category: Category
    confidence: float
    begins: int = 0
    outright: bool = False
    remedy: bool = False


def compose(
    talk: Talk,
    place: int,
    verdict: Verdict,
    *,
    taken: Mapping[int, Verdict],
    unmeant: Collection[int] = frozenset(),
) -> Candidate | None:
    """None where the sentence cannot stand alone.

    `taken` is what the other sentences were found to be, `unmeant` are those that were quoted, supposed or of others.
    """
    statement = talk.statements[place]
    start, end = _joined(talk, place, taken=taken)
    sentence = talk.original(statement.start, statement.end)
    said = content_of(talk.original(start, end))
    is_dangling = points_back(sentence) and not tells_after(sentence) and start == statement.start
    is_loose = is_dangling or is_nameless(sentence)
    about = ""
    if verdict.type in _ANSWERS and start == statement.start and (is_loose or leans_on_talk(sentence)):
        about = _asked_before(talk, place, told=is_loose and verdict.type is MemoryType.TASK_HINT)
    if is_loose and not about:
        return None
    content = _standing(talk, place, said, verdict) + about
    if len(content.split()) < LEAST_TOLD_WORDS:
        return None
    if verdict.remedy and not tells_problem(said):
        content = _with_problem(talk, place, content, taken=taken, unmeant=unmeant)
    return _candidate(talk, place, verdict, content=content, sentence=sentence, evidence=(start, end))


def _candidate(
    talk: Talk, place: int, verdict: Verdict, *, content: str, sentence: str, evidence: tuple[int, int]
) -> Candidate:
    leads = 0 < verdict.begins <= LEADING_CHARS
    decided = verdict.type is MemoryType.DECISION
    rationale = rationale_of(content) if decided else None
    surer = SURER_WITH_REASON if rationale else 0.0
    headline = _standing(talk, place, sentence[verdict.begins :], verdict) if leads else ""
    return Candidate(
        type=verdict.type,
        title=title_of(headline, fallback=_standing(talk, place, content_of(sentence), verdict)),
        content=content,
        confidence=round(min(MOST_CONFIDENCE, verdict.confidence + surer), 2),
        start=evidence[0],
        end=evidence[1],
        category=verdict.category,
        rationale=rationale,
        alternatives=alternatives_of(content) if decided else (),
        grounds=EXPLICIT if verdict.outright and not talk.is_assistant(place) else None,
        said_by=_owner(talk, place, content, verdict),
    )


def _standing(talk: Talk, place: int, said: str, verdict: Verdict) -> str:
    """The same words with the speaker's name and with dates."""
    turn = talk.turn(place)
    name = turn.speaker or _NOBODYS_NAME.get(turn.role)
    if name is not None:
        said = name_speaker(said, name, promises=verdict.type is MemoryType.TASK_HINT)
        # A sentence may now begin with the article of nobody's name.
        said = f"{said[0].upper()}{said[1:]}" if said.startswith("the ") else said
    dated = turn.said_at is not None and verdict.category not in _LASTING
    return resolve_days(said, turn.said_at) if dated and turn.said_at is not None else said


def _owner(talk: Talk, place: int, content: str, verdict: Verdict) -> str | None:
    """Whose word it is: whoever spoke, or of whom they told what that one wants or will do."""
    if verdict.type in (MemoryType.PROFILE, MemoryType.TASK_HINT):
        named = talk.name_at_start(content)
        if named is not None:
            return named
    return talk.turn(place).speaker


def _joined(talk: Talk, place: int, *, taken: Collection[int]) -> tuple[int, int]:
    """The evidence: with the sentence before if this one speaks of it, and the one after if that gives the reason."""
    start, end = talk.statements[place].start, talk.statements[place].end
    if points_back(talk.text(place)) and _may_join(talk, place - 1, place, taken=taken):
        start = talk.statements[place - 1].start
    if _may_join(talk, place + 1, place, taken=taken) and gives_reason(talk.text(place + 1)):
        end = talk.statements[place + 1].end
    return start, end


def _may_join(talk: Talk, other: int, place: int, *, taken: Collection[int]) -> bool:
    """Whether a sentence stands with this one in a paragraph, is no candidate itself, and says something."""
    if not 0 <= other < len(talk.statements) or other in taken:
        return False
    one, two = talk.statements[other], talk.statements[place]
    if (one.turn, one.paragraph) != (two.turn, two.paragraph):
        return False
    if max(one.end, two.end) - min(one.start, two.start) > MOST_JOINED_CHARS:
        return False
    text = talk.text(other)
    return not is_question(text, words=talk.words(other)) and not is_report(text) and not points_back(text)


def _asked_before(talk: Talk, place: int, *, told: bool) -> str:
    """What somebody else has just asked, where an answer says no more than "I do that"; `told`: or has told."""
    speaker = talk.turn(place).speaker
    for other in range(place - 1, max(-1, place - 1 - REQUEST_WITHIN), -1):
        text, words = talk.text(other), talk.words(other)
        if talk.turn(other) is talk.turn(place) or (speaker and talk.turn(other).speaker == speaker):
            continue
        if len(words) < LEAST_ASKED_WORDS or is_nameless(text) or points_back(text):
            continue
        asked = is_question(text, words=words)
        said = content_of(talk.original(*talk.statements[other][:2]))
        return f" ({'asked' if asked else 'in answer to'}: {said})" if asked or told else ""
    return ""


def _with_problem(
    talk: Talk, place: int, content: str, *, taken: Mapping[int, Verdict], unmeant: Collection[int]
) -> str:
    """A remedy is worth little without its problem, which may stand some turns earlier.

    Unless it was told just before, they name something in common, or it may be the problem of something else.
    """
    words = talk.weighty_words(place)
    best: tuple[int, int] | None = None
    for other in range(place - 1, max(-1, place - 1 - PROBLEM_WITHIN), -1):
        text = talk.text(other)
        is_other = other in unmeant or (other in taken and taken[other].type is not MemoryType.LESSON)
        if is_other or points_back(text) or is_nameless(text) or not tells_problem(text) or is_remedy(text):
            continue
        shared = len(words & talk.weighty_words(other))
        if shared > (0 if best is None else best[0]) or other == place - 1:
            best = shared, other
    if best is None:
        return content
    other = best[1]
    said = _standing(talk, other, content_of(talk.original(*talk.statements[other][:2])), _TOLD)
    return f"Problem: {said.rstrip(' .?!')}. Remedy: {content}"


_TOLD = Verdict(MemoryType.LESSON, Category.MISTAKE_PATTERN, 0.0)
