"""Large JSON read element by element, in memory bounded by the largest element; one bad element costs only itself.

Libraries that read JSON as a stream end at the first thing that is wrong. Here brackets and strings are followed, each
element is cut out and parsed by itself, and one that cannot be parsed is told as such.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, cast

from mycel.domain.fields import MAX_DEPTH

MAX_ELEMENT_BYTES = 64 * 1024 * 1024
# Exports of talks nest a few levels; what is far deeper was made to break readers.
MAX_NESTED = 4 * MAX_DEPTH
_CHUNK = 256 * 1024
# A string, also one whose end is not there yet; or a bracket, a comma, a colon.
_TOKEN = re.compile(rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)("?)|[\[\]{},:]', re.DOTALL)
# An object up to the comma after it, with no more than one level of others inside: nearly every record is one.
_STRING = rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"'
_PLAIN = rb'(?>(?:[^{}\[\]"]++|' + _STRING + rb")*)"
_SHALLOW = re.compile(
    rb'[ \t\r\n]*+(\{(?>(?:[^{}\[\]"]++|' + _STRING + rb"|\{" + _PLAIN + rb"\}|\[" + _PLAIN + rb"\])*)\})[ \t\r\n]*+,",
    re.DOTALL,
)
_BLANK = b" \t\r\n\xef\xbb\xbf"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Element:
    """`value` where it could be read, else why not. `name` is the member of the outermost object that it is of."""

    name: str
    number: int
    value: Any = None
    problem: str | None = None
    # What the file ends with, and is not whole.
    is_cut: bool = False


class Cut(Exception):
    """The text ends before it is complete."""


def parsed(raw: bytes | str) -> Any:
    """One JSON value; `ValueError` with a plain reason. Halves of characters and NUL, which nobody can keep, go."""
    try:
        value: Any = json.loads(raw)
    except RecursionError:
        raise ValueError("is nested too deep") from None
    except ValueError:
        raise ValueError("is not valid JSON") from None
    has_escape = b"\\u" in raw if isinstance(raw, bytes) else "\\u" in raw
    return storable(value) if has_escape else value


def storable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [storable(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {storable(name): storable(one) for name, one in cast("dict[Any, Any]", value).items()}
    return value


def json_lines(file: IO[bytes]) -> Iterator[Element]:
    """One for each value; several may stand in one line, as after two programs wrote at once."""
    number = 0
    while line := file.readline(MAX_ELEMENT_BYTES + 1):
        number += 1
        if len(line) > MAX_ELEMENT_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(_CHUNK)
            yield Element("", number, problem=f"is longer than {MAX_ELEMENT_BYTES:,} bytes")
        elif filled := line.strip(_BLANK + b"\0"):
            yield from _values_in(filled, number, is_last=not line.endswith(b"\n"))


def _values_in(line: bytes, number: int, *, is_last: bool) -> Iterator[Element]:
    try:
        yield Element("", number, parsed(line))
    except ValueError as error:
        several = _concatenated(line)
        if several is None:
            yield Element("", number, problem=str(error), is_cut=is_last)
        else:
            yield from (Element("", number, value) for value in several)


def _concatenated(line: bytes) -> list[Any] | None:
    """Objects that stand one after another, all of them whole."""
    found: list[Any] = []
    text = line.decode("utf-8", "replace")
    at = 0
    reader = json.JSONDecoder()
    try:
        while at < len(text):
            value, at = reader.raw_decode(text, at)
            found.append(storable(value))
            while at < len(text) and text[at] in " \t\r\n,":
                at += 1
    except (ValueError, RecursionError):
        return None
    return found


class _Buffer:
    """A window into a file, which begins at the element being read whenever more of it is needed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.text = b""
        self.ended = False

    def more(self) -> None:
        # As much again, so that a long string is looked at a few times and not once a chunk.
        part = self._file.read(max(_CHUNK, len(self.text)))
        self.ended = not part
        self.text += part

    def drop(self, upto: int) -> None:
        self.text = self.text[upto:]


def elements(file: IO[bytes]) -> Iterator[Element]:
    """The elements of the outermost list, or of the lists in the outermost object; its other members whole.

    Raises `Cut` after the last whole element of a text that ends too early, and `ValueError` where it is no such text.
    """
    buffer = _Buffer(file)
    buffer.more()
    buffer.drop(len(buffer.text) - len(buffer.text.lstrip(_BLANK)))
    opening = buffer.text[:1]
    if opening not in (b"[", b"{"):
        raise ValueError("is not a JSON list or object")
    yield from _Splitter(buffer, in_object=opening == b"{").elements()


