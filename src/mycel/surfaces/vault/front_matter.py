"""The front matter of a note: read by its YAML, changed key by key, and otherwise left as it is, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from mycel.errors import InvalidInput

FENCE = "---"
# Enough for any note; what expands or nests without end is refused before it is read.
MAX_BYTES = 16 * 1024
MAX_DEPTH = 16
BOM = "\ufeff"

# A text, a list of texts, or nothing.
Value = str | list[str] | None
# A plain YAML word that means itself everywhere: no number, date, truth value or sign of the grammar.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z_/-]{0,199}")
_WORDS_OF_YAML = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


class _Span(NamedTuple):
    """Where a key and its value stand in the block, in characters."""

    key: int
    value: int
    end: int
    in_lines: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A file taken apart: `head + block + tail + body` is its text again."""

    head: str
    block: str
    tail: str
    body: str
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    spans: Mapping[str, _Span] = field(default_factory=dict[str, _Span])

    def value(self, name: str) -> Value:
        """Raises `InvalidInput` for a value that no key of a memory has."""
        if name in self.spans and name not in self.values:
            raise InvalidInput("must be a text or a list of texts", field=name)
        return self.values.get(name)

    @property
    def text(self) -> str:
        return self.head + self.block + self.tail + self.body

    @property
    def has_front_matter(self) -> bool:
        return bool(self.tail)

    @property
    def line_end(self) -> str:
        """Of the opening line; of the first where there is no front matter."""
        line = self.head if self.has_front_matter else _line_at(self.body, 0)
        return "\r\n" if line.endswith("\r\n") else "\n"


def read_note(text: str) -> Note:
    """Raises `InvalidInput` for front matter that is cut off, that is no YAML, or that no key can be changed in."""
    start = len(text) - len(text.removeprefix(BOM).lstrip(" \t\r\n"))
    opening = _line_at(text, start)
    if opening.rstrip() != FENCE:
        return Note("", "", "", text)
    place = start + len(opening)
    begin = place
    while place < len(text):
        line = _line_at(text, place)
        if line.rstrip() == FENCE:
            block = text[begin:place]
            values, spans = _read_block(block, first_line=text.count("\n", 0, begin) + 1)
            return Note(text[:begin], block, line, text[place + len(line) :], values, spans)
        place += len(line)
    raise InvalidInput("has no end: a line of --- is missing", field="front matter")


def changed_note(note: Note, values: Mapping[str, Value]) -> str:
    """The text with these keys set, or taken out where they are None, and every other byte as it was."""
    end = note.line_end
    if not note.has_front_matter:
        lines = "".join(_line(name, value, end) for name, value in values.items() if value is not None)
        mark = BOM if note.body.startswith(BOM) else ""
        return f"{mark}{FENCE}{end}{lines}{FENCE}{end}{note.body.removeprefix(BOM)}"
    block = note.block
    # From the end, so that the places of the others stay right.
    for name in sorted(values.keys() & note.spans.keys(), key=lambda name: note.spans[name].key, reverse=True):
        block = _with_value(block, note.spans[name], name, values[name], end)
    for name, value in values.items():
        if name not in note.spans and value is not None:
            block += ("" if not block or block.endswith("\n") else end) + _line(name, value, end)
    return note.head + block + note.tail + note.body


def with_body(text: str, body: str) -> str:
    """The text with another body; blank lines before it, the end of the last line and line ends stay as they were."""
    note = read_note(text)
    old, end = note.body, note.line_end
    lead = old[: len(old) - len(old.lstrip("\r\n"))] if old.strip("\r\n") else ""
    has_end = old.endswith("\n") or not old
    return note.head + note.block + note.tail + lead + body.replace("\n", end) + (end if has_end else "")


def normal_body(body: str) -> str:
    """What a body says, whatever its line ends and the blank lines around it."""
    return body.removeprefix(BOM).replace("\r\n", "\n").strip("\n")


def _line_at(text: str, place: int) -> str:
    end = text.find("\n", place)
    return text[place:] if end == -1 else text[place : end + 1]


