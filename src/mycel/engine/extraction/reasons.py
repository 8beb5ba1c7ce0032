"""Why something was decided, and what was decided against, where the text says so."""

from __future__ import annotations

import re

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
