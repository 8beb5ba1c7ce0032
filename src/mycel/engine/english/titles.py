"""How a statement reads once it stands alone: its content, a headline, why it was decided and against what."""

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
    r"|(?:last|one|another|next|first) (?:more )?(?:point|thing|topic)(?: from (?:me|us|my side|our side))?"
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


MOST_ALTERNATIVES = 4

_BECAUSE = re.compile(
    r"(?:\bbecause(?: of)?|\bso that|\bdue to|\bgiven that|\bthe (?:main )?reason (?:is|was|being)(?: that)?"
    r"|\b(?:reason|rationale|why):"
    r"|\bon the grounds that|(?<=, )as (?=it |we |they |the |nobody )|\bsince (?!\d|last\b|then\b|v\d|yesterday\b"
    r"|january|february|march|april"
    r"|may\b|june|july|august|september|october|november|december))\s*(?P<reason>\S.{2,})",
    re.IGNORECASE | re.DOTALL,
)
_STARTS_REASON = re.compile(
    r"\W*+(?:because\b|(?:the |main |our )*reason\b|rationale\b|why:|that(?:'s| is| way)\b|this (?:way|is because)\b"
    r"|otherwise\b"
    r"|it's because\b|it is because\b|so that\b|since (?:it|we|the)\b)",
    re.IGNORECASE,
)
# What was passed over ends at the next clause.
_END = (
    r"(?=$|[.,;:!)(\n]| \u2014| - | because\b| since\b| so\b| for (?:the|our|this|now|all|its|better|every|new)\b"
    r"| as (?:it|the|we)\b| given\b| due\b| when\b| and (?:we|it|then)\b| in (?:the|our|order)\b| to\b)"
)
_INSTEAD = re.compile(
    rf"(?:\binstead of|\brather than|\bas opposed to|, not|and not)\s+(?P<other>[^\s,.;:][^,.;:!?()\n]{{0,60}}?){_END}",
    re.IGNORECASE,
)
_OVER = re.compile(
    rf"\b(?:chose|choose|picked|prefer(?:red|s)?|selected|went with|go with|going with|like"
    rf"|opted for)\b.{{2,80}}?\bover\s+"
    rf"(?P<other>[^\s,.;:][^,.;:!?()\n]{{0,60}}?){_END}",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    rf"\b(?:decided against|opted against|voted against|ruled out|we rejected|(?:switch|mov|migrat)(?:ed|ing"
    rf"|e)? (?:away )?(?:from|off))\s+"
    rf"(?:using )?(?P<other>[^\s,.;:][^,.;:!?()\n]{{0,60}}?){_END}",
    re.IGNORECASE,
)
_FAVOUR = re.compile(
    r"\b(?:dropped|drop|abandoned|replaced|rejected)\s+(?P<other>[^,.;:!?()\n]{2,60}?) (?:in favou?r of|with)\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?<!\s)\s+(?:or|and)\s+")


def rationale_of(text: str) -> str | None:
    """The reason given, on one line; None where there is none."""
    found = _BECAUSE.search(text)
    if found is None:
        return None
    reason = " ".join(found["reason"].split()).rstrip(" .!)")
    return reason[:1].upper() + reason[1:] if reason else None


def alternatives_of(text: str) -> tuple[str, ...]:
    """What was passed over, in the words of the text."""
    found: dict[str, None] = {}
    for pattern in (_INSTEAD, _OVER, _AGAINST, _FAVOUR):
        for match in pattern.finditer(text):
            for part in _BETWEEN.split(match["other"]):
                name = part.strip(" `*\"'")
                if name:
                    found[name] = None
    return tuple(found)[:MOST_ALTERNATIVES]


def gives_reason(text: str) -> bool:
    """Whether a sentence begins as the reason for the one before."""
    return _STARTS_REASON.match(text) is not None
