"""How a statement reads once it stands alone: its content without the speaker's run-up, and a headline."""

from __future__ import annotations

import re

MOST_TITLE_CHARS = 80
LEAST_TITLE_WORDS = 2
# With less left, the run-up was the sentence.
LEAST_CONTENT_CHARS = 12
CUT = "\u2026"

_LOOSE = (
    r"ok(?:ay)?|so|well|yeah|yep|yup|hmm+|ah+|oh|btw|by the way|and|but|also|anyway|fyi|(?:it )?turns out(?: that)?"
    r"|turned out(?: that)?|pls|please note that"
)
# These lead into a sentence only when a comma, a colon or a full stop follows.
_MARKED = (
    r"right|alright|yes|no|sure|great|good|perfect|cool|nice|thanks|thank you|actually|basically|honestly|note|finally"
    r"|first|second|lastly|then|now|done|true|exactly|in short|to be clear|for the record|quick note|heads[- ]up"
    r"|(?:one|the|a) (?:last|more|other)? ?(?:thing|announcement|question|warning|note|heads-up)|last thing"
    r"|small request"
    r"|good (?:point|catch|question)|fair enough|sounds good|makes sense|agreed|for next time|about [\w ]{3,20}"
    r"|remember"
)
_RUN_UP = re.compile(
    rf"\W*+(?>(?:(?:{_LOOSE})\b[\s,:;.!\u2013\u2014-]++|(?:{_MARKED})\s*+[,:;.!\u2013\u2014-]++\s*+){{1,4}})",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_REASON = re.compile(
    r"(?<![\s,;(\u2013\u2014-])[\s,;(\u2013\u2014-]++(?:because|so that|given that|due to|otherwise"
    r"|since (?!\d|last|then|v\d|yesterday|jan|feb|mar|apr|may\b|jun|jul|aug|sep|oct|nov|dec))\b",
    re.IGNORECASE,
)
_AFTER_CUE = re.compile(r"(?:that|to|on|upon|for|we|it)\s+", re.IGNORECASE)
_NOT_TO = re.compile(r"not to\s+", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"[a-z']+(?![\w.(/:-])")
_CLAUSES = ("; ", ": ", " \u2014 ", " - ", ", ")


def content_of(text: str) -> str:
    """The statement as it stands, on one line, without emphasis and without what led into it."""
    plain = " ".join(_EMPHASIS.sub("", text).split())
    run_up = _RUN_UP.match(plain)
    if run_up and len(plain) - run_up.end() >= LEAST_CONTENT_CHARS:
        plain = plain[run_up.end() :]
    return _capitalised(plain)


def title_of(text: str, *, fallback: str) -> str:
    """A headline from the part after the cue; from the whole content when that part says too little."""
    head = " ".join(_EMPHASIS.sub("", text).split()).lstrip(" :;,.-\u2013\u2014")
    if _NOT_TO.match(head):
        head = _NOT_TO.sub("do not ", head, count=1)
    head = _without_reason(_AFTER_CUE.sub("", head, count=1) if _AFTER_CUE.match(head) else head)
    if len(head.split()) < LEAST_TITLE_WORDS:
        head = _without_reason(fallback)
    return _capitalised(_shortened(head))


def _without_reason(text: str) -> str:
    reason = _REASON.search(text, LEAST_CONTENT_CHARS)
    return (text[: reason.start()] if reason else text).rstrip(" .!,;:")


def _shortened(text: str) -> str:
    """The first clause that fits reads better than a sentence cut anywhere; what stands before a colon says little."""
    before, colon, after = text.partition(": ")
    if colon and len(text) > MOST_TITLE_CHARS and len(before) < len(after) and "://" not in after:
        text = after
    if len(text) <= MOST_TITLE_CHARS:
        return text
    for mark in _CLAUSES:
        head = text[: MOST_TITLE_CHARS + 1].rpartition(mark)[0]
        if len(head) >= MOST_TITLE_CHARS // 2:
            return head
    head, space, _ = text[: MOST_TITLE_CHARS - 1].rpartition(" ")
    return (head.rstrip(" ,;:") if space and head else text[: MOST_TITLE_CHARS - 1]) + CUT


def _capitalised(text: str) -> str:
    """Only a plain word is: code and names such as `eng-1` keep their case."""
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text
