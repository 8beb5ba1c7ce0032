"""A candidate as it will be read: with its speaker, its subject, its days and, of a remedy, the problem."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mycel.domain.marks import EXPLICIT
from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import Candidate
from mycel.engine.extraction.remedy import Story
from mycel.engine.extraction.talk import Talk
from mycel.engine.extraction.verdict import Verdict
from mycel.engine.language import (
    alternatives_of,
    content_of,
    gives_reason,
    is_nameless,
    is_question,
    is_report,
    leans_on_talk,
    name_speaker,
    points_back,
    rationale_of,
    resolve_days,
    tells_after,
    tells_cause,
    title_of,
)

MOST_JOINED_CHARS = 500
SURER_WITH_REASON = 0.05
MOST_CONFIDENCE = 0.95
# A cue further in than this does not lead the sentence.
LEADING_CHARS = 40
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

# Somebody else's words, told beside.
_PLAIN = Verdict(MemoryType.FACT, Category.FACT, 0.0)


def compose(
    talk: Talk, place: int, verdict: Verdict, *, taken: Mapping[int, Verdict], story: Story | None = None
) -> Candidate | None:
    """None where the sentence cannot stand alone.

    `taken` is what the other sentences were found to be; `story` is what a remedy is told with.
    """
    if story is not None and (len(story.places) > 1 or story.trouble is not None):
        return _of_story(talk, place, verdict, story)
    statement = talk.statements[place]
    start, end = _joined(talk, place, taken=taken)
    begins = statement.start + verdict.begins if verdict.drops else statement.start
    sentence = talk.original(begins, statement.end)
    said = content_of(talk.original(begins if verdict.drops else start, end))
    is_dangling = points_back(sentence) and not tells_after(sentence) and start == statement.start
    is_loose = is_dangling or is_nameless(sentence)
    about = ""
    is_answer = is_loose or verdict.drops or (verdict.type in _ANSWERS and leans_on_talk(sentence))
    if is_answer and start == statement.start:
        about = _asked_before(talk, place, told=is_loose and verdict.type is MemoryType.TASK_HINT)
    if is_loose and not about:
        return None
    content = _standing(talk, place, said, verdict) + about
    # Where something is kept is a whole address.
    if len(content.split()) < LEAST_TOLD_WORDS and verdict.type is not MemoryType.REFERENCE:
        return None
    return _candidate(talk, place, verdict, content=content, evidence=(start, end))


def _of_story(talk: Talk, place: int, verdict: Verdict, story: Story) -> Candidate | None:
    """Problem, cause and remedy in one; its evidence is what stands in the turn of the remedy."""
    first = story.places[0]
    sentence = talk.text(first)
    if is_nameless(sentence) or (points_back(sentence) and not tells_after(sentence) and story.trouble is None):
        return None
    told = [_whole(_told(talk, one, verdict)) for one in story.places]
    content = " ".join(told)
    if story.trouble is not None:
        if len(told) > 1 and tells_cause(sentence):
            content = f"Cause: {told[0]} Remedy: {' '.join(told[1:])}"
        else:
            content = f"Remedy: {content}"
        content = f"Problem: {_whole(_told(talk, story.trouble, verdict))} {content}"
    turn = talk.statements[place].turn
    here = [talk.statements[one] for one in story.places if talk.statements[one].turn == turn]
    # A title needs no word of the talk before it.
    titled = first if len(story.places) > 1 else place
    return _candidate(talk, place, verdict, content=content, evidence=(here[0].start, here[-1].end), titled=titled)


def _told(talk: Talk, place: int, verdict: Verdict) -> str:
    return _standing(talk, place, _content(talk, place), verdict)


def _content(talk: Talk, place: int) -> str:
    return content_of(talk.original(*talk.statements[place][:2]))


def _whole(said: str) -> str:
    return said if said.endswith((".", "!", "?")) else f"{said.rstrip(' ,;:')}."


def _candidate(
    talk: Talk,
    place: int,
    verdict: Verdict,
    *,
    content: str,
    evidence: tuple[int, int],
    titled: int | None = None,
) -> Candidate:
    one = place if titled is None else titled
    sentence = talk.original(*talk.statements[one][:2])
    leads = one == place and 0 < verdict.begins <= LEADING_CHARS
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
        taken_back_by=verdict.taken_back_by or None,
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
        if not asked and not told:
            return ""
        # "The assistant" reads as if the one who reads it were meant.
        said = _told(talk, other, _PLAIN) if talk.turn(other).speaker else _content(talk, other)
        return f" ({'asked' if asked else 'in answer to'}: {said})"
    return ""
