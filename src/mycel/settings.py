"""Settings: the environment and `mycel.toml` beside the data, as one frozen value. Nothing else reads either.

A dataclass and not a settings library: importing one would take longer than most commands run.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from mycel.errors import Misconfigured

FILE_NAME = "mycel.toml"
PREFIX = "MYCEL_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`MYCEL_…` variables win over `mycel.toml`, which wins over the defaults."""

    data: Path = field(default_factory=lambda: user_data_path("mycel"))
    agent: str | None = None
    max_content_bytes: int = 64 * 1024
    max_open_stores: int | None = None


def load_settings(data: str | Path | None = None) -> Settings:
    """For a data directory, or for the one the environment names."""
    given = {name: value for name in _READERS if (value := os.environ.get(PREFIX + name.upper(), "").strip())}
    values = {name: _read(name, value, origin=PREFIX + name.upper()) for name, value in given.items()}
    if data is not None:
        values["data"] = Path(data)
    folder = Settings(**values).data
    return Settings(**{**_read_file(folder / FILE_NAME), **values})


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


_READERS: Mapping[str, Callable[[object], Any]] = {
    "data": lambda value: Path(_text(value)),
    "agent": _text,
    "max_content_bytes": _whole(1024, 1024 * 1024),
    "max_open_stores": _whole(1, 4096),
}
