"""The sentences of a turn that may say something worth keeping: no code, no quotes, no notes given earlier."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mycel.domain.envelope import ENVELOPE
from mycel.domain.source import Transcript, Turn
from mycel.engine.sentences import split_sentences

SILENT_ROLES = frozenset({"tool", "system"})
# Longer ones are pasted text without full stops, and shorter ones say nothing.
MOST_CHARS = 600
LEAST_CHARS = 12
# A line at least this long was broken to fit the page; a shorter one ends where its writer meant it to.
WRAPPED_CHARS = 50
OPEN_BOX = "to do"

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
