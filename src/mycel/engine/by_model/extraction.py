"""Candidates by a language model, each with the words of its source that support it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from mycel.contracts.language_model import LanguageModel
from mycel.domain.draft import MAX_TITLE, first_sentence, read_fields
from mycel.domain.memory import Category, MemoryType
from mycel.domain.source import USUAL_CATEGORY, Candidate, Transcript
from mycel.engine.by_model.prompts import read_prompt
from mycel.engine.by_model.windows import TOOL, Window, divide_into_windows
from mycel.errors import InvalidInput, Unavailable

# Shorter words stand in many places by chance, and prove nothing.
LEAST_CHARACTERS = 4
MOST_CHARACTERS = 4000

_QUOTATION_MARKS = "'\"`´′″‘’‚‛“”„‟«»‹›"  # noqa: RUF001
_ONE_MARK = str.maketrans(dict.fromkeys(_QUOTATION_MARKS, "'"))
# What people and models put around a quote or where they cut it off.
_AROUND = f" \t\r\n.…{_QUOTATION_MARKS}"

_SPACE = re.compile(r"\s+")
# Words of scripts with spaces. No quote begins or ends inside one; scripts without spaces have no such places.
_WORD = re.compile(r"[A-Za-z0-9]+")
_PIECE = re.compile(r"(?P<word>[A-Za-z0-9]+)|(?P<space>\s+)|[^A-Za-z0-9\s]+")


def find_quote(quote: str, text: str, *, start: int, end: int) -> tuple[int, int] | None:
    """Its first place between `start` and `end`; white space and quotation marks may differ, nothing else."""
    for wanted in dict.fromkeys((quote.strip(), quote.strip(_AROUND))):
        letters = sum(character.isalnum() for character in wanted)
        if letters < LEAST_CHARACTERS or len(wanted) > MOST_CHARACTERS:
            continue
        looked_for = _flat(wanted)
        found = _flat(text[start:end]).find(looked_for)
        if found >= 0:
            places = (_place(text, start, end, at) for at in (found, found + len(looked_for)))
            return next(places), next(places)
    return None


def _flat(text: str) -> str:
    """One sort of white space and of quotation marks, and NUL, which no text holds, where a word begins and ends."""
    return _SPACE.sub(" ", _WORD.sub("\0\\g<0>\0", text.translate(_ONE_MARK)))


def _place(text: str, start: int, end: int, at: int) -> int:
    """Where in the text a place of its flat form is."""
    for piece in _PIECE.finditer(text, start, end):
        size = piece.end() - piece.start()
        width = size + 2 if piece["word"] else 1 if piece["space"] else size
        if at < width:
            return piece.start() + min(at, size)
        at -= width
    return end


EXTRACTABLE = (
    MemoryType.FACT,
    MemoryType.LESSON,
    MemoryType.DECISION,
    MemoryType.PROFILE,
    MemoryType.PROJECT,
    MemoryType.TASK_HINT,
    MemoryType.REFERENCE,
)
# However sure a model says it is, nobody has looked at it yet.
MOST_CONFIDENCE = 0.95
# Twice what it is asked for; who gives more has lost the thread.
MOST_CANDIDATES = 40

WRONG_SHAPE = "wrong_shape"
INVENTED_EVIDENCE = "invented_evidence"
FROM_A_TOOL = "from_a_tool"
BEFORE_START = "before_start"
DUPLICATE = "duplicate"
TOO_MANY = "too_many"

_TEXT = {"type": "string"}
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "type": {"type": "string", "enum": [type.value for type in EXTRACTABLE]},
    "category": {"type": "string", "enum": [category.value for category in Category]},
    "title": _TEXT,
    "content": _TEXT,
    "rationale": _TEXT,
    "alternatives": {"type": "array", "items": _TEXT},
    "turn": {"type": "integer"},
    "quote": _TEXT,
    "confidence": {"type": "number"},
}
# Every field required, nothing optional and no bounds: what all vendors can hold a model to.
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "candidates": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _FIELDS,
                "required": list(_FIELDS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["candidates"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ModelExtraction:
    """Candidates by their place in the source, and how many others were dropped for which reason."""

    candidates: tuple[Candidate, ...]
    dropped: Mapping[str, int]


class _Dropped(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def extract_with_model(model: LanguageModel, transcript: Transcript, *, start: int = 0) -> ModelExtraction:
    """What the model finds in the talk from character `start` on. Raises what the model raises."""
    dropped: Counter[str] = Counter()
    kept: list[tuple[int, Candidate]] = []
    windows = divide_into_windows(transcript, most_characters=model.max_characters, start=start)
    for number, window in enumerate(windows):
        if not _can_support_anything(window, start=start):
            continue
        for entry in _entries(model, window, dropped=dropped):
            try:
                found = _candidate(entry, transcript=transcript, window=window, start=start, model=model.model)
                _require_new(found, kept, window=number)
            except _Dropped as drop:
                dropped[drop.reason] += 1
            else:
                kept.append((number, found))
    candidates = sorted((candidate for _, candidate in kept), key=lambda candidate: (candidate.start, candidate.end))
    return ModelExtraction(tuple(candidates), MappingProxyType(dict(dropped)))


def _can_support_anything(window: Window, *, start: int) -> bool:
    return any(piece.role != TOOL and piece.end > start for piece in window.pieces)


def _entries(model: LanguageModel, window: Window, *, dropped: Counter[str]) -> Iterator[Mapping[str, object]]:
    answer = model.answer(read_prompt("extraction"), window.text, schema=SCHEMA, name="candidates")
    entries = answer.get("candidates")
    if not isinstance(entries, list):
        raise Unavailable(f"the language model {model.model} gave a wrong answer: it has no list `candidates`")
    for number, entry in enumerate(cast(list[object], entries)):
        if number >= MOST_CANDIDATES:
            dropped[TOO_MANY] += 1
        elif isinstance(entry, dict):
            yield cast(dict[str, object], entry)
        else:
            dropped[WRONG_SHAPE] += 1


def _candidate(
    entry: Mapping[str, object], *, transcript: Transcript, window: Window, start: int, model: str
) -> Candidate:
    try:
        values = read_fields(_given(entry)).values
    except InvalidInput:
        raise _Dropped(WRONG_SHAPE) from None
    if values["type"] not in EXTRACTABLE:
        raise _Dropped(WRONG_SHAPE)
    first, last = _evidence(entry, transcript=transcript, window=window)
    if first < start:
        raise _Dropped(BEFORE_START)
    return Candidate(
        type=values["type"],
        title=values["title"],
        content=values["content"].strip(),
        confidence=min(values["confidence"], MOST_CONFIDENCE),
        start=first,
        end=last,
        category=_category(values),
        grounds=model,
        said_by=next((turn.speaker for turn in transcript.turns if turn.start <= first < turn.end), None),
        rationale=values.get("rationale"),
        alternatives=values["alternatives"],
    )


def _category(values: Mapping[str, Any]) -> Category:
    """One of those that the rules use too: what both have drawn must be able to meet."""
    named = values.get("category")
    return Category(named) if named in set(Category) else USUAL_CATEGORY[values["type"]]


def _given(entry: Mapping[str, object]) -> dict[str, object]:
    """The fields as a request would give them: what is empty is left out, what is missing stays wrong."""
    content = entry.get("content")
    if not isinstance(content, str):
        raise _Dropped(WRONG_SHAPE)
    optional = {"category": _slug(entry.get("category")), "rationale": entry.get("rationale")}
    return {
        "type": entry.get("type"),
        "title": _title(entry.get("title"), content=content),
        "content": content,
        "confidence": entry.get("confidence"),
        "alternatives": _filled(entry.get("alternatives")),
        **{name: value for name, value in optional.items() if not _is_blank(value)},
    }


def _title(value: object, *, content: str) -> object:
    if _is_blank(value):
        return first_sentence(content)
    if not isinstance(value, str):
        return value
    title = " ".join(value.split())
    return title if len(title) <= MAX_TITLE else first_sentence(title)


def _slug(value: object) -> object:
    """Models write a category in many ways, and it is compared by its letters."""
    return "-".join(value.lower().replace("_", " ").split()) if isinstance(value, str) else value


def _filled(value: object) -> object:
    if isinstance(value, list):
        return [text for text in cast(list[object], value) if not _is_blank(text)]
    return [] if _is_blank(value) else value


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _evidence(entry: Mapping[str, object], *, transcript: Transcript, window: Window) -> tuple[int, int]:
    quote = entry.get("quote")
    if not isinstance(quote, str):
        raise _Dropped(WRONG_SHAPE)
    # Models miscount turns more often than they misquote them.
    likely_first = sorted(window.pieces, key=lambda piece: (piece.number != entry.get("turn"), piece.role == TOOL))
    for piece in likely_first:
        if found := find_quote(quote, transcript.text, start=piece.start, end=piece.end):
            if piece.role == TOOL:
                raise _Dropped(FROM_A_TOOL)
            return found
    raise _Dropped(INVENTED_EVIDENCE)


def _require_new(found: Candidate, kept: Sequence[tuple[int, Candidate]], *, window: int) -> None:
    for other_window, other in kept:
        is_same_place = other_window != window and _shares_evidence(found, other)
        if found.type is other.type and (is_same_place or _words(found.content) == _words(other.content)):
            raise _Dropped(DUPLICATE)


def _shares_evidence(one: Candidate, other: Candidate) -> bool:
    """Windows overlap, and a model says the same thing in other words the second time."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    return 2 * shared >= min(one.end - one.start, other.end - other.start)


def _words(content: str) -> list[str]:
    return content.casefold().split()
