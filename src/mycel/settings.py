"""Settings: the environment and `mycel.toml` beside the data, as one frozen value. Nothing else reads either.

A dataclass and not a settings library: importing one would take longer than most commands run.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from mycel.errors import Misconfigured

FILE_NAME = "mycel.toml"
PREFIX = "MYCEL_"
# Their names are given from outside, without the prefix.
_RANKING_VARIABLES = {
    name: f"MEMORY_{name.upper()}"
    for name in ("recency_half_life_days", "access_boost_max", "access_recency_hours", "candidate_multiplier")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Variables of the environment win over `mycel.toml`, which wins over the defaults."""

    data: Path = field(default_factory=lambda: user_data_path("mycel"))
    agent: str | None = None
    max_content_bytes: int = 64 * 1024
    max_open_stores: int | None = None
    embedder: str = "none"
    embedding_model: str | None = None
    embedding_dimensions: int | None = None
    embedding_url: str | None = None
    embedding_key: str | None = field(default=None, repr=False)
    recency_half_life_days: float = 14.0
    access_boost_max: float = 1.5
    access_recency_hours: float = 48.0
    candidate_multiplier: int = 3


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return _RANKING_VARIABLES.get(name, PREFIX + name.upper())


def load_settings(data: str | Path | None = None) -> Settings:
    """For a data directory, or for the one the environment names."""
    given = {name: value for name in _READERS if (value := _variable(variable_of(name)))}
    values = {name: _read(name, value, origin=variable_of(name)) for name, value in given.items()}
    if data is not None:
        values["data"] = Path(data)
    folder = Settings(**values).data
    return _with_openai_key(Settings(**{**_read_file(folder / FILE_NAME), **values}))


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def _with_openai_key(settings: Settings) -> Settings:
    """Only where it goes to OpenAI itself: its key must not reach another host."""
    goes_to_openai = settings.embedder == "openai" and settings.embedding_url is None
    if settings.embedding_key is not None or not goes_to_openai:
        return settings
    return replace(settings, embedding_key=_variable("OPENAI_API_KEY") or None)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from None
    if "data" in found:
        raise Misconfigured(f"{path}: `data` says where this file is, so it cannot stand in it")
    return {name: _read(name, value, origin=f"{FILE_NAME}: {name}") for name, value in found.items()}


def _read(name: str, value: object, *, origin: str) -> Any:
    reader = _READERS.get(name)
    if reader is None:
        raise Misconfigured(f"{origin} is not a setting; known are {', '.join(_READERS)}")
    try:
        return reader(value)
    except (ValueError, TypeError) as error:
        raise Misconfigured(f"{origin}: {error}") from None


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text")
    return value


def _whole(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        number = int(value) if isinstance(value, str) and value.isdecimal() else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return number

    return read


def _number(accepts: Callable[[float], bool], *, wanted: str) -> Callable[[object], float]:
    def read(value: object) -> float:
        try:
            number = float(value) if isinstance(value, (str, int, float)) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if isinstance(value, bool) or not math.isfinite(number) or not accepts(number):
            raise ValueError(f"must be a number {wanted}")
        return number

    return read


_above_zero = _number(lambda number: number > 0, wanted="above 0")

_READERS: Mapping[str, Callable[[object], Any]] = {
    "data": lambda value: Path(_text(value)),
    "agent": _text,
    "max_content_bytes": _whole(1024, 1024 * 1024),
    "max_open_stores": _whole(1, 4096),
    "embedder": _text,
    "embedding_model": _text,
    "embedding_dimensions": _whole(1, 8192),
    "embedding_url": _text,
    "embedding_key": _text,
    "recency_half_life_days": _above_zero,
    "access_boost_max": _number(lambda number: number >= 1, wanted="of at least 1"),
    "access_recency_hours": _above_zero,
    "candidate_multiplier": _whole(1, 100),
}
