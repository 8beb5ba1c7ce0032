"""What installing has done: each file's bytes before, by their hash, and the hash of those after."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mycel.durable_file import replace_file
from mycel.wire.daemon_file import OWNER_ONLY

FOLDER, BACKUPS = "installs", "backups"
_OWNER_ONLY_FOLDER = 0o700


@dataclass(frozen=True, slots=True)
class FileRecord:
    """`before` is None for a file that was not there; `folders` are those that were made for it, outermost first."""

    path: str
    before: str | None
    after: str
    folders: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Installed:
    agent: str
    scope: str
    root: str
    member: str
    version: str
    files: list[FileRecord]

    def file(self, path: Path) -> FileRecord | None:
        return next((one for one in self.files if one.path == str(path)), None)


class Records:
    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def find(self, agent: str, scope: str, root: Path) -> Installed | None:
        return _read(self._path(agent, scope, root))

    def all(self) -> list[Installed]:
        found = [_read(path) for path in sorted(self._folder.glob("*.json"))]
        return [one for one in found if one is not None]

    def kept_at(self, agent: str, scope: str, root: Path) -> float | None:
        try:
            return self._path(agent, scope, root).stat().st_mtime
        except OSError:
            return None

    def keep(self, done: Installed) -> None:
        self._make(self._folder)
        content = json.dumps(asdict(done), indent=1).encode() + b"\n"
        replace_file(self._path(done.agent, done.scope, Path(done.root)), content, mode=OWNER_ONLY)

    def drop(self, done: Installed) -> None:
        """The backups stay: they are what a person would look for."""
        self._path(done.agent, done.scope, Path(done.root)).unlink(missing_ok=True)

    def keep_bytes(self, content: bytes) -> str:
        name = digest(content)
        self._make(self._folder / BACKUPS)
        path = self._folder / BACKUPS / name
        if not path.exists():
            replace_file(path, content, mode=OWNER_ONLY)
        return name

    def find_bytes(self, name: str) -> bytes | None:
        path = self._folder / BACKUPS / name
        content = path.read_bytes() if path.is_file() else None
        return content if content is not None and digest(content) == name else None

    def _make(self, folder: Path) -> None:
        folder.mkdir(mode=_OWNER_ONLY_FOLDER, parents=True, exist_ok=True)

    def _path(self, agent: str, scope: str, root: Path) -> Path:
        return self._folder / f"{agent}-{scope}-{digest(str(root).encode())[:12]}.json"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> Installed | None:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        files = [FileRecord(**one) for one in found.pop("files")]
        return Installed(**found, files=files)
    except (OSError, ValueError, KeyError, TypeError):
        return None