def _read_block(block: str, *, first_line: int) -> tuple[dict[str, Value], dict[str, _Span]]:
    # Here, since no other command needs it.
    import yaml

    if len(block.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InvalidInput(f"is longer than {MAX_BYTES:,} bytes", field="front matter")
    try:
        _refuse_tricks(block)
        root = cast(Any, yaml.compose(block, Loader=_loader()))  # pyright: ignore[reportUnknownMemberType]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" near line {mark.line + first_line}"
        raise InvalidInput(f"is not valid YAML{where}", field="front matter") from None
    if root is None:
        return {}, {}
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise InvalidInput("must be one name and value a line", field="front matter")
    values: dict[str, Value] = {}
    spans: dict[str, _Span] = {}
    for key, value in cast(list[tuple[Any, Any]], root.value):
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        if name in spans:
            raise InvalidInput(f"says {name!r} twice", field="front matter")
        in_lines = value.start_mark.line > key.start_mark.line or getattr(value, "style", None) in {"|", ">"}
        spans[name] = _Span(key.start_mark.index, value.start_mark.index, _end_of(value, block), in_lines)
        if _is_simple(value):
            values[name] = _value_of(value)
    return values, spans


def _loader() -> Any:
    """Ten times faster where it was built with the library in C."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _refuse_tricks(block: str) -> None:
    """Aliases expand a small text into gigabytes, and deep nesting exhausts the reader's stack."""
    import yaml

    depth = 0
    events = cast(Iterator[yaml.Event], yaml.parse(block, Loader=_loader()))  # pyright: ignore[reportUnknownMemberType]
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InvalidInput("must not use anchors or aliases", field="front matter")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise InvalidInput(f"is nested more than {MAX_DEPTH} deep", field="front matter")


def _end_of(node: Any, block: str) -> int:
    """Where a value ends: what YAML counts to it after its last word belongs to nobody."""
    children: list[Any] = node.value if not isinstance(node.value, str) and not node.flow_style else []
    if children:
        last = children[-1]
        return _end_of(last[1] if isinstance(last, tuple) else last, block)
    end: int = node.end_mark.index
    if getattr(node, "style", None) in {"|", ">"}:
        lines = block[:end].split("\n")
        while lines and (not lines[-1].strip() or lines[-1].startswith("#")):
            lines.pop()
        end = len("\n".join(lines))
    return end


def _is_simple(node: Any) -> bool:
    return isinstance(node.value, str) or all(isinstance(getattr(one, "value", None), str) for one in node.value)


def _value_of(node: Any) -> Value:
    if isinstance(node.value, str):
        return None if not node.style and node.value in _NOTHING else node.value
    return [str(one.value) for one in node.value if one.value]


def _with_value(block: str, span: _Span, name: str, value: Value, end: str) -> str:
    if value is None or (span.in_lines and not isinstance(value, list)):
        start = block.rfind("\n", 0, span.key) + 1
        stop = block.find("\n", span.end)
        rest = "" if stop == -1 else block[stop + 1 :]
        return block[:start] + ("" if value is None else _line(name, value, end)) + rest
    if span.in_lines and isinstance(value, list) and value and block[span.value : span.value + 1] == "-":
        indent = block[block.rfind("\n", 0, span.value) + 1 : span.value]
        return block[: span.value] + f"{end}{indent}".join(f"- {_scalar(one)}" for one in value) + block[span.end :]
    colon = block.find(":", span.key + len(name))
    start = span.value if span.end > span.value and not span.in_lines else colon + 1
    space = "" if block[start - 1 : start] == " " else " "
    return block[:start] + space + _rendered(value) + block[span.end :]


def _line(name: str, value: Value, end: str) -> str:
    return f"{name}: {_rendered(value)}{end}"


def _rendered(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    return _scalar(value or "")


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNSAFE = re.compile('[\\\\"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _scalar(text: str) -> str:
    is_plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS_OF_YAML
    if is_plain or _ID.fullmatch(text) or _NUMBER.fullmatch(text):
        return text
    return '"' + _UNSAFE.sub(lambda found: _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}", text) + '"'
