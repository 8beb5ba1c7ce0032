"""Headings and labels that say what the items below them are."""

from __future__ import annotations

import re

from mycel.domain.memory import MemoryType
from mycel.engine.extraction.statements import OPEN_BOX

Kind = tuple[MemoryType, str]

_SECTIONS: tuple[tuple[Kind, str], ...] = (
    ((MemoryType.DECISION, "decision"), r"decisions?|(?:what )?we (?:decided|agreed)|agreed|agreements"),
    (
        (MemoryType.TASK_HINT, "fact"),
        rf"action items?|actions|to-?dos?|{OPEN_BOX}|next steps?|follow[- ]?ups?|open (?:items|tasks)|remaining work",
    ),
    ((MemoryType.LESSON, "best-practice"), r"lessons?|learnings?|takeaways?|what we learned|best practices"),
    (
        (MemoryType.LESSON, "mistake-pattern"),
        r"gotchas?|pitfalls?|mistakes?|what went wrong|root causes?|failed approaches",
    ),
    ((MemoryType.FACT, "convention"), r"(?:\w+ )?conventions?|house rules|guidelines"),
    ((MemoryType.REFERENCE, "fact"), r"references?|see also|links|further reading"),
    ((MemoryType.PROFILE, "preference"), r"(?:\w+ )?preferences"),
    ((MemoryType.FACT, "fact"), r"(?:key )?facts|what we know|good to know"),
)
_PATTERNS = tuple(
    (kind, re.compile(rf"(?>[\W\d]*)(?:the |our |my |key |main )*(?:{words})\b[^.]{{0,30}}$", re.IGNORECASE))
    for kind, words in _SECTIONS
)


def kind_of(section: str) -> Kind | None:
    """The type and category that a heading gives to what stands below it."""
    if not section:
        return None
    return next((kind for kind, pattern in _PATTERNS if pattern.match(section)), None)
