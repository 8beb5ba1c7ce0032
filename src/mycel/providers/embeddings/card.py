"""The card of a local model: what `model.onnx` and `tokenizer.json` do not say about themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from mycel.contracts.embedder import Background
from mycel.errors import Misconfigured

FILE_NAME = "card.json"
# A guess at where general models lie, for cards without the measured numbers of their own model.
USUAL_BACKGROUND = Background(mean=0.25, deviation=0.12, spread=0.08)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    name: str
    dimensions: int
    pooling: Literal["cls", "mean"]
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 256
    background: Background | None = None


def read_card(path: Path) -> Card:
    try:
        found: object = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise Misconfigured(f"{path} is not JSON") from None
    if not isinstance(found, dict):
        raise Misconfigured(f"{path} must hold an object")
    fields = cast(dict[str, object], found)
    if missing := [name for name in ("name", "dimensions", "pooling") if name not in fields]:
        raise Misconfigured(f"{path}: {missing[0]} is missing")
    return Card(**{name: _read(value, name=name, path=path) for name, value in fields.items()})


def _read(value: object, *, name: str, path: Path) -> Any:
    reader = _READERS.get(name)
    if reader is None:
        raise Misconfigured(f"{path}: {name} is not a field of a card; known are {', '.join(_READERS)}")
    try:
        return reader(value)
    except ValueError as error:
        raise Misconfigured(f"{path}: {name} {error}") from None


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 200:
        raise ValueError("must be one line of text, of at most 200 characters")
    return value.strip()


def _pooling(value: object) -> str:
    if value not in ("cls", "mean"):
        raise ValueError('must be "cls" or "mean"')
    return cast(str, value)


def _prefix(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def _whole(least: int, *, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return read


def _background(value: object) -> Background:
    fields = cast(dict[str, object], value) if isinstance(value, dict) else {}
    names = ("mean", "deviation", "spread")
    if set(fields) != set(names):
        raise ValueError(f"must be an object with {', '.join(names)}")
    mean, deviation, spread = (_number(fields[name]) for name in names)
    if not -1 <= mean <= 1 or not 0 < deviation <= 1 or not 0 < spread <= 1:
        raise ValueError("must have a mean from -1 to 1, and a deviation and a spread above 0, at most 1")
    return Background(mean=mean, deviation=deviation, spread=spread)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("must have numbers in it")
    return float(value)


_READERS: Mapping[str, Callable[[object], Any]] = {
    "name": _name,
    "dimensions": _whole(1, most=8192),
    "pooling": _pooling,
    "query_prefix": _prefix,
    "document_prefix": _prefix,
    # Fewer would leave little but the special tokens, which count too.
    "max_tokens": _whole(8, most=32768),
    "background": _background,
}
