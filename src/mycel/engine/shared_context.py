"""Shared markdown notes read as knowledge: sections and `- key: value` lines, each with the exact place of its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mycel.domain.memory import Category
from mycel.engine.chunks import PATH_SIGN, Heading, find_headings, front_matter_end
from mycel.engine.english.sentences import Span, fenced_blocks, is_inside

MOST_KEY_CHARS = 180
MOST_TITLE_CHARS = 200
_MOST_NAME_WORDS = 6
_MOST_NAME_CHARS = 60

# Headings that name a category, in the singular and the plural.
_CATEGORIES = {
    heading: category.value
    for category in Category
    for heading in (category.replace("-", " "), category.replace("-", " ") + "s")
}
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BULLET = re.compile(r"([-*+])[ \t]+")
_INDENTED = re.compile(r"[ \t]+\S")
# `**key**: value`, `**key:** value`, or a plain or quoted `key: value`; a colon inside a word ends no key. A plain one
# is bounded here already: looking for its end in a long run of spaces would take the square of its length.
_NAMED = re.compile(
    r"(?:\*\*(?P<bold>[^*\n]+?)(?::\*\*|\*\*[ \t]*:)|`(?P<code>[^`\n]+)`[ \t]*:"
    r"|(?P<plain>[^\s:*`][^:\n]{0,59}?)[ \t]*:)(?=\s|$)"
)
_SENTENCE_SIGNS = re.compile(r"[.!?,;()\[\]]")
_NOT_IN_SLUG = re.compile(r"[^\w]+|_+")


@dataclass(frozen=True, slots=True)
class Entry:
    """The value is what stands between `start` and `end`; the category is None where no heading names one."""

    key: str
    category: str | None
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Empty:
    """A part that holds nothing to keep as a value."""

    start: int
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Section:
    titles: tuple[str, ...]
    start: int
    end: int
    has_parts: bool = False


def read_shared_context(text: str, *, name: str) -> tuple[list[Entry], list[Empty]]:
    """Entries in the order of the file; of equal keys in one category the second is numbered, `key-2`, and so on."""
    found: list[Entry] = []
    empty: list[Empty] = []
    body = front_matter_end(text)
    if body:
        empty.append(Empty(0, "front matter", "says how to read the file, not what is known"))
    code = fenced_blocks(text, body)
    for section in _sections(text, body):
        category, path = _place(section.titles)
        entries, gaps = _read_section(text, section, path or (_stem(name),), category=category, code=code)
        found += entries
        empty += gaps
    return _numbered(found), empty


def lines_of(text: str, places: Iterable[int]) -> list[int]:
    """The number of the line of each place; the places in their order."""
    found: list[int] = []
    line, seen = 1, 0
    for place in places:
        line += text.count("\n", seen, place)
        seen = place
        found.append(line)
    return found


def slug(words: str) -> str:
    return _NOT_IN_SLUG.sub("-", words.casefold()).strip("-") or "section"


def _stem(name: str) -> str:
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last.rpartition(".")[0] or last


def _sections(text: str, start: int) -> Iterator[_Section]:
    """What stands under each heading itself. A single highest heading at the top is the name of the whole file."""
    headings = list(find_headings(text, start))
    top = min((heading.level for heading in headings), default=0)
    names_file = len([heading for heading in headings if heading.level == top]) == 1 and headings[0].level == top
    first = headings[0].start if headings else len(text)
    if text[start:first].strip():
        yield _Section((), start, first)
    levels: list[Heading] = []
    for at, heading in enumerate(headings):
        while levels and levels[-1].level >= heading.level:
            levels.pop()
        levels.append(heading)
        after = headings[at + 1] if at + 1 < len(headings) else None
        has_parts = after is not None and after.level > heading.level
        titles = tuple(level.title for level in levels if level.title)
        if names_file and len(levels) > 1 and _category_of(levels[0].title) is None:
            titles = titles[1:] if levels[0].title else titles
        yield _Section(titles, heading.end, len(text) if after is None else after.start, has_parts)


def _category_of(title: str) -> str | None:
    return _CATEGORIES.get(slug(title).replace("-", " "))


def _place(titles: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The category that the highest of the headings names, and the path below that heading."""
    for at, title in enumerate(titles):
        category = _category_of(title)
        if category is not None:
            below = (*titles[:at], *titles[at + 1 :])
            return category, below or (title,)
    return None, tuple(titles)


