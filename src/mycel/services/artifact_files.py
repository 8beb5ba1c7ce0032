"""Reads the files of artifacts: only regular ones, and nothing outside the workspace folders, whatever links say."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mycel.contracts.long_work import require_wanted
from mycel.domain import fields
from mycel.domain.artifact import ArtifactDetail, FileState, Verification, read_path
from mycel.errors import InvalidInput
from mycel.held_files import is_held

MAX_FILE_BYTES = 2 * 1024**3
CHUNK_BYTES = 1024 * 1024
# Long enough for the folder in front of the longest path.
MAX_ABSOLUTE_BYTES = 16 * 1024
_CLOSED_TO_CHILDREN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER = _CLOSED_TO_CHILDREN | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
# Without waiting: a pipe that takes the place of a file between a look and the opening must not hang anybody.
_FILE = _CLOSED_TO_CHILDREN | os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
HAS_FOLDER_HANDLES = os.open in os.supports_dir_fd
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class FileRefused(Exception):
    """There is something, but it is not read; `state` is what that says about the file that was."""

    def __init__(self, why: str, *, state: FileState = FileState.UNKNOWN) -> None:
        super().__init__(why)
        self.why = why
        self.state = state


class FileBusy(FileRefused):
    """It was written to while it was read."""


@dataclass(frozen=True, slots=True)
class Measured:
    """`start` holds as many of its first bytes as were asked for."""

    size_bytes: int
    checksum: str
    start: bytes


@dataclass(frozen=True, slots=True)
class Placed:
    """A path relative to a workspace folder, and the folders to look in."""

    path: str
    roots: tuple[Path, ...]


class WorkspaceFiles:
    """Folders are resolved once: a link that is put in their place later is not followed."""

    def __init__(self, roots: Sequence[Path], *, off_limits: Sequence[Path] = ()) -> None:
        self._given = tuple(dict.fromkeys(Path.cwd() / root for root in roots))
        self._roots = tuple(dict.fromkeys(Path(os.path.realpath(root)) for root in self._given))
        self._off_limits = tuple(Path(os.path.realpath(path)) for path in off_limits)

    def place(self, value: object) -> Placed:
        """An absolute path must lie in a workspace folder, and is from then on looked for in that one alone."""
        if not isinstance(value, str) or not Path(value).is_absolute():
            return Placed(read_path(value), self._roots)
        whole = Path(fields.text(value, field="path", max_bytes=MAX_ABSOLUTE_BYTES))
        for root in (*self._roots, *self._given):
            if whole.is_relative_to(root):
                slash = "/" if value.endswith("/") else ""
                inside = read_path(whole.relative_to(root).as_posix() + slash)
                return Placed(inside, (Path(os.path.realpath(root)),))
        raise InvalidInput("lies in no workspace folder: see the setting artifact_roots", field="path")

    def measure(self, placed: Placed, *, start: int = 0) -> Measured | None:
        """Of the first folder that has the file; None when none has. Raises `FileRefused`."""
        found = (self._measure(root, placed.path, start) for root in placed.roots)
        return next((measured for measured in found if measured is not None), None)

    def verify(self, detail: ArtifactDetail) -> Verification:
        """Unchanged when any folder has the file as it was."""
        if detail.checksum is None:
            return Verification(FileState.UNKNOWN, None, None, "its content was not known when it was registered")
        if not self._roots:
            return Verification(FileState.UNKNOWN, None, None, "no workspace folder is configured here")
        answers = [self._compare(root, detail) for root in self._roots]
        order = (FileState.UNCHANGED, FileState.CHANGED, FileState.UNKNOWN, FileState.GONE)
        return min(answers, key=lambda answer: order.index(answer.state))

    def _compare(self, root: Path, detail: ArtifactDetail) -> Verification:
        try:
            now = self._measure(root, detail.path, 0)
        except FileRefused as error:
            return Verification(error.state, None, None, f"it {error.why}")
        if now is None:
            return Verification(FileState.GONE, None, None, "no workspace folder has it")
        same = now.checksum == detail.checksum
        state = FileState.UNCHANGED if same else FileState.CHANGED
        why = "its SHA-256 is the same" if same else "its SHA-256 is another one"
        return Verification(state, now.size_bytes, now.checksum, why)

    def _measure(self, root: Path, path: str, start: int) -> Measured | None:
        try:
            with _opened(root, self._parts(root, path)) as file:
                return _measure(file, start)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            why = "leads through a link that has just changed" if error.errno == errno.ELOOP else "cannot be read"
            raise FileRefused(f"{why}: {error.strerror}") from None

    def _parts(self, root: Path, path: str) -> tuple[str, ...]:
        """What is there once every link is followed, as far as that stays inside."""
        real = Path(os.path.realpath(root / path))
        if not real.is_relative_to(root):
            raise FileRefused("leads out of the workspace folder")
        if any(real.is_relative_to(path) for path in self._off_limits):
            raise FileRefused("is one of Mycel's own files")
        return real.relative_to(root).parts


@contextmanager
def _opened(root: Path, parts: Sequence[str]) -> Generator[int]:
    if not parts:
        raise FileRefused("is a folder", state=FileState.CHANGED)
    file = _open_by_handles(root, parts) if HAS_FOLDER_HANDLES else _open_by_name(root, parts)
    try:
        _require_regular(os.fstat(file))
        yield file
    finally:
        os.close(file)


def _open_by_handles(root: Path, parts: Sequence[str]) -> int:
    """Name by name, following no link: whatever is swapped meanwhile, this stays below the root."""
    folder = os.open(root, _FOLDER)
    try:
        for name in parts[:-1]:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        # Looked at first: merely opening a device can do something.
        _require_regular(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False))
        return os.open(parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _open_by_name(root: Path, parts: Sequence[str]) -> int:
    """Where the system has no handles of folders: opened, then compared with what was looked at."""
    name = root.joinpath(*parts)
    seen = name.lstat()
    _require_regular(seen)
    file = os.open(name, _FILE)
    if os.path.samestat(seen, os.fstat(file)) and Path(os.path.realpath(name)) == name:
        return file
    os.close(file)
    raise FileRefused("leads through a link that has just changed")


def _require_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        what = "is a folder" if stat.S_ISDIR(found.st_mode) else "is not a regular file"
        raise FileRefused(what, state=FileState.CHANGED)
    if is_held(found):
        raise FileRefused("belongs to a database that is in use")


def _measure(file: int, start: int) -> Measured:
    before = os.fstat(file)
    if before.st_size > MAX_FILE_BYTES:
        raise FileRefused("is larger than 2 GiB", state=FileState.CHANGED)
    digest, size, first = hashlib.sha256(), 0, bytearray()
    while size <= before.st_size and (chunk := os.read(file, CHUNK_BYTES)):
        require_wanted()
        size += len(chunk)
        digest.update(chunk)
        first += chunk[: max(0, start - len(first))]
    after = os.fstat(file)
    if size != before.st_size or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise FileBusy("is being changed at this moment")
    return Measured(size, digest.hexdigest(), bytes(first))
