"""What stands around a sentence: who spoke before, how the next one answers, and where in its turn it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from mycel.domain.source import Transcript, Turn
from mycel.engine.extraction.statements import SILENT_ROLES, Statement

# In its first turns a talk says what is wrong or wanted, and little that lasts.
OPENING_TURNS = 2
LATE_TURNS = 6
VERY_LATE_TURNS = 12
# Said in answer, a turn this short says hardly more than yes or no.
SHORT_TURN_CHARS = 25
# A turn may be a whole pasted file; how it begins and ends is enough.
ANSWER_CHARS = 40
PROPOSAL_CHARS = 300
# An "ok." or "yes!" before the sentence.
RUN_UP_CHARS = 15

_AGREES = re.compile(
    r"\W*+(?:(?:ok|okay|k|kk|fine|good|great|nice|cool|deal|agreed?|yes|yep|yeah|yup|y|sure|right|perfect|love|works"
    r"|sounds|makes sense|fair|true|excellent|thanks|thx|thank|ack|noted|understood|got it|will do|can do|alright"
    r"|very good)\b|\+1)|\s*+[\U0001f44d\U0001f44c\U0001f389\U0001f64f]",
    re.IGNORECASE,
)
_CARRIED_OUT = re.compile(
    r"\W*+(?:done|changed|added|implemented|written|removed|set|committed|understood|noted|updated|renamed|fixed"
    r"|merged|deployed|applied|switched|reverted|converted|rewritten|retrained|adjusted|reformatted|restored|moved"
    r"|built|covered|alright|ok|all \d+|doing|will do|i'll|i've|on it|drafted|replaced|split|created|trained|writing"
    r"|editing|rebuilding)\b",
    re.IGNORECASE,
)
# The first letters are looked at before the words are.
_PROPOSES = re.compile(
    r"\b(?=[acehimopsw])(?:could|should|would|maybe|options?|either|or|suggest|propos(?:e|al)|what if|how about"
    r"|what about|alternatively|i'd|we'd|instead)\b"
)
_ALONE = frozenset(("alone",))


class _Spoken(NamedTuple):
    """What a turn shows to the sentences before and after it."""

    before: set[str]
    after: set[str]
    asks: bool


class Surroundings:
    """Signs of place; a talk of a single turn has none but that."""

    def __init__(self, transcript: Transcript) -> None:
        self._text = transcript.text
        self._turns = transcript.turns
        self._known: dict[int, _Spoken] = {}

    def is_opening(self, turn: int) -> bool:
        return self._numbers[turn] < OPENING_TURNS <= self._numbers[-1] - 2

    def signs(self, statement: Statement) -> set[str]:
        if len(self._order) < 2:
            return set(_ALONE)
        number = self._numbers[statement.turn]
        found = self._inside(statement, self._turns[statement.turn])
        if number > 0:
            before = self._spoken(number - 1)
            found |= before.after
            if before.asks and "first in turn" in found:
                found.add("answers")
        if number + 1 < len(self._order):
            found |= self._spoken(number + 1).before
        else:
            found.add("last turn")
        found.update(name for name, least in (("late", LATE_TURNS), ("very late", VERY_LATE_TURNS)) if number >= least)
        if not self._has_assistant:
            found.add("meeting")
        return found

    def _inside(self, statement: Statement, turn: Turn) -> set[str]:
        found: set[str] = set()
        begins = max(turn.start, statement.start - RUN_UP_CHARS)
        run_up = self._text[begins : statement.start].strip()
        if not run_up:
            found.add("first in turn")
        elif begins == turn.start:
            found.add("after a word")
        if self._text[max(turn.start, statement.start - 3) : statement.start].rstrip().endswith("?"):
            found.add("after own question")
        if turn.end - statement.end <= 2:
            found.add("last in turn")
        return found

    def _spoken(self, number: int) -> _Spoken:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._look(self._turns[self._order[number]])
        return found

    def _look(self, turn: Turn) -> _Spoken:
        begins = self._text[turn.start : min(turn.end, turn.start + ANSWER_CHARS)]
        ends = self._text[max(turn.start, turn.end - PROPOSAL_CHARS) : turn.end].lower()
        assistant = turn.role == "assistant"
        asks = ends.rstrip().endswith("?")
        after = {"after assistant"} if assistant else set[str]()
        before = {"then assistant"} if assistant else set[str]()
        if asks:
            after.add("after question")
            before.add("then asked")
        if turn.end - turn.start < SHORT_TURN_CHARS:
            after.add("after short turn")
            before.add("then short turn")
        if _PROPOSES.search(ends):
            after.add("after proposal")
        if _AGREES.match(begins):
            before.add("then agreed")
        if _CARRIED_OUT.match(begins):
            before.add("then carried out" if assistant else "then taken on")
        return _Spoken(before, after, asks)

    @cached_property
    def _order(self) -> Sequence[int]:
        """The turns that are not of a tool."""
        return [place for place, turn in enumerate(self._turns) if turn.role not in SILENT_ROLES]

    @cached_property
    def _numbers(self) -> Sequence[int]:
        """For each turn, how many before it were not of a tool."""
        found: list[int] = []
        count = 0
        for turn in self._turns:
            found.append(count)
            count += turn.role not in SILENT_ROLES
        return found

    @cached_property
    def _has_assistant(self) -> bool:
        return any(turn.role == "assistant" for turn in self._turns)