def _read_section(
    text: str, section: _Section, path: tuple[str, ...], *, category: str | None, code: list[Span]
) -> tuple[list[Entry], list[Empty]]:
    found: list[Entry] = []
    empty: list[Empty] = []
    below = () if category is not None and _category_of(path[0]) == category and len(path) == 1 else path
    below = below if section.titles else ()
    for start, end, name in _pieces(text, section, code):
        names = path if name is None else (*below, name)
        span = _stripped(text, start, end)
        if span is not None:
            found.append(Entry(_key(names), category, _title(section.titles, name), *span))
        elif name is not None:
            empty.append(Empty(start, _title(section.titles, name), "has no text"))
    if not found and not empty and not section.has_parts:
        empty.append(Empty(section.start, _title(section.titles, None), "has no text"))
    return found, empty


def _pieces(text: str, section: _Section, code: list[Span]) -> Iterator[tuple[int, int, str | None]]:
    """Named lines with all that belongs to them, and the runs of other text between them."""
    run = section.start
    open_name: str | None = None
    value = 0
    blank = False
    for line in _LINE.finditer(text, section.start, section.end):
        is_code = is_inside(line.start(), code)
        named = None if is_code else _named(line[0])
        leaves = blank and line[0].strip() and not _INDENTED.match(line[0])
        other = open_name is not None and not is_code and (leaves or _BULLET.match(line[0]))
        if named or other:
            yield (run, line.start(), None) if open_name is None else (value, line.start(), open_name)
            open_name, run = None, line.start()
        if named:
            open_name, value = named[0], line.start() + named[1]
        blank = not line[0].strip()
    yield (run, section.end, None) if open_name is None else (value, section.end, open_name)


def _named(line: str) -> tuple[str, int] | None:
    """The name that a list item begins with, and where its value begins in the line."""
    bullet = _BULLET.match(line)
    match = bullet and _NAMED.match(line, bullet.end())
    if not match:
        return None
    plain = match["plain"]
    if plain is not None and not _is_name(plain):
        return None
    return (match["bold"] or match["code"] or plain or "").strip(), match.end()


def _is_name(words: str) -> bool:
    """A few words; a sentence with a colon in it is no name."""
    few = len(words) <= _MOST_NAME_CHARS and len(words.split()) <= _MOST_NAME_WORDS
    return few and not _SENTENCE_SIGNS.search(words)


def _stripped(text: str, start: int, end: int) -> Span | None:
    part = text[start:end]
    if not part.strip():
        return None
    first = start + len(part) - len(part.lstrip())
    return first, start + len(part.rstrip())


def _key(names: Sequence[str]) -> str:
    return "/".join(slug(name) for name in names)[:MOST_KEY_CHARS].rstrip("/-")


def _title(titles: Sequence[str], name: str | None) -> str:
    named = PATH_SIGN.join([*titles, *([name] if name else [])])
    words = " ".join("".join(map(_shown, named)).split()) or "the beginning"
    return words if len(words) <= MOST_TITLE_CHARS else words[: MOST_TITLE_CHARS - 1].rstrip() + "…"


def _shown(sign: str) -> str:
    """A title is one line of what can be seen; signs that cannot may stand in any heading, as inside an emoji."""
    if sign.isprintable():
        return sign
    return "" if unicodedata.category(sign) == "Cf" else " "


def _numbered(entries: Sequence[Entry]) -> list[Entry]:
    taken = {(entry.category, entry.key) for entry in entries}
    counts: dict[tuple[str | None, str], int] = {}
    found: list[Entry] = []
    for entry in entries:
        place = (entry.category, entry.key)
        counts[place] = number = counts.get(place, 0) + 1
        key = entry.key
        while number > 1 and (entry.category, key := f"{entry.key}-{number}") in taken:
            number += 1
        if number > 1:
            taken.add((entry.category, key))
            counts[place] = number
        found.append(replace(entry, key=key))
    return found
