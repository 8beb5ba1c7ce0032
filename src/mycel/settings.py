"""Settings: the environment and `mycel.toml` beside the data, as one frozen value. Nothing else touches either.

A dataclass and not a settings library: importing one would take longer than most commands run.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, cast

from platformdirs import user_data_path

from mycel.domain import defaults
from mycel.durable_file import replace_file
from mycel.errors import Misconfigured

FILE_NAME = "mycel.toml"
DATABASE_SCHEMES = ("postgresql://", "postgres://")
PREFIX = "MYCEL_"
OPENAI_KEY = "OPENAI_API_KEY"
VENDOR_KEYS = {"openai": OPENAI_KEY, "anthropic": "ANTHROPIC_API_KEY"}
# What `origin_of` says where nobody has set anything.
DEFAULT = "default"
LOG_LEVELS = ("debug", "info", "warning", "error")
# Of whoever happens to start a service: the others who use it have folders and names of their own.
_STARTERS_OWN = (
    *("agent", "url", "token", "daemon", "artifact_roots"),
    *("hooks", "hook_relevance", "hook_recent", "hook_seconds", "hook_start_seconds"),
)
# Their names are given from outside, without the prefix.
_RANKING_VARIABLES = {
    name: f"MEMORY_{name.upper()}"
    for name in ("recency_half_life_days", "access_boost_max", "access_recency_hours", "candidate_multiplier")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Variables of the environment win over `mycel.toml`, which wins over the defaults."""

    data: Path = field(default_factory=lambda: user_data_path("mycel"))
    # Where a workspace has outgrown one machine: its memories then stand there, and nothing but settings in the folder.
    database_url: str | None = field(default=None, repr=False)
    # `trusted` lets a login pass that row-level security does not bind, and has it migrate.
    database_login: str = "bound"
    agent: str | None = None
    # Another service than the one of the data directory, and what to show it.
    url: str | None = None
    token: str | None = field(default=None, repr=False)
    # `auto` goes through the service of the data directory and starts it when needed, `off` works on the files.
    daemon: str = defaults.DAEMON
    log_level: str = defaults.LOG_LEVEL
    public_url: str | None = None
    # How the service spells the names of its answers, for whoever asks for no other way.
    naming: str = "snake"
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    requests_per_second: float = 1000.0
    # What the service allows whoever reaches its port, token or not.
    max_connections: int = 10_000
    max_connections_per_address: int = 8000
    max_header_bytes: int = 64 * 1024
    header_seconds: float = 10.0
    stall_seconds: float = 60.0
    max_discarded_bytes: int = 256 * 1024**2
    max_mcp_sessions: int = 5000
    max_mcp_sessions_per_member: int = 100
    mcp_idle_seconds: float = 1800.0
    max_import_bytes: int = 256 * 1024**2
    max_whole_import_bytes: int = 16 * 1024**3
    max_staged_bytes: int = 32 * 1024**3
    min_free_bytes: int = 1024**3
    max_content_bytes: int = 64 * 1024
    max_open_stores: int | None = None
    embedder: str = "builtin"
    embedding_model: str | None = None
    embedding_dimensions: int | None = None
    embedding_url: str | None = None
    embedding_key: str | None = field(default=None, repr=False)
    llm: str = "none"
    llm_model: str | None = None
    llm_url: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    llm_command: str | None = None
    llm_seconds: float | None = None
    session_quiet_seconds: float = 300.0
    lease_seconds: float = 30.0
    personal_memory_folder: str = defaults.PERSONAL_MEMORY_FOLDER
    shared_memory_folder: str = defaults.SHARED_MEMORY_FOLDER
    # What the hooks of coding agents do: both, one half or nothing.
    hooks: str = defaults.HOOKS
    hook_relevance: float = defaults.HOOK_RELEVANCE
    hook_recent: str = defaults.HOOK_RECENT
    hook_seconds: float = defaults.HOOK_SECONDS
    hook_start_seconds: float = defaults.HOOK_START_SECONDS
    # None where nobody has said: a program then uses the folder it runs in, a service none.
    artifact_roots: tuple[Path, ...] | None = None
    backup_folder: Path | None = None
    backup_every_hours: float | None = None
    backups_kept: int = 7
    ranking: str = "balanced"
    recency_half_life_days: float = 14.0
    access_boost_max: float = 1.5
    access_recency_hours: float = 48.0
    candidate_multiplier: int = 3
    author_share: float = 0.5

    @property
    def is_on_files(self) -> bool:
        """Whether what is remembered lies in the data directory, not in a database or behind another service."""
        return self.url is None and self.database_url is None

    @property
    def is_on_database(self) -> bool:
        return self.url is None and self.database_url is not None


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return _RANKING_VARIABLES.get(name, PREFIX + name.upper())


