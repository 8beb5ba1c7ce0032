"""Summaries by a language model; of what is too long for one question, summaries of summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from mycel.contracts.language_model import LanguageModel
from mycel.domain import fields
from mycel.domain.session_summary import Part, write_parts
from mycel.domain.source import Transcript, Turn
from mycel.engine.by_model.prompts import read_prompt
from mycel.engine.by_model.windows import divide_into_windows
from mycel.errors import InvalidInput, Unavailable

MOST_CHARACTERS = 1600
# Each round must leave less than it was given.
LEAST_SHRINKING = 4
CUT_MARK = "…"

# What belongs to no part is for rules, which do not understand what they read.
PARTS = tuple(part for part in Part if part is not Part.SAID)
MOST_POINTS = 50
_LISTS: Mapping[str, Any] = {
    "type": "object",
    "properties": {part.lower(): {"type": "array", "items": {"type": "string"}} for part in PARTS},
    "required": [part.lower() for part in PARTS],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": _LISTS},
    "required": ["summary"],
    "additionalProperties": False,
}


def summarize_with_model(
    model: LanguageModel, transcript: Transcript, *, most_characters: int = MOST_CHARACTERS
) -> str:
    """At most so many characters; empty when nothing was said. Raises what the model raises."""
    most = min(most_characters, model.max_characters // LEAST_SHRINKING)
    windows = divide_into_windows(transcript, most_characters=model.max_characters)
    parts = [_summary(model, window.text, most=most) for window in windows]
    if len(parts) > 1:
        return summarize_with_model(model, _as_transcript(parts), most_characters=most_characters)
    return parts[0] if parts else ""


def _summary(model: LanguageModel, material: str, *, most: int) -> str:
    instructions = read_prompt("summary").replace("{most_characters}", str(most))
    answer = model.answer(instructions, material, schema=SCHEMA, name="summary")
    parts = _parts(model, answer.get("summary"))
    # The first of each part are kept longest; a model that is told a length does not always keep to it.
    while len(text := write_parts(parts)) > most:
        longest = max(parts.values(), key=len)
        if len(longest) > 1:
            longest.pop()
            continue
        return _shortened(text, most=most)
    return text


def _parts(model: LanguageModel, summary: object) -> dict[Part, list[str]]:
    if isinstance(summary, str) and summary.strip():
        # A small model that keeps to no schema may still say something worth keeping.
        return {Part.SAID: _points(model, {Part.SAID.lower(): [summary]}, Part.SAID)}
    lists = cast("Mapping[str, Any]", summary if isinstance(summary, Mapping) else {})
    # Programs are held to no schema: some leave out the lists that would be empty.
    parts = {part: _points(model, lists, part) for part in PARTS if part.lower() in lists}
    if not parts:
        raise Unavailable(f"the language model {model.model} gave a wrong answer: `summary` is no object of lists")
    return parts


def _points(model: LanguageModel, answer: Mapping[str, Any], part: Part) -> list[str]:
    try:
        points = fields.several(answer.get(part.lower()), field=part.lower(), most=MOST_POINTS)
        return [fields.text(point, field=part.lower(), max_bytes=64 * 1024) for point in points]
    except InvalidInput as error:
        raise Unavailable(f"the language model {model.model} gave a wrong answer: {error}") from None


def _shortened(text: str, *, most: int) -> str:
    """Up to the last word that fits."""
    kept = text[: most - len(CUT_MARK)]
    head, space, _ = kept.rpartition(" ")
    return (head if space and 2 * len(head) >= most else kept).rstrip() + CUT_MARK


def _as_transcript(parts: Sequence[str]) -> Transcript:
    text, turns = "", list[Turn]()
    for part in parts:
        turns.append(Turn("", len(text), len(text) + len(part)))
        text += part + "\n"
    return Transcript(text, tuple(turns))
