"""The part of a text that shows best why it was found."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from mycel.retrieval.analysis import Span, spans
from mycel.retrieval.terms import Holders

ELLIPSIS = "…"

# What is emphasised in markdown, which would be taken for a matched word.
_EMPHASIS = re.compile(r"(?<![\w*])(\*{2,3})(?=[^\s*])([^*\n]{1,200}+)(?<=\S)\1(?![\w*])")
_OTHER_STARS = re.compile(r"\*{2,}")
# Of the same width as what it stands for, so that every word stays in its place until the text is cut.
_LEFT_OUT, _STAR = "\0", "\N{ASTERISK OPERATOR}"

# How far a cut may move to fall between two words; beyond it, the text has no spaces to speak of.
_CUT_SLACK_CHARS = 24


def make_snippet(text: str, terms: Collection[str], *, length: int = 200, holders: Holders | None = None) -> str:
    """About `length` characters of the text where most of the terms meet, each matched word marked as **word**.

    The beginning of the text where none is found. White space is collapsed, … stands for what was cut, what the text
    emphasises itself is left plain. `holders` of these terms, or of all that was asked, are for whoever makes several.
    """
    text = _without_emphasis(text)
    hits = list(_hits(text, terms=frozenset(terms), holders=holders))
    start, end = _window(text, hits=hits, length=length)
    shown = " ".join(_marked(text, hits=hits, start=start, end=end).split())
    before = ELLIPSIS if text[:start].strip() else ""
    after = ELLIPSIS if text[end:].strip() else ""
    return f"{before}{shown}{after}".replace(_LEFT_OUT, "")


def _without_emphasis(text: str) -> str:
    if "**" not in text:
        return text
    plain = _EMPHASIS.sub(lambda found: found[2].join([_LEFT_OUT * len(found[1])] * 2), text)
    return _OTHER_STARS.sub(lambda found: _STAR * len(found[0]), plain)


def _hits(text: str, *, terms: frozenset[str], holders: Holders | None) -> Iterator[Span]:
    """The matched words, where characters of one CJK run that touch are one word."""
    pending: Span | None = None
    for span in spans(text, among=terms, choose=holders.among if holders else None):
        hit = Span(span.start, span.end, span.terms & terms)
        if pending and pending.end == hit.start:
            pending = Span(pending.start, hit.end, pending.terms | hit.terms)
            continue
        if pending:
            yield pending
        pending = hit
    if pending:
        yield pending


def _window(text: str, *, hits: Sequence[Span], length: int) -> tuple[int, int]:
    if len(text) <= length:
        return 0, len(text)
    if not hits:
        return 0, _cut_before(text, at=length, floor=0)
    first, last = _densest(hits, length=length)
    room = max(0, length - (last.end - first.start))
    start = min(max(0, first.start - room // 2), len(text) - length)
    end = min(len(text), start + length)
    if start > 0:
        start = _cut_after(text, at=start, ceiling=first.start)
    return start, _cut_before(text, at=end, floor=last.end)


def _densest(hits: Sequence[Span], *, length: int) -> tuple[Span, Span]:
    """The first and last hit of the stretch with the most distinct terms, then the most hits; the earliest wins."""
    best, best_score = (hits[0], hits[0]), (0, 0)
    left = distinct = 0
    inside: Counter[str] = Counter()
    for right, hit in enumerate(hits):
        for term in hit.terms:
            distinct += not inside[term]
            inside[term] += 1
        while left < right and hit.end - hits[left].start > length:
            for term in hits[left].terms:
                inside[term] -= 1
                distinct -= not inside[term]
            left += 1
        if (distinct, right - left) > best_score:
            best, best_score = (hits[left], hit), (distinct, right - left)
    return best


def _cut_before(text: str, *, at: int, floor: int) -> int:
    """The nearest place at or before `at` where a word ends, or `at` itself."""
    if at >= len(text):
        return len(text)
    for place in range(at, max(floor, at - _CUT_SLACK_CHARS) - 1, -1):
        if text[place].isspace():
            return place
    return at


def _cut_after(text: str, *, at: int, ceiling: int) -> int:
    """The nearest place at or after `at` where a word begins, or `at` itself."""
    for place in range(at, min(ceiling, at + _CUT_SLACK_CHARS) + 1):
        if text[place - 1].isspace():
            return place
    return at


def _marked(text: str, *, hits: Sequence[Span], start: int, end: int) -> str:
    pieces: list[str] = []
    at = start
    for hit in hits:
        if hit.end <= start or hit.start >= end:
            continue
        shown_from, shown_to = max(hit.start, start), min(hit.end, end)
        pieces += (text[at:shown_from], "**", text[shown_from:shown_to], "**")
        at = shown_to
    return "".join((*pieces, text[at:end]))
