"""What is said outright: words by which a speaker marks a decision, a lesson, a rule or a wish as such.

They say what a sentence is, and they are grounds for believing that it was meant. What is hypothetical, quoted, asked,
denied or told of others is not said outright, whatever its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mycel.domain.memory import Category, MemoryType

Kind = tuple[MemoryType, Category]

DECISION: Kind = (MemoryType.DECISION, Category.DECISION)
LESSON: Kind = (MemoryType.LESSON, Category.BEST_PRACTICE)
MISTAKE: Kind = (MemoryType.LESSON, Category.MISTAKE_PATTERN)
CONVENTION: Kind = (MemoryType.FACT, Category.CONVENTION)
FACT: Kind = (MemoryType.FACT, Category.FACT)
TASK: Kind = (MemoryType.TASK_HINT, Category.FACT)
REFERENCE: Kind = (MemoryType.REFERENCE, Category.FACT)
PREFERENCE: Kind = (MemoryType.PROFILE, Category.PREFERENCE)

# Possessive, or a run of such words would be tried in every possible division.
_RUN_UP = (
    r"^(?:\[\d{1,2}:\d\d(?::\d\d)?\])?\W*+"
    r"(?>(?:(?:ok(?:ay)?|so|then|and|right|fine|alright|yes|yep|also|btw|oh|but|please|pls|fyi|one more thing"
    r"|thx|thanks|again|for (?:all|the team|everyone|the record)|all|everyone|everybody|team|hi|hey)\b\W*+)*)"
)
_LABEL = r"[*\s]{0,3}(?::|\s[-\u2013\u2014](?=\s)|\u2014)[\s*]*"
# A few words between the mark and its colon: "Resolution of today's review:".
_ABOUT = r"(?: [\w'/.-]+){0,6}"
# "After the benchmark we …", "In the meeting we …"
_OCCASION = r"(?:after|in|at|during|following|for) (?:[\w'-]+ ){0,4}?[\w'-]+,? (?=we\b|the team\b|i\b)"
_WE = (
    r"(?:we|the team|everybody|everyone)(?:'ve| have| has)?"
    r"(?: (?:all|both|finally|just|also|already|now|only|definitely|jointly|unanimously))?"
)
_I = rf"(?:{_OCCASION})?(?:{_WE}|i(?:'ve| have)?(?: (?:just|finally|already|now))?)"
_CHOSE = r"(?:chose|chosen|picked|selected|went with|gone with|are going with|go with|rejected|adopted|approved)"
# No order has one of these for its verb: "always nice to see", "always with the semicolons".
_NO_VERB = (
    r"(?:a|an|the|so|too|very|with|without|like|there|when|if|that|this|these|those|my|your|his|her|their|"
    r"nice|good|great|bad|fun|funny|sad|happy|glad|sorry|easy|hard|worth|interesting|useful"
    r"|helpful|amazing|annoying|weird|better|best|worse|worst)"
)
# What only the talk around it names.
_POINTED_AT = (
    r"(?:like )?(?:that|this|it|them|those|these|here|there|now|him|her"
    r"|(?:the|that|this) (?:[a-z]+ )?(?:one|ones|other|former|latter|same|thing|way))\s*[:,;]\s*"
)
_SHELF_NAME = r"(?:the (?:wiki|repo|handbook|shared drive)\b|`|https?://|(?<![\w-])[\w-]++[/.][\w./-]+)"
_SHELF = rf"(?:in|at|under|on) {_SHELF_NAME}"


class Mark(NamedTuple):
    """A way to say something outright.

    `leads`: it is no part of the statement. `grounds`: it tells more than what the sentence is, namely that it holds.
    `drops`: it means nothing outside of the talk.
    """

    kind: Kind
    pattern: re.Pattern[str]
    leads: bool
    grounds: bool
    drops: bool


class Outright(NamedTuple):
    """What a sentence says of itself, and where the statement begins."""

    kind: Kind
    begins: int
    grounds: bool
    drops: bool = False


def _marks(
    kind: Kind, *patterns: str, leads: bool = False, grounds: bool = True, drops: bool = False
) -> Iterator[Mark]:
    for pattern in patterns:
        yield Mark(kind, re.compile(_RUN_UP + pattern, re.IGNORECASE), leads or drops, grounds, drops)


MARKS = (
    *_marks(
        DECISION, r"(?:it|that)(?:'s| is) (?:settled|decided|agreed)(?: then)?[,;] ?(?=\S)", drops=True, grounds=False
    ),
    *_marks(CONVENTION, rf"no,? not {_POINTED_AT}(?=\S)", drops=True),
    *_marks(
        DECISION,
        rf"(?:(?:the|our|final|team|key|joint|new|official|we)\s)*(?:decision|decided|agreed|agreement|resolution|resolved"
        rf"|verdict|outcome|consensus){_ABOUT}{_LABEL}",
        rf"(?:final(?: call| word)?|(?:(?:it|that)(?:'s| is) )?(?:settled|decided|agreed)(?: then)?){_LABEL}",
        rf"i(?:'m| am) making the call{_ABOUT}{_LABEL}",
        rf"{_WE} (?:decided|agreed|settled|opted|voted|resolved) (?=(?:to|that|on|upon|for|against|not)\b)",
        leads=True,
    ),
    *_marks(
        DECISION,
        rf"{_WE} (?:decided|agreed|settled|opted|voted|resolved) (?=(?:in|with|at|during|today)\b)",
        rf"{_WE}(?: have|'ve) chosen\b",
        r"(?:the|our|final) (?:final )?(?:decision|verdict|consensus) (?:is|was|stands)(?: to| that)?\b",
    ),
    *_marks(
        DECISION,
        rf"{_WE} {_CHOSE}\b",
        leads=True,
        grounds=False,
    ),
    # Assent to what somebody plans settles it; assent to how things are does not.
    *_marks(
        DECISION,
        r"agreed(?: then)?, (?=we(?:'ll| will)? (?!will\b|have\b|had\b|are\b|were\b|need\b|should\b|could\b|might\b"
        r"|can\b|know\b|want\b|do\b|did\b)[a-z]+ \S)",
        leads=True,
    ),
    *_marks(
        DECISION,
        rf"{_I} (?:decided (?=to\b)|{_CHOSE}\b)",
        rf"{_I} (?:confirmed (?:that )?(?=\S)|agreed (?=(?:on|to|that)\b))",
        r"(?:agreed|confirmed)(?: then)?, (?=(?:we|the|no|all|every|only)\b)",
        leads=True,
        grounds=False,
    ),
    *_marks(DECISION, r"let'?s (?:use|go with|keep|adopt|drop|switch|move|stick)\b", grounds=False),
    *_marks(
        LESSON,
        rf"(?:(?:the|our|my|key|main|big|postmortem|honest)\s)*(?:lessons?|learnings?|takeaways?|insight){_ABOUT}{_LABEL}",
        rf"what (?:i|we) (?:take|learned|learnt){_ABOUT}{_LABEL}",
        rf"(?:note to all|for next time|next time|moral of the story){_ABOUT}{_LABEL}",
        r"(?:(?:we|i)(?:'ve| have)? )?(?:learned|learnt)(?: the hard way| from [\w -]{2,40}?)? (?:that )(?=\w)",
        leads=True,
    ),
    *_marks(
        MISTAKE,
        rf"(?:the )?(?:root cause|gotcha|pitfall|failed approach){_ABOUT}{_LABEL}",
        r"(?:we|i)(?:'ve| have)? (?:first )?(?:tried|attempted) "
        r"(?=.{8,}\b(?:but|didn't|did not|failed|because|no|made|took)\b)",
        r"(?:the |our )?(?:fix|solution|remedy|culprit|cause|root cause|trick)(?: (?:for|of) [\w `'-]{2,40}?)? "
        r"(?:was|is|turned out)\b",
        r"(?:it )?turned out\b|turns out\b",
        r"(?:(?!if\b|when\b)[\w`-]+ ){1,6}works? (?:now|again) (?:because|since|after)\b",
        grounds=False,
    ),
    *_marks(
        CONVENTION,
        r"(?:(?:new|house|team|our|the|hard|general|golden)\s)*(?:rule|convention|policy|guideline)s?"
        rf"(?: here| is| for [\w -]{{2,30}}?)?{_LABEL}",
        leads=True,
    ),
    *_marks(
        CONVENTION,
        r"(?:from (?:now|today|monday|next week) on|from now|going forward|henceforth)\b",
        r"(?!(?:if|when|he|she|they|i)\b)(?:[^\s\"?]{1,40} ){2,12}?from (?:now|today) on\b",
        rf"(?:always|never(?! mind\b| again\b| heard\b| seen\b)) (?!{_NO_VERB}\b)[a-z]+ \S",
        r"(?:please|pls) (?:always|never|do not|don't|dont|no) \S",
        rf"no, not (?!{_POINTED_AT}).{{2,60}}?[:,;] ?\S",
        r"nobody (?:may\b|(?!has\b|is\b|was\b|does\b|knows|reads|cares|likes|wants|uses|needs|thinks|remembers"
        r"|complains|answers|sees|says|seems|asks|works|looks|notices)[a-z]{3,}s [a-z])",
        r"it is forbidden to\b",
    ),
    *_marks(
        CONVENTION,
        r"(?:please |pls )?(?:use|do not|don't|dont|stop|make sure|avoid) \S",
        r"(?:[\w`'/-]+ ){1,8}(?:must (?:always|never|not)|may only|may not|are always|is always|(?:is|are) never)\b",
        r"we (?:always|never|don't|do not) (?!know|have|see|need|want|think)\w+",
        grounds=False,
    ),
    *_marks(
        FACT,
        r"(?!nobody|no\b|nothing|who\b|they\b|this\b|that\b|not\b|never)"
        r"(?:(?:the|our) )?[a-z][\w'-]{2,20}(?: has| have)? confirmed (?=that\b)",
        grounds=False,
    ),
    *_marks(
        FACT,
        rf"(?:confirmed|verified)(?: (?:with|by) [\w -]{{2,30}}?)?{_LABEL}",
        rf"(?:remember|reminder|for the record|fact|nb|correction){_LABEL}",
        r"(?:remember|keep in mind|note) that\b",
        r"it(?:'s| is) official[,:]",
        leads=True,
    ),
    *_marks(
        TASK,
        rf"(?:[\w-]{{1,12}}, )?(?:(?:one|the|an|another|next|first) )?(?:action items?|to-?dos?|fixme)"
        rf"(?:\([\w-]{{1,40}}\)|(?: (?:for|on) [\w-]+))?{_LABEL}(?:to )?",
        rf"(?:(?:what )?(?:we|i) )?(?:still )?need to (?:be )?do(?:ne)?{_LABEL}",
        leads=True,
    ),
    *_marks(
        TASK,
        r"(?:the|one|an|another|next|first) action items? (?:is|are)(?: to)? (?=\S)",
        r"to-?do (?!app\b|lists?\b|items?\b|comments?\b)(?=[a-z]+ \S)",
        r"(?:we|i) (?:still )?need to do (?=(?:a|an|the|another|this)\b)",
        leads=True,
        grounds=False,
    ),
    *_marks(
        TASK,
        r"i(?:'ll| will|'m going to| am going to) (?!be\b|have to\b|see\b|think\b|let\b)[a-z]+ \S",
        r"will (?!be\b|do\b|have to\b)[a-z]+ \S.*\b(?:by|on|until|before|tomorrow|today|this|next)\b",
        grounds=False,
    ),
    *_marks(
        REFERENCE,
        rf"(?:(?:for )?(?:references?|further reading)|see also|docs|link){_LABEL}",
        rf"for (?:your |our )?reference, (?=.*{_SHELF_NAME})",
        leads=True,
    ),
    *_marks(
        REFERENCE,
        rf"(?:for (?:[\w'-]+ ){{1,4}}?)?see (?:also )?(?:the |our )?{_SHELF_NAME}",
        rf"(?:for [\w' -]{{2,40}}, )?see also (?:the |our )?(?:[\w'-]+ ){{0,4}}(?:in |at )?{_SHELF_NAME}",
        rf"the reference (?:for|of|to) (?:[\w'-]+ ){{1,6}}is {_SHELF_NAME}",
        r"(?:the |our |all )?(?:[\w'-]+ ){1,8}(?:is|are|lives?|kept|documented|described|listed|collected) "
        rf"(?:documented |described |kept |listed )?{_SHELF}",
        grounds=False,
    ),
    *_marks(
        PREFERENCE,
        r"i(?:'d| would)? (?:(?:strongly|really|generally|usually|always|much|personally) )?(?:prefer|rather)\b",
        r"my (?:strong |personal )?preference\b",
        r"i (?:(?:really|always|also) )?(?:don't like|do not like|hate|dislike|can't stand|like my|like to have)\b",
        grounds=False,
    ),
)

_QUOTES = re.compile(r"[\"\u201c\u201d\u00ab\u00bb]|(?<!\w)'(?=\w)")
_SUPPOSED = re.compile(
    r"\b(?:(?<!even )if (?:we|they|i|it|you)|maybe|perhaps|what if|suppose|imagine|would|could|might|let'?s say"
    r"|in theory|hypothetically|pretend|had we|should we|not sure|i guess|i think we|i suggest|i propose"
    r"|(?<![\w.])example|e\.g\.|for instance|placeholder|dummy)\b",
    re.IGNORECASE,
)
# Elsewhere or of others: what was decided there binds nobody here.
_ELSEWHERE = re.compile(
    r"\b(?:(?:my|our|the|in|at) (?:(?:old|last|previous|former|other) )+(?:\w+ )?(?:company|job|team|employer|place"
    r"|boss|office|project|firm|startup)|where i (?:was|worked|used to)|used to work"
    r"|they (?:decided|agreed|always|never)"
    r"|years ago|back (?:then|in the day)|at home)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:(?:not|never|n't|no one|nobody|nothing)(?: \w+){0,2} (?:decided?|agreed?|settled|rule|true)|no decision"
    r"|scratch that|forget (?:it|that|what)|take (?:it|that) back|undecided|not yet)\b",
    re.IGNORECASE,
)
# A standing order stands for longer.
_FOR_NOW = re.compile(
    r"\b(?:for (?:now|the moment|the time being)|temporarily|(?:just|only) (?:this )?once|this (?:one )?time|afterwards"
    r"|(?:in|for|on|during) (?:this|that|the current) (?:one )?(?:\w+ )?(?:run|commit|session|branch|test|experiment"
    r"|call|pr|pull request|attempt|try|round)|(?<!from )(?:today|tonight)|this (?:morning|afternoon|evening)"
    r"|(?:until|till) (?:tomorrow|tonight|noon|then)|(?:the|these|my) next (?:\w+ )?(?:questions?|answers?|messages?"
    r"|steps?|minutes?|hours?|days?))\b",
    re.IGNORECASE,
)


def said_outright(text: str) -> Outright | None:
    """What the sentence says of itself; none where it is quoted, supposed, denied or told of others."""
    for mark in MARKS:
        found = mark.pattern.match(text)
        if found is None:
            continue
        if not _is_meant(text, found):
            return None
        grounds = mark.grounds and not (mark.kind is CONVENTION and _FOR_NOW.search(text))
        if mark.drops:
            # What points back may be meant for the moment, unless the rest says that it is not.
            rest = said_outright(text[found.end() :])
            grounds = rest is not None and rest.grounds
        return Outright(mark.kind, found.end() if mark.leads else 0, grounds, mark.drops)
    return None


def _is_meant(text: str, found: re.Match[str]) -> bool:
    return (
        not text.rstrip().endswith("?")
        and _QUOTES.search(text, 0, found.end()) is None
        and _SUPPOSED.search(text, found.end()) is None
        and _ELSEWHERE.search(text) is None
        and _DENIED.search(text) is None
    )
