"""Whether Codex runs our hooks: it runs none before its user has trusted it, and keeps in `config.toml` which."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, cast

from mycel.surfaces.agents.json_settings import HOOKS
from mycel.surfaces.agents.setups import Setup, config_file, hooks_file, read_json, read_toml
from mycel.surfaces.agents.shapes import is_own_command
from mycel.surfaces.agents.table import PROJECT, USER
from mycel.surfaces.hooks import hook_event as told
from mycel.surfaces.hooks.log import FOLDER

SESSIONS = "sessions"
# Codex gives a session's end no more, and hashes what it gives; others have ten minutes unless they say.
_END_SECONDS, _USUAL_SECONDS = 3, 600
_SESSION_END = "session_end"
_MOST_SESSIONS = 40
_MOST_OF_FIRST_LINE = 1024 * 1024


def are_trusted(setup: Setup, home: Path) -> bool:
    """`home` is that of Codex: trust is the user's, also for the hooks of a project."""
    hashes = dict(_hashes(setup, home))
    states = _states(home)
    return bool(hashes) and all(states.get(key, {}).get("trusted_hash") == one for key, one in hashes.items())


def are_switched_off(setup: Setup, home: Path) -> bool:
    states = _states(home)
    return any(states.get(key, {}).get("enabled") is False for key, _ in _hashes(setup, home))


def ran_without_hooks(setup: Setup, home: Path, data: Path) -> bool:
    """Whether a session began after the installation, and after the last hook of any that reached us."""
    hooked = max((_moment(one) for one in (data / FOLDER / SESSIONS).glob(f"{told.CODEX}_*.json")), default=0.0)
    since = max(setup.installed_at, hooked)
    root = setup.site.root if setup.site.scope == PROJECT else None
    return any(began > since for began in _sessions(home, below=root))


def codex_home(setup: Setup) -> Path:
    from mycel.surfaces.agents.connection import site_of

    return config_file(site_of(setup.site.agent, USER)).parent


def _hashes(setup: Setup, home: Path) -> Iterator[tuple[str, str]]:
    """Each of our hooks by the key that Codex gives it, with the hash of what it would run."""
    if setup.plugin is None:
        path = hooks_file(setup.site)
        source = str(path)
    else:
        name, _, market = setup.plugin.partition("@")
        folders = sorted((home / "plugins/cache" / market / name).glob("*"))
        path = (folders[-1] if folders else home) / "hooks/hooks.json"
        source = f"{setup.plugin}:hooks/hooks.json"
    for event, groups in _items(read_json(path).get(HOOKS)):
        label = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")
        for number, group in enumerate(_list(groups)):
            for place, hook in enumerate(_list(group.get(HOOKS))):
                if is_own_command(hook.get("command")):
                    yield f"{source}:{label}:{number}:{place}", _hash(label, group.get("matcher"), hook)


def _hash(label: str, matcher: object, hook: dict[str, Any]) -> str:
    """As Codex makes it: of the meaning of an entry, in JSON with sorted names."""
    seconds = hook.get("timeout", _USUAL_SECONDS)
    if label == _SESSION_END:
        seconds = min(seconds, _END_SECONDS)
    runs = {"type": "command", "command": hook.get("command"), "timeout": seconds, "async": False}
    entry = {"event_name": label, "hooks": [runs], **({"matcher": matcher} if matcher else {})}
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _states(home: Path) -> dict[str, dict[str, Any]]:
    hooks = read_toml(home / "config.toml").get(HOOKS)
    states = cast("dict[str, Any]", hooks).get("state") if isinstance(hooks, dict) else None
    return {key: cast("dict[str, Any]", one) for key, one in _items(states) if isinstance(one, dict)}


def _sessions(home: Path, *, below: Path | None) -> Iterator[float]:
    """When the latest sessions began, also those that are over; of a project, those in its folders."""
    for path in islice(_newest_first(home / SESSIONS), _MOST_SESSIONS):
        try:
            with path.open("rb") as file:
                first = json.loads(file.readline(_MOST_OF_FIRST_LINE))
            about = first["payload"]
            if below is None or Path(about["cwd"]).is_relative_to(below):
                yield datetime.fromisoformat(about.get("timestamp") or first["timestamp"]).timestamp()
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue


def _newest_first(folder: Path) -> Iterator[Path]:
    """By year, month and day, and by the time in their names."""
    try:
        inside = sorted(folder.iterdir(), reverse=True)
    except OSError:
        return
    for path in inside:
        if path.is_dir():
            yield from _newest_first(path)
        elif path.suffix == ".jsonl":
            yield path


def _items(value: object) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", value).items()) if isinstance(value, dict) else []


def _list(value: object) -> list[dict[str, Any]]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) if isinstance(one, dict) else {} for one in listed]


def _moment(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