def load_settings(data: str | Path | None = None, *, embedder: str | None = None) -> Settings:
    """For a data directory, or for the one the environment names; with another embedder than they say, if given.

    The address of a Postgres database takes the place of the directory's own files.
    """
    given = {name: value for name in _READERS if (value := _variable(variable_of(name)))}
    values = {name: _read(name, value, origin=variable_of(name)) for name, value in given.items()}
    if isinstance(data, str) and data.startswith(DATABASE_SCHEMES):
        values["database_url"] = read_database_url(data, origin="the address")
    elif data is not None:
        values["data"] = Path(data)
    if embedder is not None:
        values["embedder"] = _read("embedder", embedder, origin="embedder")
    return _with_vendor_keys(Settings(**{**_read_file(Settings(**values).data / FILE_NAME), **values}))


def read_database_url(value: str, *, origin: str) -> str:
    return _read("database_url", value, origin=origin)


def service_environment(data: Path) -> dict[str, str]:
    """What a service of a data directory is started with: the settings of this process, but for what is its own."""
    dropped = {variable_of(name) for name in _STARTERS_OWN}
    found = {name: value for name, value in os.environ.items() if name not in dropped}
    found[variable_of("data")] = str(data.resolve())
    if "PYTHONPATH" in found:
        # The service runs in another folder, from where a relative path would lead elsewhere.
        folders = [Path(one).absolute() for one in found["PYTHONPATH"].split(os.pathsep) if one]
        found["PYTHONPATH"] = os.pathsep.join(map(str, folders))
    return found


def environment_with(variables: Mapping[str, str]) -> dict[str, str]:
    """That of this process and more, for a program that is started as somebody else would start it."""
    return {**os.environ, **variables}


def environment_with_only(variables: Mapping[str, str]) -> dict[str, str]:
    """That of this process with these settings, no other and no key, for a workspace that is not the user's own."""
    dropped = {*_RANKING_VARIABLES.values(), *VENDOR_KEYS.values()}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX) and name not in dropped}
    return {**kept, **variables}


def environment_of_commands() -> dict[str, str]:
    """For a command that is a language model: without our secrets, and with nothing of ours that would ask it again."""
    unset = dict.fromkeys(("MYCEL_TOKEN", "MYCEL_DATABASE_URL", "MYCEL_EMBEDDING_KEY", "MYCEL_LLM_KEY"), "")
    return environment_with({**unset, "MYCEL_LLM": "none", "MYCEL_HOOK_ACTIVE": "1"})


def folder_by(variable: str) -> Path | None:
    """The folder that a variable of another program names."""
    found = _variable(variable)
    return Path(found).expanduser() if found else None


def origin_of(name: str, *, data: Path) -> str:
    """Who says what a setting is: its variable, `mycel.toml`, or nobody."""
    if _variable(variable_of(name)):
        return variable_of(name)
    return FILE_NAME if name in _read_file(data / FILE_NAME) else DEFAULT


def variables_behind(settings: Settings, *, prefix: str) -> list[str]:
    """The variables of the environment that gave these settings, of those whose name begins so."""
    names = [name for name in _READERS if name.startswith(prefix)]
    given = [variable_of(name) for name in names if _variable(variable_of(name))]
    has_openai_key = settings.embedding_key is not None and settings.embedding_key == _variable(OPENAI_KEY)
    return [*given, *([OPENAI_KEY] if has_openai_key and variable_of("embedding_key") not in given else [])]


