"""A transcript as its statements, each with what is known about it: words, topic, speaker, place in the talk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from mycel.domain.envelope import ENVELOPE
from mycel.domain.source import Transcript, Turn
from mycel.engine.extraction.rules import OPEN_BOX, Topic
from mycel.engine.language import (
    agrees,
    assigns,
    is_carried_out,
    name_pattern,
    proposes,
    split_sentences,
    topic_of,
    words_of,
)

SILENT_ROLES = frozenset({"tool", "system"})
# Longer ones are pasted text without full stops, and shorter ones say nothing.
MOST_CHARS = 600
LEAST_CHARS = 12
# A line at least this long was broken to fit the page; a shorter one ends where its writer meant it to.
WRAPPED_CHARS = 50

_OPEN, _CLOSE = f"<{ENVELOPE}>", f"</{ENVELOPE}>"
# Lines that begin otherwise are plain talk, and most do.
_MARKED = re.compile(r"\s*(?:$|[^\w\s\"'(]|\d|INFO|WARN|ERROR|DEBUG|FATAL|Traceback|File |at )")
_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:```|~~~)")
_BULLET = re.compile(r"[ \t]*(?:[-*+\u2022\u2013]|\d{1,3}[.)])[ \t]+(?:\[(?P<box>[ xX])\][ \t]+)?")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
# Alone on its line: "Action items:", "**Decisions**".
_LABEL = re.compile(r"[ \t]*(?:\*\*)?[A-Za-z][^.!?:*\n]{2,48}(?::(?:\*\*)?|\*\*:?)[ \t]*$")
# Nothing but space, quoted lines, table rows, prompts, differences, logs, traces of calls, rules across the page.
_NOT_TALK = re.compile(
    r"[ \t]*(?:$|>|\||\$ |@@ |[+-]{2,}\S|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG"
    r"|FATAL)\b[\]: ]"
    r"|Traceback \(|File \"|at [\w.$]+\(|[-=*_]{3,}[ \t]*$)"
)
_INDENT = re.compile(r"[ \t]{2,}")


class Statement(NamedTuple):
    """A sentence: the characters `start` to `end` of the text, in a turn and in what stands together there.

    `section` is the heading or label right above, for the first sentence of a paragraph or of an item in a list.
    """

    start: int
    end: int
    turn: int
    paragraph: int
    section: str = ""


class _Block(NamedTuple):
    """Lines that may hold one sentence together."""

    start: int
    end: int
    paragraph: int
    section: str = ""
    is_item: bool = False


def list_statements(transcript: Transcript) -> list[Statement]:
    """The sentences of all turns but those of tools and the system, in order."""
    text = transcript.text
    found: list[Statement] = []
    for number, turn in enumerate(transcript.turns):
        if turn.role not in SILENT_ROLES:
            for block in _turn_blocks(text, turn):
                found += _sentences(text, block, turn=number)
    return found


def _turn_blocks(text: str, turn: Turn) -> Iterator[_Block]:
    paragraph = 0
    for start, end in _outside_envelopes(text, max(0, turn.start), min(turn.end, len(text))):
        for block in _Blocks(text, paragraph=paragraph).read(start, end):
            paragraph = block.paragraph + 1
            yield block


def _outside_envelopes(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        opened = text.find(_OPEN, start, end)
        if opened < 0:
            yield start, end
            return
        yield start, opened
        closed = text.find(_CLOSE, opened, end)
        start = end if closed < 0 else closed + len(_CLOSE)


def _sentences(text: str, block: _Block, *, turn: int) -> Iterator[Statement]:
    """The block is cut out first: splitting looks through the whole of the text that it is given."""
    section = block.section
    for first, last in split_sentences(text[block.start : block.end]):
        if LEAST_CHARS <= last - first <= MOST_CHARS:
            yield Statement(block.start + first, block.start + last, turn, block.paragraph, section)
        section = ""


class _Blocks:
    """Reads lines into blocks, remembering the last heading and the block that is still open."""

    def __init__(self, text: str, *, paragraph: int) -> None:
        self._text = text
        self._paragraph = paragraph
        self._section = ""
        self._block: _Block | None = None
        self._last_chars = 0

    def read(self, start: int, end: int) -> Iterator[_Block]:
        text = self._text
        fenced = False
        for first, last in _lines(text, start, end):
            if fenced or _MARKED.match(text, first, last):
                is_fence = _FENCE.match(text, first, last) is not None
                fenced ^= is_fence
                if is_fence or fenced or _NOT_TALK.match(text, first, last):
                    yield from self._close()
                    self._paragraph += 1
                    continue
                yield from self._take_marked(first, last)
            else:
                yield from self._take(first, last)
            self._last_chars = last - first
        yield from self._close()

    def _take_marked(self, first: int, last: int) -> Iterator[_Block]:
        text = self._text
        if heading := _HEADING.match(text, first, last):
            yield from self._close()
            yield _Block(heading.end(), last, self._paragraph)
            self._section = text[heading.end() : last]
        elif bullet := _BULLET.match(text, first, last):
            yield from self._close()
            self._open_item(bullet, last)
        else:
            yield from self._take(first, last)

    def _take(self, first: int, last: int) -> Iterator[_Block]:
        if self._text[last - 1] in ":*" and _LABEL.match(self._text, first, last):
            yield from self._close()
            self._section = self._text[first:last]
        elif self._block is not None and self._continues(self._block, first, last):
            self._block = self._block._replace(end=last)
        else:
            yield from self._close()
            self._block = _Block(first, last, self._paragraph, self._section)
            self._section = ""

    def _open_item(self, bullet: re.Match[str], end: int) -> None:
        self._paragraph += 1
        box = bullet["box"]
        if box is None or box == " ":
            section = self._section if box is None else OPEN_BOX
            self._block = _Block(bullet.end(), end, self._paragraph, section, is_item=True)

    def _continues(self, block: _Block, first: int, last: int) -> bool:
        wrapped = self._last_chars >= WRAPPED_CHARS
        return wrapped or (block.is_item and _INDENT.match(self._text, first, last) is not None)

    def _close(self) -> Iterator[_Block]:
        if self._block is not None:
            yield self._block
        self._block = None


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop - 1 if stop > start and text[stop - 1] == "\r" else stop
        start = stop + 1


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
        if proposes(ends):
            after.add("after proposal")
        if agrees(begins):
            before.add("then agreed")
        if is_carried_out(begins):
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


# So many sentences before and after show what the talk is about.
NEARBY = 12
# What a sentence that names nothing technical needs in and around it; a few sentences cannot weigh as much as many.
LEAST_WEIGHT = 4.0
LEAST_WEIGHT_EACH = 0.36

_NO_NAMES = frozenset(("user", "assistant", "agent", "human"))
# Each for one other character, so that places stay the same: straight quotes, and spaces for emphasis and line breaks.
_PLAIN = (("\u2019", "'"), ("\u2018", "'"), ("\u201c", '"'), ("\u201d", '"'), ("*", " "), ("\u00a0", " "), ("\n", " "))


class Talk:
    """Statements are known by their place in the list."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._plain = _plain(transcript.text)
        self.statements: list[Statement] = list_statements(transcript)
        self._names = frozenset(turn.speaker.lower() for turn in transcript.turns if turn.speaker) - _NO_NAMES
        self._named = name_pattern(self._names)
        self._first_names = frozenset(words_of(name)[0] for name in self._names if words_of(name))
        self._words = [words_of(self.text(place).lower()) for place in range(len(self.statements))]
        self._topics: dict[int, Topic] = {}
        self._surroundings = Surroundings(transcript)

    def text(self, place: int) -> str:
        """Without emphasis, on one line, with plain quotes; each character at its place."""
        statement = self.statements[place]
        return self._plain[statement.start : statement.end]

    def original(self, start: int, end: int) -> str:
        return self._transcript.text[start:end]

    def words(self, place: int) -> list[str]:
        return self._words[place]

    def topic(self, place: int) -> Topic:
        found = self._topics.get(place)
        if found is None:
            found = self._topics[place] = topic_of(self.text(place), words=self.words(place), names=self._names)
        return found

    def is_about_work(self, place: int) -> bool:
        first, last = max(0, place - NEARBY), min(len(self.statements), place + NEARBY + 1)
        (weight, personal), (weight_before, personal_before) = self._sums[last], self._sums[first]
        return _is_about_work(
            self.topic(place),
            weight=weight - weight_before,
            personal=personal - personal_before,
            sentences=last - first,
        )

    def assigns(self, place: int) -> bool:
        """Whether work is given to one of those who speak; their names are looked for by the first word."""
        if self._named is None or self._first_names.isdisjoint(self._words[place]):
            return False
        return assigns(self.text(place), named=self._named)

    def is_assistant(self, place: int) -> bool:
        return self._transcript.turns[self.statements[place].turn].role == "assistant"

    def setting_signs(self, place: int) -> set[str]:
        """Who speaks, and what stands around the sentence."""
        statement = self.statements[place]
        found = self._surroundings.signs(statement)
        if self.is_assistant(place):
            found.add("assistant")
        if self._surroundings.is_opening(statement.turn):
            found.add("opening")
        return found

    @cached_property
    def _sums(self) -> list[tuple[float, int]]:
        """What all statements before each place weigh together."""
        weight, personal = 0.0, 0
        sums = [(weight, personal)]
        for place in range(len(self.statements)):
            topic = self.topic(place)
            weight += topic.weight
            personal += topic.personal
            sums.append((weight, personal))
        return sums


def _is_about_work(topic: Topic, *, weight: float, personal: int, sentences: int) -> bool:
    """By what it names itself, or else by what those sentences weigh that stand around it, itself among them."""
    if topic.personal > topic.weight or personal >= weight:
        return False
    return topic.technical > 0 or weight >= min(LEAST_WEIGHT, LEAST_WEIGHT_EACH * sentences)


def _plain(text: str) -> str:
    for written, plain in _PLAIN:
        text = text.replace(written, plain)
    return text
