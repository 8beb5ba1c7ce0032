"""What a heading makes of that which stands below it."""

from __future__ import annotations

import re

from mycel.domain.memory import Category, MemoryType

Kind = tuple[MemoryType, Category]

# What stands above an item whose box is not ticked.
OPEN_BOX = "to do"

_SECTIONS: tuple[tuple[Kind, str], ...] = (
    ((MemoryType.DECISION, Category.DECISION), r"decisions?|(?:what )?we (?:decided|agreed)|agreed|agreements"),
    (
        (MemoryType.TASK_HINT, Category.FACT),
        rf"action items?|actions|to-?dos?|{OPEN_BOX}|next steps?|follow[- ]?ups?|open (?:items|tasks)|remaining work",
    ),
    ((MemoryType.LESSON, Category.BEST_PRACTICE), r"lessons?|learnings?|takeaways?|what we learned|best practices"),
    (
        (MemoryType.LESSON, Category.MISTAKE_PATTERN),
        r"gotchas?|pitfalls?|mistakes?|what went wrong|root causes?|failed approaches",
    ),
    ((MemoryType.FACT, Category.CONVENTION), r"(?:\w+ )?conventions?|house rules|guidelines"),
    ((MemoryType.REFERENCE, Category.FACT), r"references?|see also|links|further reading"),
    ((MemoryType.PROFILE, Category.PREFERENCE), r"(?:\w+ )?preferences"),
    ((MemoryType.FACT, Category.FACT), r"(?:key )?facts|what we know|good to know"),
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
