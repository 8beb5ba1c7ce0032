"""Long documents in parts that each fit a limit, cut where their own structure allows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

from mycel.engine.english.sentences import Span, fenced_blocks, is_inside, split_sentences

PATH_SIGN = " \u203a "
MOST_TITLE_CHARS = 120
MOST_TITLE_WORDS = 10
MOST_FRONT_MATTER_CHARS = 16 * 1024

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:(={2,})|-{3,})\s*$")
_UNTITLED = re.compile(r"\s*(?:[>|#<=]|[-*+]\s|[0-9]{1,3}[.)]\s)")
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n(?:[ \t\r]*\n)*")
_WORD = re.compile(r"\w")
_DASHES = "---"
_NAMED_VALUE = re.compile(r"[\w\"'][^:]*:")


@dataclass(frozen=True, slots=True)
class Chunk:
    """The characters from `start` to `end` of a document, and the headings they stand under, the highest first."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    start: int
    end: int
    level: int
    title: str


def split_document(text: str, *, most_bytes: int) -> list[Chunk]:
    """Chunks that follow one another and leave nothing out, none above `most_bytes` of UTF-8.

    Only a single character may be larger. Small sections that share a parent stay together, up to a quarter of the
    limit; front matter stays with what follows it.
    """
    found: list[Chunk] = []
    for chunk in _joined(text, _sections(text), most_bytes=most_bytes // 4):
        if _bytes(text, chunk.start, chunk.end) <= most_bytes:
            found.append(chunk)
        else:
            cuts = [chunk.start, *_cuts(text, chunk, most_bytes=most_bytes), chunk.end]
            found += (Chunk(start, end, chunk.headings) for start, end in pairwise(cuts))
    return found


def title_of(chunk: Chunk, *, text: str) -> str:
    """The path of its headings, or the first words where there are none."""
    if chunk.headings:
        return _short(PATH_SIGN.join(chunk.headings))
    # The first words are near the beginning, or there are none worth looking for.
    spans = split_sentences(text, chunk.start, min(chunk.end, chunk.start + 20 * MOST_TITLE_CHARS))
    words = text[slice(*spans[0])].split() if spans else []
    mark = " …" if len(words) > MOST_TITLE_WORDS else ""
    return _short(" ".join(words[:MOST_TITLE_WORDS])) + mark


def _short(title: str) -> str:
    return title if len(title) <= MOST_TITLE_CHARS else title[: MOST_TITLE_CHARS - 1].rstrip() + "…"


def _sections(text: str) -> Iterator[Chunk]:
    """From one heading to the next; a heading with nothing under it but another goes with that one."""
    levels: list[Heading] = []
    start, said_from = 0, front_matter_end(text)
    for heading in find_headings(text, said_from):
        goes_deeper = not levels or heading.level > levels[-1].level
        if not goes_deeper or _WORD.search(text, said_from, heading.start):
            yield Chunk(start, heading.start, _path(levels))
            start = heading.start
        said_from = heading.end
        while levels and levels[-1].level >= heading.level:
            levels.pop()
        levels.append(heading)
    if start < len(text):
        yield Chunk(start, len(text), _path(levels))


def _path(levels: list[Heading]) -> tuple[str, ...]:
    return tuple(level.title for level in levels if level.title)


def find_headings(text: str, start: int) -> Iterator[Heading]:
    code = fenced_blocks(text, start)
    # Whether the line before stands alone, and can be the text above an underline.
    alone: Span | None = None
    after_blank = True
    for line in _LINE.finditer(text, start):
        is_code = is_inside(line.start(), code)
        content = line[0].strip()
        marked = None if is_code else _HEADING.match(line[0])
        underline = None if is_code or alone is None else _UNDERLINE.match(line[0])
        if marked:
            yield Heading(line.start(), line.end(), len(marked[1]), _title(content))
        elif underline and alone is not None:
            yield Heading(alone[0], line.end(), 1 if underline[1] else 2, " ".join(text[slice(*alone)].split()))
        may_stand = after_blank and content and not (is_code or marked or underline or _UNTITLED.match(line[0]))
        alone = line.span() if may_stand else None
        after_blank = not content or bool(marked or underline)


def _title(line: str) -> str:
    """A heading's words, without the signs around them; signs at its end count only after a space."""
    words = line.lstrip("#").strip()
    bare = words.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else words


def front_matter_end(text: str) -> int:
    """Where the block between two lines of dashes at the very top ends, or 0."""
    lines = _LINE.finditer(text, 1 if text.startswith("\ufeff") else 0, MOST_FRONT_MATTER_CHARS)
    head = [line[0].rstrip() for line in islice(lines, 2)]
    # A text may begin with a rule as well, and hold another one far below.
    if len(head) < 2 or head[0] != _DASHES or not _NAMED_VALUE.match(head[1]):
        return 0
    return next((line.end() for line in lines if line[0].rstrip() == _DASHES), 0)


def _joined(text: str, sections: Iterator[Chunk], *, most_bytes: int) -> Iterator[Chunk]:
    pending: Chunk | None = None
    parent: tuple[str, ...] = ()
    size = 0
    for section in sections:
        added = _bytes(text, section.start, section.end)
        if pending and size + added <= most_bytes and section.headings[: len(parent)] == parent:
            pending = Chunk(pending.start, section.end, _shared(pending.headings, section.headings))
            size += added
            continue
        if pending:
            yield pending
        pending, parent, size = section, section.headings[:-1], added
    if pending:
        yield pending


def _shared(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    count = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    return first[: min(len(first), len(second)) if count is None else count]


def _cuts(text: str, chunk: Chunk, *, most_bytes: int) -> Iterator[int]:
    code = fenced_blocks(text, chunk.start, chunk.end)
    at = chunk.start
    while True:
        last = _reach(text, at, chunk.end, most_bytes=most_bytes)
        if last >= chunk.end:
            return
        at = _best_cut(text, at, last, code=code)
        yield at


def _reach(text: str, start: int, end: int, *, most_bytes: int) -> int:
    """As far as the limit allows, and one character at least."""
    window = text[start : min(end, start + most_bytes)]
    if window.isascii():
        return start + max(1, len(window))
    encoded = window.encode("utf-8", "surrogatepass")
    if len(encoded) <= most_bytes:
        return start + len(window)
    stop = most_bytes
    while stop > 0 and encoded[stop] & 0xC0 == 0x80:
        stop -= 1
    return start + max(1, len(encoded[:stop].decode("utf-8", "surrogatepass")))


def _best_cut(text: str, start: int, last: int, *, code: list[Span]) -> int:
    """Between paragraphs, lines, sentences or words, whichever comes first and leaves no tiny part."""
    least = start + max(1, (last - start) // 4)
    paragraphs = [match.end() for match in _BLANK_LINES.finditer(text, least, last)]
    outside = [place for place in paragraphs if not is_inside(place, code)]
    if outside:
        return outside[-1]
    line = text.rfind("\n", least, last) + 1
    if line:
        return line
    sentences = [begin for begin, _ in split_sentences(text, start, last) if least <= begin]
    if sentences:
        return sentences[-1]
    word = text.rfind(" ", least, last) + 1
    return word or last


def _bytes(text: str, start: int, end: int) -> int:
    part = text[start:end]
    return len(part) if part.isascii() else len(part.encode("utf-8", "surrogatepass"))
