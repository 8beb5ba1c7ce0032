"""How facts, conventions and references are told."""

from __future__ import annotations

from collections.abc import Iterator

from mycel.domain.category import Category
from mycel.domain.memory import MemoryType
from mycel.engine.extraction.cues.family import LABEL, family
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