def require_file_decides(name: str) -> None:
    """`Misconfigured` where a variable of the environment would win over whatever the file says."""
    variable = variable_of(name)
    if _variable(variable):
        raise Misconfigured(
            f"{variable} is set in the environment and wins over {FILE_NAME}: change it there, or unset it first"
        )


def write_setting(name: str, value: str, *, data: Path) -> Path:
    """Sets one text in `mycel.toml` and leaves every other byte as it is; returns the file."""
    require_file_decides(name)
    path = data / FILE_NAME
    before = _read_file(path)
    if before.get(name) == value:
        return path
    try:
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        replace_file(path.resolve(), _with_setting(text, name=name, value=value, path=path).encode("utf-8"))
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it would not be UTF-8"
        raise Misconfigured(f"{path} cannot be written: {why}") from None
    return path


def _with_setting(text: str, *, name: str, value: str, path: Path) -> str:
    """The first way to write it that means this and changes the meaning of nothing else."""
    wanted = {**tomllib.loads(text), name: value}
    for changed in _ways_to_set(text, name=name, quoted=json.dumps(value, ensure_ascii=False)):
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed) == wanted:
                return changed
    raise Misconfigured(f"{path} is written in a way that only a person should change: set {name} in it by hand")


def _assignment(name: str) -> re.Pattern[str]:
    key = rf"""^[ \t]*(?:{name}|"{name}"|'{name}')[ \t]*=[ \t]*"""
    return re.compile(rf"""{key}("(?>(?:[^"\\\n]|\\.)*)"|'[^'\n]*')""", re.MULTILINE)


def _ways_to_set(text: str, *, name: str, quoted: str) -> Iterator[str]:
    for found in _assignment(name).finditer(text):
        yield text[: found.start(1)] + quoted + text[found.end(1) :]
    end = "\r\n" if "\r\n" in text else "\n"
    yield f"{text}{end if text and not text.endswith(chr(10)) else ''}{name} = {quoted}{end}"


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def _with_vendor_keys(settings: Settings) -> Settings:
    """A vendor's own variable, only where the key goes to that vendor: it must not reach another host."""
    found = settings
    if settings.embedding_key is None and settings.embedder == "openai" and settings.embedding_url is None:
        found = replace(found, embedding_key=_variable(OPENAI_KEY) or None)
    if settings.llm_key is None and settings.llm in VENDOR_KEYS and settings.llm_url is None:
        found = replace(found, llm_key=_variable(VENDOR_KEYS[settings.llm]) or None)
    return found


