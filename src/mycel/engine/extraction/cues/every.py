"""All rules together."""

from __future__ import annotations

from collections.abc import Iterator

from mycel.engine.extraction.cues.decisions import decisions
from mycel.engine.extraction.cues.knowledge import facts, references
from mycel.engine.extraction.cues.lessons import lessons
from mycel.engine.extraction.cues.wishes import preferences, tasks
from mycel.engine.extraction.rules import Rule


def every_rule() -> Iterator[Rule]:
    for rules in (decisions, lessons, preferences, facts, tasks, references):
        yield from rules()
