"""Problems and what cured them: a remedy is kept together with the problem it is for."""

from __future__ import annotations

import re

_CURE = re.compile(
    r"\b(?:(?:the|my|our|a) (?:actual |real |final |only )?(?:fix|solution|remedy|cure|workaround|trick)"
    r"(?: (?:for|of|to|against) [\w `'-]{2,40}?)? (?:was|is)"
    r"|^\W*(?:so )?(?:fix|solution|remedy|workaround)(?: was| is|:)"
    r"|works? (?:now|again|fine now)|fixed|solved|cured|resolved|helped|(?:did|does) the trick"
    r"|(?:is|are) gone (?:now|since)|no more \w+ since)(?!\w)",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:turn(?:ed|s) out|(?:root )?cause|caused by|culprit"
    r"|(?:the|our) (?:reason|problem|issue|bug|trouble) (?:was|is)"
    r"|found (?:it|the (?:cause|reason|culprit|problem|issue|bug)))\b",
    re.IGNORECASE,
)
_FOR = re.compile(r"\b(?:fix|solution|remedy|cure|workaround|trick) (?:for|of|to|against) \w", re.IGNORECASE)
_ATTEMPT = re.compile(r"\b(?:tried|attempted|first attempt)\b", re.IGNORECASE)
_PROBLEM = re.compile(
    r"\b(?:(?:fail|crash|break|hang|leak|stall|time|throw|die|block|miss|lose|drop|corrupt|duplicat|doubl)(?:s|es|ed|ing|e"
    r"|ure|ures)?(?: out)?|broke(?:n)?|died|lost|hung|stuck|error|errors|exception|flaky|slow|slower|wrong|red|down"
    r"|timeouts?|deadlocks?|outage|bug|denied|refused|rejected|empty|stale|cannot|can't|won't|doesn't|does not|not work"
    r"(?:ing)?|(?:not|n't) help|[45]\d\ds?|missing|twice|why (?:is|are|do|does|did))\b",
    re.IGNORECASE,
)


def is_remedy(text: str) -> bool:
    """Whether it tells what cured something, or what it was."""
    return _CURE.search(text) is not None or _CAUSE.search(text) is not None


def tells_cure(text: str) -> bool:
    return _CURE.search(text) is not None


def names_its_problem(text: str) -> bool:
    """Whether a cure says itself what it is for: "the fix for the import was"."""
    return _FOR.search(text) is not None


def tells_cause(text: str) -> bool:
    return _CAUSE.search(text) is not None


def tells_attempt(text: str) -> bool:
    """Whether it tells what somebody tried, mostly in vain."""
    return _ATTEMPT.search(text) is not None


def tells_problem(text: str) -> bool:
    """Whether it tells that something went wrong."""
    return _PROBLEM.search(text) is not None
