"""Who is to do what: work given to somebody by name, and work that somebody takes on."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mycel.engine.english import word_set
from mycel.engine.english.verbs import BASE, THIRD_PERSON

LEAST_WORDS = 5
# What stands farther from a name has nothing to do with it.
_BESIDE = 400

_TOOK_ON = re.compile(
    r"(?:\bi'll|\bi will|\bi'm going to|\bi am going to|(?:^|[,;:.] )will|(?P<bare>(?:^|[,;:.] |\bthen |\band )i))"
    r"(?: also| then| just| quickly| try to)? (?P<verb>[a-z]+)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_TAKES = re.compile(
    r"\bi(?:'ll| will)? take (?:it|that|this|care|the|over)\b|\bi'm doing (?:that|it|this)\b", re.IGNORECASE
)
_DOING = re.compile(r"\bi'm (?:also )?(?P<doing>[a-z]+ing)\b", re.IGNORECASE)
_SOON = re.compile(
    r"\b(?:today|tomorrow|tonight|this (?:week|afternoon|sprint|month)|next (?:week|sprint|month)|for the weekend"
    r"|by (?:the |end |mon|tue|wed|thu|fri|noon)|(?:on|before|until|for) (?:mon|tues|wednes|thurs|fri)day|before the"
    r"|end of)\b",
    re.IGNORECASE,
)
# Said without an end in sight, or no work at all.
_VAGUE = word_set(
    """
    agree assume believe call care check expect feel find forget get go guess have hear hope join keep know leave
    let like look love mean mention miss need notice prefer reach read remember run say see seem stand start stay
    suggest suppose talk think trust try understand use wait want watch wonder work worry
    """
)
_NEVER = word_set("be have join know leave let like live need see think try wait want")
_NOT_GIVEN = word_set("has knows likes means needs prefers says seems thinks uses wants was works")
_SPEAKER = frozenset(("i", "i'll", "i'm", "will"))
_ASKED = re.compile(r"\b(?:please|pls|can you|could you)\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z']+")


def name_pattern(names: Collection[str]) -> re.Pattern[str] | None:
    """Where one of the names stands; None when there are none."""
    if not names:
        return None
    either = "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])", re.IGNORECASE)


def assigns(text: str, *, named: re.Pattern[str]) -> bool:
    """Whether the sentence gives work to one of those named."""
    if len(text.split()) < LEAST_WORDS:
        return False
    return any(
        _is_given(
            text[max(0, match.start() - _BESIDE) : match.start()], text[match.end() : match.end() + _BESIDE].lower()
        )
        for match in named.finditer(text)
    )


def takes_on(text: str, *, words: Sequence[str]) -> bool:
    """Whether the speaker says that he will do a piece of work, and which."""
    if len(words) < LEAST_WORDS or _SPEAKER.isdisjoint(words):
        return False
    soon = _SOON.search(text) is not None
    doing = _DOING.search(text)
    return (
        _TAKES.search(text) is not None
        or any(_is_work(match, soon=soon) for match in _TOOK_ON.finditer(text))
        or (soon and doing is not None and doing["doing"].lower() not in {"going", "looking", "trying", "working"})
    )


def _is_given(before: str, after: str) -> bool:
    words = _WORD.findall(after[:60])
    if not words:
        return before.rstrip().endswith(",") and (_ASKED.search(before) is not None or _begins_with_verb(before))
    if after.startswith(","):
        return words[0] in {"please", "pls", "can", "could"} or words[0] in BASE or _ASKED.search(after) is not None
    if not after.startswith(" "):
        return False
    return (
        words[0] in {"will", "should"}
        or (words[0] in THIRD_PERSON and words[0] not in _NOT_GIVEN)
        or words[:2] in (["needs", "to"], ["has", "to"])
        or (len(words) > 1 and words[0] in {"to", "please", "pls"} and words[1] in BASE)
    )


def _begins_with_verb(text: str) -> bool:
    words = [word for word in _WORD.findall(text.lower()) if word not in {"ok", "and", "then", "so", "please"}]
    return len(words) >= 4 and words[0] in BASE


def _is_work(match: re.Match[str], *, soon: bool) -> bool:
    verb, rest = match["verb"].lower(), match["rest"].split()
    promised = match["bare"] is None
    if verb not in BASE or verb in _NEVER or len(rest) < 2:
        return False
    if verb in _VAGUE:
        return soon and promised
    return promised or soon or rest[0].lower() in {"the", "a", "an", "it", "them", "that", "this", "all", "both", "to"}


# Not the I of I/O.
_ONESELF = re.compile(r"(?<![\w/])(?:I|I['\u2019](?:m|d|ve|ll)|[Mm]y|me|[Mm]ine|[Mm]yself)(?![\w/])")


def speaks_of_oneself(text: str) -> bool:
    return _ONESELF.search(text) is not None
