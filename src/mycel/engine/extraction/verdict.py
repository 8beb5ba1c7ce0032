"""What the sentences of a talk were found to be."""

from __future__ import annotations

from typing import NamedTuple

from mycel.domain.memory import Category, MemoryType


class Verdict(NamedTuple):
    """What a sentence is, how sure that is, where in it the statement begins, and whether it was said outright.

    `drops`: what stands before that place means nothing outside of the talk. `taken_back_by` is a later remark that may
    have taken it back.
    """

    type: MemoryType
    category: Category
    confidence: float
    begins: int = 0
    outright: bool = False
    remedy: bool = False
    drops: bool = False
    taken_back_by: str = ""
