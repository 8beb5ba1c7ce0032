"""Judging two statements: are they the same, do they contradict, does the later replace the earlier."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mycel.engine.judging.alignment import Nearness
from mycel.engine.judging.clauses import Clause
from mycel.engine.judging.contradictions import contradiction
from mycel.engine.judging.duplicates import SAME, likeness
from mycel.engine.judging.findings import NOTHING, Finding
from mycel.engine.judging.reading import Reading, read
from mycel.engine.judging.supersession import replacement

CONTRADICTS = 0.5
# Two statements against each other are no near-duplicates to show, whatever words they share.
MOST_ALIKE_AGAINST_EACH_OTHER = 0.55
NEARLY_ALIKE = 0.6
# From this cosine of the built-in model on, two texts that differ in one place mostly answer the same question.
CLOSE = 0.91
# From this one on a single common word is no coincidence, and below the other they are about different things.
NEAR = 0.84
FAR = 0.8
LEAST_COMMON = 0.25


@dataclass(frozen=True, slots=True)
class Statement:
    """`text` is what is said; `subject` are words of its surroundings, such as project, key or category."""

    text: str
    subject: tuple[str, ...] = ()
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """`likeness` from 0.85 on is the same statement, about 0.6 a near-duplicate; `contradiction` counts from 0.5 on."""

    likeness: float
    contradiction: float
    supersedes: bool
    reason: str


def judge(earlier: Statement, later: Statement, *, cosine: float | None) -> Judgement:
    """Promises 1.0 and no contradiction for equal texts, and less than 0.85 for any two that differ in substance."""
    if _plain(earlier.text) == _plain(later.text):
        return Judgement(1.0, 0.0, supersedes=False, reason="the same text")
    first, second = _read(earlier), _read(later)
    alike = likeness(first, second, cosine=cosine)
    if alike >= SAME:
        return Judgement(alike, 0.0, supersedes=False, reason="the same statement in other words")
    is_same_subject = earlier.subject != () and earlier.subject == later.subject
    against = NOTHING if _is_far(cosine) and not is_same_subject else _against(first, second, _nearness(cosine))
    replaces = replacement(first, second, against=against) if _is_in_order(earlier, later) else NOTHING
    against = max(against, replaces)
    if against.score >= CONTRADICTS:
        alike = min(alike, MOST_ALIKE_AGAINST_EACH_OTHER)
    return Judgement(alike, against.score, supersedes=replaces.score > 0, reason=_reason(alike, against))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _read(statement: Statement) -> Reading:
    return read(statement.text, about=statement.subject)


def _is_in_order(earlier: Statement, later: Statement) -> bool:
    return earlier.said_at is None or later.said_at is None or earlier.said_at <= later.said_at


def _is_far(cosine: float | None) -> bool:
    return cosine is not None and cosine < FAR


def _against(first: Reading, second: Reading, nearness: Nearness) -> Finding:
    """The strongest finding of any clause of one against any of the other."""
    meeting = ((one, other) for one in first.clauses for other in second.clauses if _may_meet(one, other))
    return max((contradiction(one, other, nearness=nearness) for one, other in meeting), default=NOTHING)


def _nearness(cosine: float | None) -> Nearness:
    if cosine is None or cosine < NEAR:
        return Nearness.UNKNOWN
    return Nearness.CLOSE if cosine >= CLOSE else Nearness.SOME


def _may_meet(one: Clause, other: Clause) -> bool:
    """A cheap look before the comparison: too few common words never make a frame."""
    common = len(one.akins & other.akins)
    return common > 0 and common >= LEAST_COMMON * min(len(one.akins), len(other.akins))


def _reason(alike: float, against: Finding) -> str:
    if against.score >= CONTRADICTS:
        return against.reason
    return "nearly the same statement" if alike >= NEARLY_ALIKE else "different statements"
