"""Which categories are taught, and which one is usual for a type."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mycel.domain.memory import Category, MemoryType

# What a lead teaches.
LEARNINGS = (Category.MISTAKE_PATTERN, Category.BEST_PRACTICE, Category.CODEBASE_KNOWLEDGE, Category.PREFERENCE)
# Of what was drawn from a talk, where nothing says it more exactly. Only memories of one category are merged.
USUAL: Mapping[MemoryType, Category] = MappingProxyType(
    {
        MemoryType.DECISION: Category.DECISION,
        MemoryType.TASK_HINT: Category.FACT,
        MemoryType.REFERENCE: Category.FACT,
        MemoryType.PROJECT: Category.FACT,
        MemoryType.PROFILE: Category.PREFERENCE,
        MemoryType.FACT: Category.CODEBASE_KNOWLEDGE,
        MemoryType.LESSON: Category.MISTAKE_PATTERN,
    }
)
