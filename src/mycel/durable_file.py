"""Files that survive a power cut: whole or not there."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def replace_file(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """At once or not at all, and for good; without a mode, with the mode and the owner it had."""
    old = path.stat() if mode is None and path.exists() else None
    new_mode = stat.S_IMODE(old.st_mode) if old is not None else 0o666 if mode is None else mode
    new = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        # Never readable by more than the old one was, not even before its mode is set.
        with os.fdopen(os.open(new, _NEW_FILE, new_mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            new.chmod(new_mode)
            # Only the superuser may, and only there is the owner another one; elsewhere there is no such thing.
            with contextlib.suppress(OSError, AttributeError):
                os.chown(new, old.st_uid, old.st_gid)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """A new name in a folder survives a power cut only after this."""
    # The folder may be somebody else's; on Windows none can be opened.
    with contextlib.suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
