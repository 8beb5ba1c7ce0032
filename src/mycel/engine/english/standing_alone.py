"""A sentence as it reads outside of its talk: who "I" is, and whether it can stand at all."""

from __future__ import annotations

import re

from mycel.engine.english import word_set
from mycel.engine.english.verbs import BASE, is_past, third_person

# Between "I" and its verb.
_ADVERBS = word_set(
    "always never usually generally really also just only still first then strongly personally mostly often rarely "
    "much kinda normally definitely already finally now"
)
# What follows "I" and stays as it is.
_UNCHANGED = word_set(
    "will would can could should must might may shall was had did won't wouldn't can't cannot couldn't shouldn't "
    "mustn't wasn't hadn't didn't wrote read put set cut let and or"
)
# Nobody promises these: whoever says "I think" thinks so already.
_STATES = word_set(
    "agree believe doubt expect feel guess hear hope know like mean need prefer see suppose suspect think want wonder"
)
_IRREGULAR = {"am": "is", "have": "has", "do": "does", "don't": "does not", "dont": "does not", "haven't": "has not"}
_SHORT = {"'ll": " will", "'m": " is", "'ve": " has", "'d": " would"}
_FIRST_PERSON = re.compile(
    r"(?<![\w`/.-])(?:(?P<subject>i)(?P<short>'(?:ll|m|ve|d))?|(?P<owner>my|mine)|(?P<object>me)|(?P<self>myself))"
    r"(?![\w`/-]|\.\w)",
    re.IGNORECASE,
)
_FOR_ONESELF = re.compile(r"\b(?:for|to|by|of|from|with|about|at|on)\s+$", re.IGNORECASE)
_WILL_FIRST = re.compile(r"will [a-z]", re.IGNORECASE)
_NEXT_WORDS = re.compile(r"(?P<between>(?:\s+[a-z]+)??)(?P<space>\s+)(?P<verb>[a-z']+)", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"")


def name_speaker(text: str, speaker: str, *, promises: bool = False) -> str:
    """Says by name what somebody said of themselves: "I'll move it" becomes "ops-1 will move it".

    Whoever `promises` may leave out who will, or say that they do what they are going to do.
    """
    text = text.replace("\u2019", "'")
    if promises and _WILL_FIRST.match(text):
        text = f"I {text[0].lower()}{text[1:]}"
    quoted = [match.span() for match in _CODE.finditer(text)]
    pieces: list[str] = []
    at = 0
    for match in _FIRST_PERSON.finditer(text):
        if match.start() < at or any(start <= match.start() < end for start, end in quoted):
            continue
        pieces.append(text[at : match.start()])
        at = match.end()
        if match["subject"]:
            said, at = _named_subject(text, match, speaker, does="will {}" if promises else None)
            pieces.append(said)
        elif match["self"] and not _FOR_ONESELF.search(pieces[-1]):
            # "I'll do it myself": who does it is said already.
            pieces[-1] = pieces[-1].rstrip()
        else:
            pieces.append(f"{speaker}'s" if match["owner"] else speaker)
    return "".join((*pieces, text[at:]))


def _named_subject(text: str, match: re.Match[str], speaker: str, *, does: str | None) -> tuple[str, int]:
    short = (match["short"] or "").lower()
    if short:
        follows = _NEXT_WORDS.match(text, match.end())
        # "I'd prefer" is a wish, "I'd tried" is a past.
        had = short == "'d" and follows is not None and is_past(follows["verb"].lower())
        return speaker + (" had" if had else _SHORT[short]), match.end()
    follows = _NEXT_WORDS.match(text, match.end())
    if follows is None:
        return speaker, match.end()
    if follows["between"] and follows["between"].strip().lower() not in _ADVERBS:
        return speaker, match.end()
    verb = follows["verb"]
    if not follows["between"] and verb.lower() in _ADVERBS:
        further = _NEXT_WORDS.match(text, follows.end())
        if further is None or further["between"]:
            return speaker, match.end()
        return f"{speaker} {verb} {_of_another(further['verb'], does)}", further.end()
    return f"{speaker}{follows['between']} {_of_another(verb, does)}", follows.end()


def _of_another(verb: str, does: str | None) -> str:
    known = verb.lower()
    if known in _UNCHANGED or is_past(known):
        return verb
    if does is not None and known in BASE and known not in _STATES:
        return does.format(known)
    return _IRREGULAR.get(known) or third_person(known)


