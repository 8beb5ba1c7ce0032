"""Candidates from a transcript, by rules alone."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from mycel.domain.memory import MemoryType
from mycel.domain.source import Candidate, Transcript
from mycel.engine.extraction.chatter import is_question, is_report
from mycel.engine.extraction.judge import Verdict, judge
from mycel.engine.extraction.reasons import alternatives_of, gives_reason, rationale_of
from mycel.engine.extraction.talk import Talk
from mycel.engine.extraction.titles import content_of, title_of
from mycel.engine.extraction.weighing import Weights, fitted

MOST_JOINED_CHARS = 500
# What is said again soon after is the same candidate.
REMEMBERED = 30
ALIKE = 0.75
SURER_WITH_REASON = 0.05
MOST_CONFIDENCE = 0.95
# A cue further in than this does not lead the sentence.
LEADING_CHARS = 40

# What such a word stands for was said in the sentence before.
_REFERS_BACK = re.compile(
    r"\W*+(?:so |and |but |then )?(?:it|that|this|they|these|those)(?:'s|'re|'ll)?\b(?! (?:is|are|was) why\b)",
    re.IGNORECASE,
)


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
    if _REFERS_BACK.match(talk.text(place)) and _may_join(talk, place - 1, place, verdicts=verdicts):
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
