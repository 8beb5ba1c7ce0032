"""Whether a sentence is about work: what it names itself, and what is talked about around it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from mycel.engine.extraction.vocabulary import AMBIGUOUS, PERSONAL, TECHNICAL, WORK
from mycel.engine.extraction.wordset import word_set

# What a sentence that names nothing technical needs in and around it; a few sentences cannot weigh as much as many.
LEAST_WEIGHT = 4.0
LEAST_WEIGHT_EACH = 0.36

# A token that holds none of these is a plain word, and most do not.
_MARK = re.compile(r"[`_/\d]|[A-Za-z][A-Z]|--|\w\.\w")
# Code, addresses, paths, file names, options, names in snake or camel case, versions, sizes, capitals.
_IDENTIFIER = re.compile(
    r"`[^`\n]+`|https?://\S+|(?<![\w-])(?:--[a-z][\w-]+|(?<!\.)[\w.-]*+/[a-z][\w./-]+"
    r"|[\w-]+\.(?:py|tsx?|jsx?|go|rs|rb|java|ya?ml|json|toml|md|sql|sh|env|lock|txt|conf|cfg|ini|css|html|proto|tf"
    r"|pdf|csv"
    r"|cpp|swift|kt)\b"
    r"|[A-Za-z0-9]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z][A-Z0-9]{1,9}s?\b|v?\d+\.\d+\.\d+\b|v\d+\b"
    r"|\d+(?:\.\d+)? ?(?:ms|[kKMGT]i?B|rps|qps|[kMG]?Hz)\b|[a-z]+\d+[a-z]*\b)"
)
_NO_IDENTIFIERS = word_set(
    "OK AM PM TV USA UK US EU LOL OMG BBQ DIY CD DVD FYI BTW IMO IMHO ASAP NB PS PTO OOO WOW and/or he/she 24/7"
)
_TECHNICAL, _WORK, _PERSONAL = range(3)
_SORTS = (
    dict.fromkeys(TECHNICAL, _TECHNICAL) | dict.fromkeys(AMBIGUOUS | WORK, _WORK) | dict.fromkeys(PERSONAL, _PERSONAL)
)


class Topic(NamedTuple):
    """How many words of each sort a sentence has."""

    technical: int
    work: int
    personal: int

    @property
    def weight(self) -> float:
        """How much it speaks for work; a word that also turns up elsewhere counts half."""
        return self.technical + self.work / 2


def topic_of(text: str, *, words: Collection[str], names: Collection[str] = ()) -> Topic:
    """What the sentence is about; the names of those who speak say nothing about it."""
    counts = [0, 0, 0]
    for word in {word for word in words if word in _SORTS}:
        counts[_SORTS[word]] += 1
    if _MARK.search(text):
        for name in _identifiers(text, names=names):
            # Letters alone may be the name of anything.
            counts[_WORK if name.isalpha() and name.isupper() else _TECHNICAL] += 1
    return Topic(*counts)


def is_about_work(topic: Topic, *, weight: float, personal: int, sentences: int) -> bool:
    """By what it names itself, or else by what those sentences weigh that stand around it, itself among them."""
    if topic.personal > topic.weight or personal >= weight:
        return False
    return topic.technical > 0 or weight >= min(LEAST_WEIGHT, LEAST_WEIGHT_EACH * sentences)


def _identifiers(text: str, *, names: Collection[str]) -> set[str]:
    found = {match[0] for match in _IDENTIFIER.finditer(text)}
    return {name for name in found if name not in _NO_IDENTIFIERS and name.lower() not in names}
