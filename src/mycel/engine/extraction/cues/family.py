"""How rules are written down: rows of a table, alike in all but their cue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mycel.domain.category import Category
from mycel.domain.memory import MemoryType
from mycel.engine.extraction.rules import Rule

Row = tuple[float, str, str]

# After a word that announces what follows: "Decision: …", "**Decision** - …".
LABEL = r"[*\s]{0,3}(?::|\s[-\u2013\u2014](?=\s)|\u2014)[\s*]*"
ADVERB = r"(?: (?:all|both|finally|just|also|already|then|now|only|eventually|definitely|simply|deliberately))?"
WE = rf"\b(?:we|the team|they|everyone|both teams)(?:'ve| have| had)?{ADVERB}"
# Possessive, or a run of such words would be tried in every possible division.
RUN_UP = r"^\W*+(?>(?:(?:ok(?:ay)?|so|then|and|right|fine|alright|yes|yep|also|btw|agreed|oh|but|please|pls)\b\W*+)*)"


def family(kind: MemoryType, category: Category, *rows: Row, **more: Any) -> Iterator[Rule]:
    """One rule per row: how sure it is, the words that call for it, and its cue."""
    for confidence, keys, cue in rows:
        yield Rule(kind, category, confidence, frozenset(keys.split()), re.compile(cue, re.IGNORECASE), **more)
