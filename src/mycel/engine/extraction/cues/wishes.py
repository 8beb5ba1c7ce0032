"""How a preference is told, and work that is still to be done."""

from __future__ import annotations

from collections.abc import Iterator

from mycel.domain.category import Category
from mycel.domain.memory import MemoryType
from mycel.engine.extraction.cues.family import LABEL, family
from mycel.engine.extraction.rules import Rule

_TELL = r"(?:send|show|give|ask|call|tell|spare|answer|write|ping|explain|paste|page)"
_ASKING = r"^\W*+(?>(?:(?:(?:and|also|btw|please|pls|for next time|oh|ok|but)\b|(?:when|if) you [^,]{2,40},)\W*+)*)"
_SOMEBODY = r"(?:the )?(?:user|operator|customer|director|lead|manager|boss|[a-z]+-\d+|[a-z]+-lead|she|he)"


def preferences() -> Iterator[Rule]:
    yield from family(MemoryType.PROFILE, Category.PREFERENCE, *_OWN, personal=True, firm=True)
    yield from family(
        MemoryType.PROFILE,
        Category.PREFERENCE,
        (
            0.8,
            "prefers dislikes hates likes wants",
            rf"\b{_SOMEBODY} (?:really |strongly |always |also )?(?:prefers|dislikes|hates|likes|wants) (?=\w)",
        ),
    )


def tasks() -> Iterator[Rule]:
    yield from family(MemoryType.TASK_HINT, Category.FACT, *_LISTED, leads=True, firm=True)
    yield from family(MemoryType.TASK_HINT, Category.FACT, *_NEEDED, firm=True)


_OWN = (
    (
        0.85,
        "prefer preference",
        r"\bi(?:'d)?(?: strongly| really| generally| usually| always| much| would)? prefer\b"
        r"|\bmy (?:strong |personal )?preference\b",
    ),
    (0.8, "rather", r"\bi(?:'d| would) (?:much |really )?rather (?:get|have|see|read|review|be|you)\b"),
    (
        0.75,
        "like hate dislike stand love",
        r"\bi (?:really |always |also )?(?:don't like|do not like|hate|dislike|can't stand|love it when|like it when"
        r"|like my|like to have|like separate|like small|like short)\b",
    ),
    (
        0.75,
        "annoys bothers distracts tiring nervous",
        r"\b(?:annoys|bothers|distracts) me\b|\bi get nervous\b|\bit's tiring\b",
    ),
    (
        0.8,
        "send show give ask call tell spare answer write ping explain paste page",
        rf"{_ASKING}(?:(?:always |never |only |just |don't |do not )+{_TELL}\b(?:ing)?(?: to)? (?:me|in|with"
        rf"|the whole)\b"
        rf"|{_TELL} (?:me )?.{{3,60}}\b(?:, not|, never|instead of|only)\b)",
    ),
    (0.75, "please pls", r"^\W*(?:and |also |ok |btw )*(?:please|pls) (?:always|never|don't|do not|no) \w"),
    (0.75, "personally", r"\bpersonally,? i\b"),
    (
        0.75,
        "want care read look",
        r"\bi (?:just|only|always|never|don't|do not) (?:want (?:the|to (?:be|see))|care about|read|look at"
        r"|open)\b (?!you\b)",
    ),
    (
        0.75,
        "want like",
        r"\bi(?:'d)? (?:want|like) (?:the |your |my |all |every |each )?(?:answers?|summar\w+|reasoning|code|diffs?"
        r"|commits?"
        r"|messages?|mails?|a (?:daily|weekly|short|summary)|tests before|you to|to see the)\b",
    ),
    (
        0.75,
        "use work",
        r"\bi (?:only use|always use|use \w+ only|never use|work (?:from|in|until|on \w+days)|always work)\b",
    ),
    (
        0.75,
        "timezone hours role pronouns editor terminal",
        r"\bmy (?:timezone|time zone|working hours|role is|title is|pronouns|editor is|terminal is)\b",
    ),
    (0.75, "i'm am", r"\bi(?:'m| am) (?:based in|in the \w+ time ?zone|off on \w+days|colou?r ?blind|left-handed)\b"),
)

_LISTED = (
    (0.9, "todo todos fixme", r"\b(?:todos?|fixme)\b(?:\([\w-]+\))?[\s:\u2014-]*(?:is )?(?:to )?"),
    (
        0.9,
        "action actions",
        rf"^\W*(?:and |one |another |also )*(?:action items?|actions?)(?: (?:for|on) [\w-]+)?{LABEL}"
        r"|\baction items?\b\W*(?:is |for [\w-]+)?\W*",
    ),
    (0.85, "follow-up followup follow", rf"^\W*(?:as a )?follow[- ]?ups?{LABEL}(?:to )?"),
    (0.8, "forget", r"\b(?:don't|do not|not to) forget (?:to|about|the)\b"),
    (0.8, "remind", r"\bremind me\b(?: to)?"),
    (
        0.8,
        "next remaining outstanding left done to",
        rf"^\W*(?:next steps?|remaining|outstanding|open items?|what is left|what's left|left to do|still to do"
        rf"|not done yet"
        rf"|to do)(?: to do| after [\w ]+)?{LABEL}",
    ),
    (0.75, "need needs", r"\b(?:still )?needs? to do\b(?! with)"),
)

_NEEDED = (
    (0.75, "somebody someone", r"\b(?:somebody|someone)(?: still| else)? (?:has|needs|should|must|ought)\b(?: to)?"),
    (0.75, "somebody someone anyone", r"\b(?:can|could|would) (?:somebody|someone|anyone)(?: please)? \w+"),
    (
        0.75,
        "still",
        r"\bstill (?:needs?|has to|have to|owes?|missing|has the old|writes the old|points? to the old|open:)\b",
    ),
    (0.75, "need needs", r"\b(?:needs|need) (?:fixing|doing|updating|cleaning|the same (?:change|fix))\b"),
    (
        0.7,
        "need have",
        r"\bwe (?:still |also )?(?:need|have) to (?!know|understand|see|agree|decide|talk|discuss|be|think)\w+",
    ),
)
