"""What is said in passing and not worth keeping: questions, maybes, what is still open, offers, progress."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mycel.engine.extraction.wordset import word_set

_START = (
    r"\W*+(?>(?:(?:ok(?:ay)?|so|well|right|alright|yeah|yes|yep|no|hmm+|and|but|also|then|now|great|good|sure|thanks"
    r"|perfect"
    r"|actually|done|understood|noted|got it)\b[\s,.!:;-]*+){0,4})"
)
_QUESTION = re.compile(
    rf"{_START}(?:(?:should|shall|can|could|would|do|does|did|is|are|am|was|were|have|has|will|may|might)(?:n't)? "
    r"(?:we|i|you|they|he|she|it|the|that|this|these|there|our|your|anyone|anybody|someone|somebody)\b"
    r"|what\b|how\b|why\b|who\b|where\b|which\b|any idea|i wonder|when (?:do|did|does|is|are|will)\b)",
    re.IGNORECASE,
)
# Without one of these among its first words a sentence is no question.
_ASKING = word_set(
    """
    should shall can could would do does did is are am was were have has will may might shouldn't can't couldn't
    wouldn't don't doesn't didn't isn't aren't wasn't weren't haven't hasn't won't what how why who where which any
    wonder when
    """
)
_TAKEN_BACK = re.compile(
    r"(?:\b(?:not|never|yet to|nothing|nobody|no one|none|before|until|once|unless|whether|if|when|after|should|could"
    r"|would"
    r"|might|may|must|can|need to|needs to|have to|has to|want to|wants to|who|what|why|how|where|which|to be|being"
    r"|cannot)"
    r"|n't)(?:(?:'ve)? (?:have|has|had|been|yet|we|they|you|i|he|she|it|is|was|all|fully|really|actually|be|get|the"
    r"|team)"
    r"){0,6}\s*$",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(r"\W*+(?:yet|whether|what to|how to|later|nothing|anything|which|on nothing)\b", re.IGNORECASE)
_OFFER = (
    r"i can|i could|i'll|i will|i'm going to|i am going to|let me|lemme|allow me|i'd be happy|happy to|glad to"
    r"|feel free"
    r"|want me to|if you(?:'d| would)? (?:like|want|prefer)|just let me know|here(?:'s| is| are)"
)
_PROGRESS = (
    r"i've|i have|i'm|i am|i just|just|running|checking|looking|reading|searching|starting|trying|working|updating"
    r"|adding"
    r"|added|fixing|fixed|creating|created|writing|testing|applying|removed|updated|renamed|linked|parked|split into"
    r"|now i"
    r"|next i|first i|all (?:\d+ )?(?:tests|checks|green)|i (?:also )?(?:added|updated|fixed|created|changed|ran"
    r"|checked"
    r"|removed|wrote|see|found|looked|opened|pushed|merged|committed|moved|renamed|implemented|refactored|put|set)"
)
_REPORT = re.compile(rf"{_START}(?:{_OFFER}|{_PROGRESS})\b", re.IGNORECASE)
_SINCE_WHEN = re.compile(r"\bsince \d{1,2}:\d\d\b|\b\d{1,3}% and\b")


def is_question(text: str, *, words: Sequence[str]) -> bool:
    if "?" in text[-4:] and text.rstrip(" \"')*`").endswith("?"):
        return True
    return not _ASKING.isdisjoint(words[:6]) and _QUESTION.match(text) is not None


def is_taken_back(before: str, after: str) -> bool:
    """Whether what stands around a verb of deciding leaves it open: "we haven't … yet"."""
    return _TAKEN_BACK.search(before[-60:]) is not None or _LEFT_OPEN.match(after) is not None


def is_report(text: str) -> bool:
    """An offer, or a word on how the work goes."""
    return _REPORT.match(text) is not None


def is_measured_now(text: str) -> bool:
    """A reading of the moment: "since 10:12", "12% and rising"."""
    return _SINCE_WHEN.search(text) is not None