# A subject that stands for something said before; a clause that follows says what it is ("it is official that").
_POINTS_BACK = re.compile(
    r"\W*+(?>(?:(?:so|and|but|then|ok|okay|yes|no|well|also|btw|yeah|turned out|turns out|agreed)\b[\s,:.-]*+)*)"
    r"(?:(?:it|that|this|they|these|those|he|she)(?:'s|'re|'ll|'d)?"
    r"(?!\s++(?:(?:is|was)\s++)?(?:official|forbidden|not allowed|allowed|required|mandatory|a rule|the rule|not the"
    r"|not your|not our|repo|repository|project|team|service|module|branch|sprint|release|week|month))"
    r"|(?:the )?(?:same|other|first|second|third|former|latter)(?: one| thing| two)?(?= |,|$)"
    r"|(?:both|neither|either)(?= of (?:them|these|those)| (?:is|are|was|were)\b)"
    # Of something that is not even named by a pronoun.
    r"|(?:does|did|is|was|has|would|are|were)n't(?= \w))\b",
    re.IGNORECASE,
)
# "It" that stands for the clause after it.
_TOLD_AFTER = re.compile(
    r"\W*+(?:(?:so|and|but|then) )?it turn(?:s|ed) out (?:that )?(?!(?:it|that|this|they|to)\b)", re.IGNORECASE
)
# Words that mean nothing without the talk, wherever they stand.
_NAMELESS = re.compile(
    r"\b(?:the (?:other|second|first|third|last|same|old|new|left|right|[a-z]+e[rs]t?) one|that one|this one"
    r"|the (?:other|second|first|third|former|latter)(?=\s*(?:$|[.,;!)]))|those two|these two"
    r"|the same (?:thing|way|as before)|as before|like (?:this|that|last time)|what (?:it|that) was"
    r"|(?:do|doing|take|taking|pin|pinning|fix|change) (?:it|that|so|this)"
    r"|(?:all|any|some|none) of (?:it|them|that|those)|over there|in there"
    r"|on that again)\b",
    re.IGNORECASE,
)
# Something that is done, taken or told, and that only the talk names: "I'll send it tomorrow", "512 it is".
_LEANS = re.compile(
    r"\b(?:it|that|this|them|those|these|one)\b(?=\s*(?:$|[.,;!)]|(?:is|was|out|up|in|on|off|over|down|back|to|for|from|with|by"
    r"|at|before|until|till|today|tomorrow|tonight|now|then|first|next|there|again|too|as|and|by|this|around)\b))",
    re.IGNORECASE,
)
# Says yes to what somebody else has said.
_AGREES = re.compile(
    r"\W*+(?>(?:(?:ok|okay|yes|yeah|sure|fine|right|and|so|then)\b[\s,:.-]*+)*)"
    r"(?:can do|will do|sounds (?:good|fine|right)|works for (?:me|us)|(?:fine|good|ok|okay) (?:by|with|for) me"
    r"|good (?:idea|plan|point)|deal|makes sense)\b",
    re.IGNORECASE,
)
# A time names nothing.
_NAMED = (
    r"`|\b[a-z]+[-_/.][\w-]+|\b[A-Z]{2,}|\b[A-Z][a-z]+[A-Z]"
    r"|\bthe (?!(?:end|beginning|start|morning|evening|night|weekend|week|month|quarter|year|next|last|first)\b)"
    r"[a-z]{4,}"
)
_NAME = re.compile(_NAMED, re.ASCII)
_THING = re.compile(rf"{_NAMED}|\d", re.ASCII)
LEAST_NAMED = 5
# A shorter decision or promise is mostly the answer to something.
LEAST_TOLD = 7


# Says yes or no to a question, which says what to.
_ELLIPTIC = re.compile(
    r"\W*+(?>(?:(?:yes|yeah|yep|no|nope|sure)\b[\s,]*)?)(?:we|i|they|you|it|he|she) "
    r"(?:do|does|did|is|are|am|was|were|have|has|had|can|could|will|would|should)(?:n't|n\u2019t| not)?"
    r"(?=\s*(?:$|[.,;!:]))",
    re.IGNORECASE,
)


def points_back(text: str) -> bool:
    """Whether its subject, or what it says of it, was named in another sentence."""
    return _POINTS_BACK.match(text) is not None or _ELLIPTIC.match(text) is not None


def tells_after(text: str) -> bool:
    """Whether its "it" is told in the same sentence: "it turned out that the disk was full"."""
    return _TOLD_AFTER.match(text) is not None


def is_nameless(text: str) -> bool:
    """Whether it speaks of something that only the talk around it names."""
    agrees = _AGREES.match(text)
    if agrees is not None and len(text[agrees.end() :].split()) < LEAST_TOLD:
        return True
    said = _NAMELESS.search(text)
    if said is None:
        return False
    rest = text[: said.start()] + text[said.end() :]
    return len(rest.split()) < LEAST_NAMED or _THING.search(rest) is None


def leans_on_talk(text: str) -> bool:
    """Whether a decision or a promise reads as an answer: what it is about was named before."""
    return len(text.split()) < LEAST_TOLD or (_LEANS.search(text) is not None and _NAME.search(text) is None)