class _Splitter:
    """Follows brackets. `base` is the depth at which elements stand: 1 in a list, 2 in a list of the object."""

    def __init__(self, buffer: _Buffer, *, in_object: bool) -> None:
        self._buffer = buffer
        self._in_object = in_object
        self._depth = 1
        self._name = ""
        self._in_list = not in_object
        self._number = 0
        self._deepest = 0
        self._too_large = False
        self._start = self._at = 1
        self._has_bracket = False
        # Between a list of the object and the comma after it.
        self._is_after_list = False

    def elements(self) -> Iterator[Element]:
        while True:
            if self._in_list and self._at == self._start and not self._too_large:
                yield from self._shallow()
            token = _TOKEN.search(self._buffer.text, self._at)
            if token is None or (token[0][:1] == b'"' and not token[1]):
                # From the string that has no end yet, or from where nothing was found.
                self._at = len(self._buffer.text) if token is None else token.start()
                self._let_go()
                self._shrink()
                self._buffer.more()
                if self._buffer.ended:
                    raise Cut
                continue
            self._at = token.end()
            found = self._step(token[0], token.start())
            if found is not None:
                yield found
            if self._depth == 0:
                return

    def _shallow(self) -> Iterator[Element]:
        """Those at the place that one look finds whole; what follows them is looked at sign by sign."""
        at = self._at
        while found := _SHALLOW.match(self._buffer.text, at):
            at = found.end()
            yield self._element(found[1])
        self._begin(at)
        self._at = at

    def _step(self, sign: bytes, at: int) -> Element | None:
        if sign[:1] == b'"' or sign == b":":
            if sign == b":" and self._depth == 1 and self._in_object:
                self._name = self._text(at).strip().strip(b'"').decode("utf-8", "replace")
                self._begin(at + 1)
            return None
        if sign in b"[{":
            return self._open(sign, at)
        if sign == b",":
            return self._ended(at) if self._depth == self._base else None
        return self._close(at)

    def _open(self, sign: bytes, at: int) -> None:
        if self._in_object and self._depth == 1:
            # A second bracket of one element begins no list, so that its text is looked at once.
            if sign == b"[" and not self._has_bracket and not self._text(at).strip():
                self._in_list = True
                self._begin(at + 1)
            self._has_bracket = True
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)

    def _close(self, at: int) -> Element | None:
        self._depth -= 1
        if self._depth == self._base - 1:
            found = self._ended(at)
            if self._in_object and self._in_list:
                self._in_list = False
                self._is_after_list = True
            return found
        return None

    @property
    def _base(self) -> int:
        return 2 if self._in_object and self._in_list else 1

    def _ended(self, at: int) -> Element | None:
        """What stood between two commas; nothing, after a list in an object or in an empty one."""
        raw = b"" if self._is_after_list else self._text(at).strip(_BLANK)
        deepest, too_large = self._deepest, self._too_large
        self._begin(at + 1)
        self._deepest, self._too_large = 0, False
        if not raw and not too_large:
            return None
        if too_large or deepest > MAX_NESTED:
            self._number += 1
            limit = f"larger than {MAX_ELEMENT_BYTES:,} bytes" if too_large else f"nested more than {MAX_NESTED} deep"
            return self._bad(f"is {limit}")
        return self._element(raw)

    def _element(self, raw: bytes) -> Element:
        self._number += 1
        try:
            return Element(self._name, self._number, parsed(raw))
        except ValueError as error:
            return self._bad(str(error))

    def _bad(self, problem: str) -> Element:
        return Element(self._name, self._number, problem=problem)

    def _begin(self, at: int) -> None:
        self._start, self._has_bracket, self._is_after_list = at, False, False

    def _let_go(self) -> None:
        """Once for each part that is read: for each element it would take the square of their number."""
        self._buffer.drop(self._start)
        self._at -= self._start
        self._start = 0

    def _text(self, end: int) -> bytes:
        return self._buffer.text[self._start : end]

    def _shrink(self) -> None:
        """An element above the limit is passed over without being kept; of a string its opening stays."""
        text = self._buffer.text
        if len(text) <= MAX_ELEMENT_BYTES:
            return
        self._too_large = True
        slashes = len(text) - len(text.rstrip(b"\\"))
        self._buffer.text = (b'"' + b"\\" * (slashes % 2)) if self._at < len(text) else b""
        self._at, self._start = 0, 0
