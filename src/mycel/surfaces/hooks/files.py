"""The files of the hooks: written whole, locked, and the log of what went wrong, never of what was said."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from mycel.surfaces.hooks.clock import Deadline

OWNER_ONLY, OWNER_ONLY_FOLDER = 0o600, 0o700
_LOOK_SECONDS = 0.005
_UNFINISHED = ".new"


def make_folder(folder: Path) -> None:
    """With all above it that is missing, for its owner alone: a hook may be the first to use a data directory."""
    if not folder.is_dir():
        for each in (*reversed(folder.parents), folder):
            if not each.is_dir():
                each.mkdir(mode=OWNER_ONLY_FOLDER, exist_ok=True)


def write_whole(path: Path, *parts: bytes, durable: bool) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}{_UNFINISHED}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), OWNER_ONLY)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


@contextmanager
def locked(path: Path, deadline: Deadline) -> Generator[bool]:
    """Whether the lock was had in time. Where the system knows no such locks, everybody has it: writes are
    idempotent, so that only work is done twice."""
    try:
        import fcntl
    except ImportError:
        yield True
        return
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY), "r") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if deadline.left <= _LOOK_SECONDS:
                    yield False
                    return
                time.sleep(_LOOK_SECONDS)
            else:
                yield True
                return


MAX_BYTES = 256 * 1024
FOLDER = "hooks"
FILE_NAME = "hooks.log"


class Log:
    """One line each. What cannot be written is lost: a hook has nobody to tell."""

    def __init__(self, data: Path, *, name: str, debug: bool = False) -> None:
        self._path = data / FOLDER / FILE_NAME
        self._name = name
        self._debug = debug

    def debug(self, message: str) -> None:
        if self._debug:
            self.write(message)

    def write(self, message: str) -> None:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{moment} {self._name}: {' '.join(message.split())[:500]}\n"
        try:
            make_folder(self._path.parent)
            if self._path.exists() and self._path.stat().st_size > MAX_BYTES:
                self._path.replace(self._path.with_suffix(".log.1"))
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
            try:
                os.write(handle, line.encode("utf-8", "replace"))
            finally:
                os.close(handle)
        except OSError:
            return
