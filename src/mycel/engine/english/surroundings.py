"""What the sentences around one make of it: somebody else's text, a case played through, something taken back."""

from __future__ import annotations

import re

from mycel.engine.english.sections import kind_of

# What a speaker announces as the team's own; whatever else a colon announces may be text to translate or to laugh at.
_OUR_OWN = re.compile(
    r"\b(?:team|repo|project|agents|every(?:one|body)|remember|mind|rules?|decisions?|decided|agreed"
    r"|conventions?|lessons?|notes?|meeting|review|retro|standup|summary|sum up|add)\b",
    re.IGNORECASE,
)
_SUPPOSING = re.compile(
    r"\W*+(?>(?:(?:ok(?:ay)?|so|well|and|but|now|just|please)\b\W*+)*)"
    r"(?:suppose|imagine|pretend|assume|assuming|what if|hypothetically|in theory|say (?:we|they|that)"
    r"|let(?:'s| us|s)? (?:just )?(?:say|assume|suppose|imagine|pretend|play)|thought experiment"
    r"|for the sake of argument)\b",
    re.IGNORECASE,
)
_THAT = r"(?:it|that|this|so)"
# Nothing follows that it could stand before: "forget that", not "don't forget that we freeze on Monday".
_ALONE = r"(?=\s*(?:$|[.,;:!?)-]|please\b|again\b|sorry\b))"
_TAKEN_BACK = re.compile(
    rf"\b(?:(?:scratch|strike|forget|ignore|disregard) (?:what i|my last|the last (?:message|one|line))\b"
    rf"|(?:scratch|strike|forget|ignore|disregard|never mind) {_THAT}{_ALONE}"
    rf"|(?:take|taking) {_THAT} back\b|never mind what\b"
    r"|(?:was|were|am|'m|just|only) (?:just |only )?(?:kidding|joking)\b"
    r"|(?:that|it) was (?:only |just )?a joke\b"
    r"|wrong (?:chat|channel|window|thread|room|tab)\b"
    rf"|(?:not|n't|never) (?:really |actually |even )?(?:decided?|agreed?|settled|said|say|meant?)"
    rf"(?: on| to)? {_THAT}{_ALONE}"
    r"|(?:that|it)(?:'s| is| was|) ?(?:n't|not)(?: yet| really)? "
    r"(?:decided|agreed|settled|final|true|right|correct|what we)\b"
    r"|(?:that|it|this)(?:'s| is) still (?:open|undecided)\b)",
    re.IGNORECASE,
)


def announces_other_text(line: str) -> bool:
    """Whether a line announces words, by its colon, without saying that they are the team's own."""
    line = line.rstrip(" *_")
    return line.endswith(":") and kind_of(line) is None and _OUR_OWN.search(line) is None


def supposes(text: str) -> bool:
    """Whether it opens a case that is only played through."""
    return _SUPPOSING.match(text) is not None


def takes_back(text: str) -> bool:
    """Whether it takes back, or denies, what was said just before."""
    return _TAKEN_BACK.search(text) is not None
