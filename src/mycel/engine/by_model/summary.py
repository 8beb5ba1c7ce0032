"""Summaries by a language model; of what is too long for one question, summaries of summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mycel.contracts.language_model import LanguageModel
from mycel.domain import fields
from mycel.domain.source import Transcript, Turn
from mycel.engine.by_model.prompts import read_prompt
from mycel.engine.by_model.windows import divide_into_windows
from mycel.errors import InvalidInput, Unavailable

MOST_CHARACTERS = 1200
# Each round must leave less than it was given.
LEAST_SHRINKING = 4
CUT_MARK = "…"

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
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
    try:
        text = fields.filled_text(answer.get("summary"), field="summary", max_bytes=64 * 1024).strip()
    except InvalidInput:
        raise Unavailable(f"the language model {model.model} gave a wrong answer: it has no text `summary`") from None
    return text if len(text) <= most else _shortened(text, most=most)


def _shortened(text: str, *, most: int) -> str:
    """Up to the last sentence that fits, or else the last word."""
    kept = text[: most - len(CUT_MARK)]
    sentence_end = max(kept.rfind(mark) for mark in (". ", "! ", "? ", "\n", "\u3002"))
    if 2 * sentence_end >= most:
        return kept[: sentence_end + 1].rstrip()
    head, space, _ = kept.rpartition(" ")
    return (head if space and 2 * len(head) >= most else kept).rstrip() + CUT_MARK


def _as_transcript(parts: Sequence[str]) -> Transcript:
    text, turns = "", list[Turn]()
    for part in parts:
        turns.append(Turn("", len(text), len(text) + len(part)))
        text += part + "\n"
    return Transcript(text, tuple(turns))
