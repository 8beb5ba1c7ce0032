"""What a language model said is checked before anybody relies on it; no error quotes it."""

from __future__ import annotations

import json
from typing import cast

from mycel.errors import Unavailable
from mycel.providers.endpoint import LATER_SECONDS

_FENCE = "```"


def read_object(text: str | bytes, *, source: str) -> dict[str, object]:
    """`Unavailable` unless the text is one JSON object."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        raise wrong_answer(source, problem="it is not JSON") from None
    if not isinstance(found, dict):
        raise wrong_answer(source, problem="it is not a JSON object")
    return cast(dict[str, object], found)


def read_spoken_object(text: str, *, source: str) -> dict[str, object]:
    """The same for what the model wrote itself."""
    return read_object(_unfenced(text.strip()), source=source)


def _unfenced(text: str) -> str:
    """Without the marks of code that some models put around JSON when nothing forces them not to."""
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text[len(_FENCE) : -len(_FENCE)].removeprefix("json").strip()


def inner_object(value: object) -> dict[str, object]:
    """An object inside an answer; empty where something else stands."""
    return cast(dict[str, object], value) if isinstance(value, dict) else {}


def inner_list(value: object) -> list[object]:
    return cast(list[object], value) if isinstance(value, list) else []


def wrong_answer(source: str, *, problem: str) -> Unavailable:
    return Unavailable(f"{source} gave a wrong answer: {problem}")


def stopped_early(source: str) -> Unavailable:
    return Unavailable(f"{source} stopped in the middle of its answer, at its limit", retry_after=LATER_SECONDS)


def declined(source: str) -> Unavailable:
    return Unavailable(f"{source} declined to answer", retry_after=LATER_SECONDS)
