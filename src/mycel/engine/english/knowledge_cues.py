"""How facts, conventions, references and preferences are told, and work that is still to be done."""

from __future__ import annotations

from collections.abc import Iterator

from mycel.domain.memory import Category, MemoryType
from mycel.engine.english.decision_cues import LABEL, family
from mycel.engine.extraction.rules import Rule

_DOCUMENTS = (
    "spec specs specification doc docs document documents documentation guide runbook dashboard wiki rfc adr checklist "
    "calendar schematic diagram handbook manual readme timeline notes slides spreadsheet sheet playbook postmortem "
    "post-mortem template changelog datasheet errata paper recording minutes report proposal policy write-up writeup "
    "rules "
    "contract summary list form numbers graph matrix notebook page"
)
_DOCUMENT = rf"(?:{'|'.join(_DOCUMENTS.split())})"
_PLACE = r"(?<![\w.-])(?:https?://\S+|[\w.-]+/[\w./-]*\w|`[^`]+`|[\w-]+\.(?:md|pdf|ya?ml|toml|json|txt|csv|html|rst|docx?|ipynb))"
_SHELF = (
    r"(?:wiki|intranet|confluence|shared drive|drive|channel|handbook|calendar|reading folder"
    r"|incident (?:doc|log)|library)"
)


def facts() -> Iterator[Rule]:
    yield from family(
        MemoryType.FACT,
        Category.FACT,
        (0.75, "fyi nb fact", r"^\W*(?:fyi|nb|fact)\b[\s:,\u2014-]+(?:that )?"),
        (0.8, "record", r"\bfor the record[\s:,\u2014-]+"),
        (
            0.75,
            "note mind remember aware know",
            r"^\W*(?:and |also |please |pls |but )*(?:note that|keep in mind(?: that)?|remember(?: that|:|,)"
            r"|be aware(?: that|:)|good to know:)\W*",
        ),
        (0.75, "aware knowing", r"\b(?:to be aware of|worth knowing)[^:]{0,30}:\s*"),
        leads=True,
        firm=True,
    )
    yield from family(MemoryType.FACT, Category.CONVENTION, *_CONVENTIONS, firm=True)


def references() -> Iterator[Rule]:
    yield from family(MemoryType.REFERENCE, Category.FACT, *_REFERENCES)


_CONVENTIONS = (
    (
        0.75,
        "convention conventions policy",
        r"\b(?:by convention|(?:our|the|naming|team) (?:\w+ )?(?:convention|policy)(?: here)?(?: is (?!at|in|on)|:))",
    ),
    (0.75, "rule", r"\b(?:house rule|rule of thumb|(?:our|the|one|new) rule(?: here)?(?: is|:))"),
    (
        0.75,
        "always never",
        r"^\W*+(?>(?:(?:and|so|but|also|btw|for the record|because|here)\b\W*+)*)we (?:always|never) "
        r"(?!know|knew|see|saw|get|got)\w+",
    ),
    (
        0.75,
        "must mustn't",
        r"\b(?:must (?:always|never|not|only|all)|must (?:be (?!so\b|such\b|great|nice|hard|fun|tough)|come|stay|go"
        r"|have (?!been|felt|had)|use|tolerate|contain|start|match|run)\b|mustn't)\b",
    ),
    (
        0.7,
        "always never",
        r"^\W*(?:and |so |but |also )*(?:always|never) (?!again|mind|heard|seen|the|a\b|on|in)[a-z]+ \w",
    ),
    (0.75, "may", r"\bmay (?:not|only|never) \w+"),
    (0.7, "should", r"\bshould (?:always|never|only)\b"),
)

_REFERENCES = (
    (0.85, "see", r"\bsee also\b"),
    (0.85, "reference references", rf"^\W*references?{LABEL}|\bfor reference\b.{{0,40}}{_PLACE}"),
    (0.85, "see", rf"\bsee (?:the |our |section \d+ of )?(?:\w+ ){{0,3}}?(?:{_PLACE}|rfc ?\d+|adr ?\d+)"),
    (0.8, "refer", r"\brefer to\b"),
    (
        0.8,
        "documented described explained listed written spelled linked pinned",
        r"\b(?:documented|described|explained|listed|written (?:up|down)|spelled out|linked|pinned) (?:in|at|under"
        r"|on)\b",
    ),
    (
        0.85,
        _DOCUMENTS,
        rf"\b{_DOCUMENT}\b.{{0,60}}?\b(?:is|are|lives?|found|here|home|under|at|in|for this"
        rf"|moved)\b[^.]{{0,60}}?{_PLACE}"
        rf"|\b{_DOCUMENT}: ?{_PLACE}",
    ),
    (
        0.8,
        "says lists describes explains documents contains has",
        rf"{_PLACE} (?:says|lists|describes|explains|documents|contains the|has the (?:full |whole )?list)\b",
    ),
    (
        0.75,
        "wiki intranet confluence drive channel handbook calendar folder doc log library",
        rf"\b(?:is|are|it's|they're|be|linked|kept|go|goes) (?:all )?(?:in|on|at|under|into|section \d+ in) "
        rf"(?:the |our |\w+'s )?(?:\w+ ){{0,3}}?{_SHELF}\b",
    ),
)


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
