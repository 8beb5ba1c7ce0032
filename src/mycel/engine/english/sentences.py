"""Sentences, list items and lines of a text, each as the exact place where it stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from mycel.engine.english import word_set

Span = tuple[int, int]

# A shorter line was ended by its author, a longer one by the width of the page.
LEAST_WRAPPED_CHARS = 50

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FILLED_LINE = re.compile(r"\S[^\n]*\n?")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_QUOTED = re.compile(r"[ \t]*>")
_ITEM = r"(?:[-*+\u2022\u2023\u25e6\u2043\u2013\u2014]|[0-9]{1,3}[.)]|[a-zA-Z][)])"
# What stands before the words of a line: quote marks, then a bullet or number with its box, or a heading's signs.
_MARKERS = re.compile(rf"[\s>]*+(?>(?:{_ITEM}\s++(?:\[[ xX]\]\s++)?|\#{{1,6}}\s++)?)")
_QUOTE_MARKS = re.compile(r"[\s>]*")
_OWN_LINE = re.compile(r"\s*+(?:#{1,6}\s|\||[-*_=]{3,}\s*$)")
_BULLET = re.compile(rf"\s*+{_ITEM}\s")
_WORD = re.compile(r"\w")
_BACKTICKS = re.compile(r"`+")

_CLOSERS = "\"'\u201d\u2019\u00bb\u203a)\\]}*_`\u300d\u300f\uff09\u3011"
_STOPS = ".!?\u2026\u0964\u061f\u06d4"
_END = re.compile(
    rf"(?:(?<![{_STOPS}])[{_STOPS}]++[{_CLOSERS}]*+(?=\s|$)|[\u3002\uff01\uff1f\uff61]++[{_CLOSERS}\u201c]*+)"
)
_LONGEST_ABBREVIATION = 12
_LAST_WORD = re.compile(rf"[^\s(\[{{\"'\u201c\u2018\u00ab/]{{0,{_LONGEST_ABBREVIATION}}}$")
_NEXT = re.compile(r"\s*(\S?)")
# The number of a list item.
_LONGEST_NUMBER = 3
_LONGEST_NAME = 40


# Ended by a full stop that ends no sentence, whatever follows.
_ABBREVIATIONS = word_set(
    "e.g i.e eg ie vs cf viz al approx ca resp incl excl dept tel ext u.s u.k z.b d.h u.a s.o bzw ggf vgl evtl p.ex"
)
# As names are written only; `ms` is a unit.
_TITLES = word_set("Dr Mr Mrs Ms Prof Sr Jr St Lt Sgt")
# Ordinary words too, unless a number follows.
_BEFORE_NUMBERS = word_set("no nos nr fig figs eq eqs sec ch vol pp p art para")
# What goes by a letter, as names do not.
_LETTERED = word_set("in option plan version step type class case variant point group part grade choice alternative")
# These end a sentence when a new one visibly begins.
_BEFORE_CAPITALS = word_set("etc inc ltd co corp a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec")


def split_sentences(text: str, start: int = 0, end: int | None = None, *, keep_code: bool = True) -> list[Span]:
    """The sentences between two offsets, in order, without the marks of lists, headings and quotes before them.

    A fenced block of code is one span, or none at all. What holds no word is left out.
    """
    stop = len(text) if end is None else min(end, len(text))
    found: list[Span] = []
    at = start
    for fence_start, fence_end in (*fenced_blocks(text, start, stop), (stop, stop)):
        for block_start, block_end in _blocks(text, at, fence_start):
            found += _sentences(text, block_start, block_end)
        if keep_code and fence_end > fence_start:
            found += _trimmed(text, fence_start, fence_end)
        at = fence_end
    return found


def fenced_blocks(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Blocks of code between two fences, each from the beginning of its first line to the end of its last.

    A block that is never closed ends with the text.
    """
    stop = len(text) if end is None else end
    found: list[Span] = []
    opened: tuple[int, str] | None = None
    # Most texts have no fence, and then no line need be looked at.
    if text.find("```", start, stop) < 0 and text.find("~~~", start, stop) < 0:
        return found
    for line in _LINE.finditer(text, start, stop):
        fence = _FENCE.match(text, line.start(), line.end())
        if fence is None:
            continue
        if opened is None:
            opened = line.start(), fence[1]
        elif fence[1].startswith(opened[1]) and not text[fence.end() : line.end()].strip():
            found.append((opened[0], line.end()))
            opened = None
    if opened is not None:
        found.append((opened[0], stop))
    return found