def _read_file(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        raise Misconfigured(f"the data directory has to be a folder: {path.parent} is a file or lies in one") from None
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


def _one_of(*options: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value.lower() not in options:
            raise ValueError(f"must be one of {', '.join(options)}")
        return value.lower()

    return read


def _matching(pattern: str, *, wanted: str) -> Callable[[object], str]:
    """The text without its outermost spaces; the pattern is of the whole."""
    whole = re.compile(pattern, re.IGNORECASE | re.ASCII)

    def read(value: object) -> str:
        found = value.strip() if isinstance(value, str) else ""
        if not whole.fullmatch(found):
            raise ValueError(f"must be {wanted}")
        return found

    return read


def _names(read: Callable[[object], str]) -> Callable[[object], tuple[str, ...]]:
    """A list or, in the environment, names between commas; without regard to case."""

    def read_all(value: object) -> tuple[str, ...]:
        listed = [one for one in value.split(",") if one.strip()] if isinstance(value, str) else value
        if not isinstance(listed, list):
            raise ValueError("must be a list of names")
        return tuple(dict.fromkeys(read(one).lower() for one in cast(list[object], listed)))

    return read_all


def _folders(value: object) -> tuple[Path, ...]:
    listed = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise ValueError("must be a list of folders")
    found = tuple(Path(_text(one)) for one in cast(list[object], listed) if one != "")
    if not all(folder.is_absolute() for folder in found):
        raise ValueError("must be absolute folders")
    return found


def _folder(value: object) -> str:
    """Another machine may have it; a relative one would be another folder for each program that reads it."""
    found = str(Path(_text(value).strip()).expanduser())
    if not PurePosixPath(found).is_absolute() and not PureWindowsPath(found).is_absolute():
        raise ValueError("must be an absolute folder, such as /workspace/personal/memory or ~/memory")
    return found


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
_HOST = r"(?:[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])"
_PORT = r"(?::[0-9]{1,5})?"
_host_name = _matching(
    rf"{_HOST}|[0-9a-f:.]{{2,45}}", wanted="names of hosts without scheme and port, such as memory.example.org"
)
_origin = _matching(f"https?://{_HOST}{_PORT}", wanted="addresses without a path, such as https://notes.example.org")
_address = _matching(rf"https?://{_HOST}{_PORT}(?:/[a-z0-9._~/-]*)?", wanted="an address such as http://127.0.0.1:7077")
# Nothing that could end a header or begin another one.
_secret = _matching(r"[!-~]{1,512}", wanted="one word of at most 512 plain characters")
_database = _matching(r"postgres(?:ql)?://[!-~]{1,2000}", wanted="an address such as postgresql://host/database")

_READERS: Mapping[str, Callable[[object], Any]] = {
    "data": lambda value: Path(_text(value)),
    "database_url": _database,
    "database_login": _one_of("bound", "trusted"),
    "agent": _text,
    **dict.fromkeys(("url", "public_url"), lambda value: _address(value).rstrip("/")),
    "token": _secret,
    "daemon": _one_of("auto", "off"),
    "log_level": _one_of(*LOG_LEVELS),
    "naming": _one_of("snake", "camel"),
    "allowed_hosts": _names(lambda value: _host_name(value).strip("[]")),
    "allowed_origins": _names(_origin),
    "requests_per_second": _above_zero,
    **dict.fromkeys(("max_connections", "max_connections_per_address"), _whole(1, 1_000_000)),
    "max_header_bytes": _whole(1024, 16 * 1024**2),
    **dict.fromkeys(("header_seconds", "stall_seconds", "mcp_idle_seconds"), _above_zero),
    "max_discarded_bytes": _whole(0, 1024**4),
    **dict.fromkeys(("max_mcp_sessions", "max_mcp_sessions_per_member"), _whole(1, 1_000_000)),
    **dict.fromkeys(("max_import_bytes", "max_whole_import_bytes", "max_staged_bytes"), _whole(1, 1024**4)),
    "min_free_bytes": _whole(0, 1024**4),
    "max_content_bytes": _whole(1024, 1024 * 1024),
    "max_open_stores": _whole(1, 4096),
    "embedding_dimensions": _whole(1, 8192),
    **dict.fromkeys(("embedder", "embedding_model", "embedding_url", "embedding_key"), _text),
    **dict.fromkeys(("llm", "llm_model", "llm_url", "llm_key", "llm_command"), _text),
    "llm_seconds": _number(lambda number: 0 < number <= 3600, wanted="above 0 and at most 3600"),
    **dict.fromkeys(("session_quiet_seconds", "lease_seconds"), _above_zero),
    **dict.fromkeys(("personal_memory_folder", "shared_memory_folder"), _folder),
    "hooks": _one_of("on", "off", "inject", "capture"),
    "hook_relevance": _number(lambda number: 0 <= number <= 1, wanted="from 0 to 1"),
    "hook_recent": _one_of("new", "every", "never"),
    "hook_seconds": _number(lambda number: 0 < number <= 10, wanted="above 0 and at most 10"),
    "hook_start_seconds": _number(lambda number: 0 <= number <= 10, wanted="0 to 10"),
    "artifact_roots": _folders,
    "backup_folder": lambda value: _folders([value])[0],
    "backup_every_hours": _number(lambda number: 0.1 <= number <= 8760, wanted="of hours from 0.1 to 8760"),
    "backups_kept": _whole(1, 10_000),
    "ranking": _one_of("balanced", "swarm"),
    **dict.fromkeys(("recency_half_life_days", "access_recency_hours"), _above_zero),
    "access_boost_max": _number(lambda number: number >= 1, wanted="of at least 1; 1.5 lifts by half at most"),
    "candidate_multiplier": _whole(1, 100),
    "author_share": _number(lambda number: 0 < number <= 1, wanted="above 0 and at most 1"),
}
