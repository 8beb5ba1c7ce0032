"""The settings that a hook needs, read without the library code that would make it slow to start.

The names and what wins over what are those of `mycel.settings`; a test holds the two together.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from mycel.domain import defaults

PREFIX = "MYCEL_"
FILE_NAME = "mycel.toml"
# Set in the environment of whatever a hook starts: a hook below a hook does nothing.
ACTIVE = "MYCEL_HOOK_ACTIVE"

ON, OFF, INJECT, CAPTURE = "on", "off", "inject", "capture"
NEW, EVERY, NEVER = "new", "every", "never"
AUTO = "auto"
DEBUG = "debug"


class HookSettings(NamedTuple):
    data: Path
    home: Path
    is_nested: bool = False
    agent: str | None = None
    url: str | None = None
    token: str | None = None
    daemon: str = defaults.DAEMON
    log_level: str = defaults.LOG_LEVEL
    personal_memory_folder: str = defaults.PERSONAL_MEMORY_FOLDER
    shared_memory_folder: str = defaults.SHARED_MEMORY_FOLDER
    hooks: str = defaults.HOOKS
    hook_relevance: float = defaults.HOOK_RELEVANCE
    # Which of the newest memories come with a prompt: all with the first and then what is new, all each time, or none.
    hook_recent: str = defaults.HOOK_RECENT
    hook_seconds: float = defaults.HOOK_SECONDS
    hook_start_seconds: float = defaults.HOOK_START_SECONDS
    # Names of settings that cannot be read, for the log.
    wrong: tuple[str, ...] = ()

    @property
    def injects(self) -> bool:
        return self.hooks in {ON, INJECT}

    @property
    def captures(self) -> bool:
        return self.hooks in {ON, CAPTURE}


def read_environment(data: str | Path | None = None) -> HookSettings:
    """What cannot be read counts as not given, but for `hooks`, which then are off: somebody wanted less than all."""
    folder = Path(data or _variable("data") or default_data())
    kept, wrong = _read_file(folder / FILE_NAME)
    values: dict[str, Any] = {}
    for name, read in _READERS.items():
        given: object = _variable(name) or kept.get(name)
        if given is None:
            continue
        try:
            values[name] = read(given)
        except ValueError:
            wrong.append(name)
    if "hooks" in wrong or FILE_NAME in wrong:
        values["hooks"] = OFF
    is_nested = bool(os.environ.get(ACTIVE, "").strip())
    return HookSettings(folder, Path.home(), is_nested, **values, wrong=tuple(wrong))


def default_data() -> Path:
    """The platform's folder for the data of a user, as `platformdirs` says it."""
    if sys.platform == "win32":
        from platformdirs import user_data_path

        return user_data_path("mycel")
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/mycel"
    given = os.environ.get("XDG_DATA_HOME", "").strip()
    return Path(given or Path.home() / ".local/share") / "mycel"


def child_environment() -> dict[str, str]:
    return {**os.environ, ACTIVE: "1"}


def _variable(name: str) -> str:
    return os.environ.get(PREFIX + name.upper(), "").strip()


def _read_file(path: Path) -> tuple[dict[str, Any], list[str]]:
    if not path.exists():
        return {}, []
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8")), []
    except (OSError, ValueError):
        return {}, [FILE_NAME]


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _folder(value: object) -> str:
    found = str(Path(_text(value).strip()).expanduser())
    if not PurePosixPath(found).is_absolute() and not PureWindowsPath(found).is_absolute():
        raise ValueError
    return found


def _address(value: object) -> str:
    found = _text(value).strip().rstrip("/")
    if not found.lower().startswith(("http://", "https://")):
        raise ValueError
    return found


def _secret(value: object) -> str:
    """Nothing that could end a header or begin another one."""
    found = _text(value).strip()
    if not (found.isascii() and found.isprintable()) or " " in found or len(found) > 512:
        raise ValueError
    return found


def _one_of(*options: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        found = _text(value).lower()
        if found not in options:
            raise ValueError
        return found

    return read


def _number(least: float, most: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        found = float(value)
        if not least <= found <= most:
            raise ValueError
        return found

    return read


_READERS: dict[str, Callable[[object], Any]] = {
    "agent": _text,
    "url": _address,
    "token": _secret,
    "daemon": _one_of(AUTO, OFF),
    "log_level": _one_of(DEBUG, "info", "warning", "error"),
    "personal_memory_folder": _folder,
    "shared_memory_folder": _folder,
    "hooks": _one_of(ON, OFF, INJECT, CAPTURE),
    "hook_relevance": _number(0.0, 1.0),
    "hook_recent": _one_of(NEW, EVERY, NEVER),
    "hook_seconds": _number(0.001, 10.0),
    "hook_start_seconds": _number(0.0, 10.0),
}