def is_inside(place: int, spans: Sequence[Span]) -> bool:
    """Whether one of the spans, which follow one another, holds the place."""
    number = bisect_right(spans, (place, place)) - 1
    return number >= 0 and spans[number][0] <= place < spans[number][1]


def _blocks(text: str, start: int, end: int) -> Iterator[Span]:
    """Lines that belong together: what the width of a page has broken is one, what an author has is not."""
    begun: int | None = None
    previous = (start, start)
    for line in _FILLED_LINE.finditer(text, start, end):
        if begun is not None and not _continues(text, begun, previous, line.span()):
            yield begun, previous[1]
            begun = None
        begun = line.start() if begun is None else begun
        previous = line.span()
    if begun is not None:
        yield begun, end


def _continues(text: str, begun: int, before: Span, line: Span) -> bool:
    """Whether a line goes on with what the one before it has left open."""
    if before[1] - before[0] <= LEAST_WRAPPED_CHARS or text.find("\n", before[1], line[0]) >= 0:
        return False
    if _QUOTED.match(text, line[0]) or _OWN_LINE.match(text, *line) or _BULLET.match(text, *line):
        return False
    return not (_QUOTED.match(text, begun) or _OWN_LINE.match(text, *before))


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    code = _code_spans(text, start, end)
    at = start
    first = _after_quote_marks(text, start, end)
    for stop in _END.finditer(text, start, end):
        if _is_end(text, start=first, stop=stop, end=end, code=code):
            yield from _trimmed(text, at, stop.end())
            at = stop.end()
            first = _after_quote_marks(text, at, end)
    yield from _trimmed(text, at, end)


def _after_quote_marks(text: str, start: int, end: int) -> int:
    marks = _QUOTE_MARKS.match(text, start, end)
    return marks.end() if marks else start


def _is_end(text: str, *, start: int, stop: re.Match[str], end: int, code: Sequence[Span]) -> bool:
    at = stop.start()
    if is_inside(at, code):
        return False
    following = _NEXT.match(text, stop.end(), end)
    first = following[1] if following else ""
    if not first or text[at] not in ".\u2026":
        return True
    before = _LAST_WORD.search(text, max(start, at - _LONGEST_ABBREVIATION), at)
    word = before[0] if before else ""
    if text[at] == "\u2026" or stop[0].startswith(".."):
        return bool(word) and not first.islower()
    return not _is_shortened(word, first) and not _is_initial(text, start, at, first)


def _is_shortened(word: str, first: str) -> bool:
    """Whether a full stop belongs to the word before it, given how the next one begins."""
    known = word.lower()
    if known in _BEFORE_CAPITALS:
        return not first.isupper()
    if known in _BEFORE_NUMBERS:
        return first.isdigit()
    # Without a word, the dot is a folder: `git add . && git commit`.
    return not word or known in _ABBREVIATIONS or word in _TITLES


def _is_initial(text: str, start: int, at: int, first: str) -> bool:
    """The number of a list item, or one letter of a name."""
    if at - start <= _LONGEST_NUMBER and _MARKERS.fullmatch(text, start, at + 2):
        return True
    words = text[max(start, at - _LONGEST_NAME) : at].split()
    if not words or len(words[-1]) != 1 or not words[-1].isupper() or words[-1] == "I":
        return False
    return first.isupper() and (len(words) == 1 or words[-2].lower() not in _LETTERED)


def _code_spans(text: str, start: int, end: int) -> list[Span]:
    """Code within a line: from a run of backticks to the next run of the same length."""
    if text.find("`", start, end) < 0:
        return []
    runs = list(_BACKTICKS.finditer(text, start, end))
    closing: dict[int, int] = {}
    partner: list[int | None] = [None] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        length = len(runs[number][0])
        partner[number] = closing.get(length)
        closing[length] = number
    found: list[Span] = []
    number = 0
    while number < len(runs):
        other = partner[number]
        if other is not None:
            found.append((runs[number].start(), runs[other].start()))
            number = other
        number += 1
    return found


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    marked = _MARKERS.match(text, start, end)
    begin = marked.end() if marked else start
    while end > begin and text[end - 1].isspace():
        end -= 1
    if _WORD.search(text, begin, end):
        yield begin, end
