"""A transcript as its statements, each with what is known about it: words, speaker, what was said before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from mycel.domain.envelope import ENVELOPE
from mycel.domain.source import Transcript, Turn
from mycel.engine.language import OPEN_BOX, assigns, name_pattern, split_sentences, words_of
from mycel.retrieval.analysis import index_tokens

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


LEAST_WEIGHTY_CHARS = 4
# So much of what was said before helps to understand a sentence.
BEFORE_CHARS = 160

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
        self._spelled = {turn.speaker.lower(): turn.speaker for turn in transcript.turns if turn.speaker}
        self._first_names = frozenset(words_of(name)[0] for name in self._names if words_of(name))
        self._weighty: dict[int, frozenset[str]] = {}
        self._words = [words_of(self.text(place).lower()) for place in range(len(self.statements))]

    def text(self, place: int) -> str:
        """Without emphasis, on one line, with plain quotes; each character at its place."""
        statement = self.statements[place]
        return self._plain[statement.start : statement.end]

    def original(self, start: int, end: int) -> str:
        return self._transcript.text[start:end]

    def words(self, place: int) -> list[str]:
        return self._words[place]

    def assigns(self, place: int) -> bool:
        """Whether work is given to one of those who speak; their names are looked for by the first word."""
        if self._named is None or self._first_names.isdisjoint(self._words[place]):
            return False
        return assigns(self.text(place), named=self._named)

    @property
    def turns(self) -> Sequence[Turn]:
        return self._transcript.turns

    def turn(self, place: int) -> Turn:
        return self.turns[self.statements[place].turn]

    def name_at_start(self, text: str) -> str | None:
        """The speaker of this talk whose name begins the text."""
        found = self._named.match(text) if self._named is not None else None
        return None if found is None else self._spelled[found[0].lower()]

    def weighty_words(self, place: int) -> frozenset[str]:
        """The stems of those long enough to name something."""
        known = self._weighty.get(place)
        if known is None:
            words = (word for word in self._words[place] if len(word) > LEAST_WEIGHTY_CHARS)
            known = self._weighty[place] = frozenset(index_tokens(" ".join(words)))
        return known

    def is_same_voice(self, place: int, other: int) -> bool:
        """Whether one speaker says both, and nobody else anything between them."""
        apart = abs(self.statements[place].turn - self.statements[other].turn)
        return apart == 0 or (apart == 1 and is_one_voice(self.turn(place), self.turn(other)))

    def in_one_paragraph(self, place: int, other: int) -> bool:
        one, two = self.statements[place], self.statements[other]
        return (one.turn, one.paragraph) == (two.turn, two.paragraph)

    def is_assistant(self, place: int) -> bool:
        return self.turns[self.statements[place].turn].role == "assistant"

    @cached_property
    def befores(self) -> list[str]:
        """For each statement what was said just before it, in its own turn and in the last one."""
        found: list[str] = []
        last, before = -1, ""
        for place, statement in enumerate(self.statements):
            if statement.turn != last:
                before = self._spoken_before(statement.turn)
                last = statement.turn
            found.append(before)
            said = self.text(place)
            before = f"{before} {said}"[-BEFORE_CHARS:] if before else _spoken(self.turn(place).role, said)
        return found

    def led_up_to(self, place: int) -> str:
        """What the same voice said right before, headings and quoted lines too."""
        statement = self.statements[place]
        turn = self.turns[statement.turn]
        said = self._plain[max(turn.start, statement.start - BEFORE_CHARS) : statement.start]
        last = self.turns[statement.turn - 1] if statement.turn else None
        if last is not None and is_one_voice(last, turn):
            said = f"{self._plain[max(last.start, last.end - BEFORE_CHARS) : last.end]} {said}"
        return " ".join(said.split())[-BEFORE_CHARS:]

    def _spoken_before(self, turn: int) -> str:
        """How the last turn began that was not a tool's."""
        for number in range(turn - 1, -1, -1):
            one = self.turns[number]
            if one.role not in SILENT_ROLES:
                return _spoken(one.role, self._plain[one.start : min(one.end, one.start + BEFORE_CHARS)].strip())
        return ""


def is_one_voice(one: Turn, other: Turn) -> bool:
    return (one.speaker, one.role) == (other.speaker, other.role)


def _spoken(role: str, text: str) -> str:
    return f"{'agent' if role == 'assistant' else role or 'user'}: {text}"[:BEFORE_CHARS]


def _plain(text: str) -> str:
    for written, plain in _PLAIN:
        text = text.replace(written, plain)
    return text
