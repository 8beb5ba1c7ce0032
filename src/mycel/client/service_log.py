"""The log of a service that was started on demand: where it goes, and what it said last."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import IO, Any, cast

from mycel.wire.daemon_file import OLD_SERVICE_LOG, OWNER_ONLY, SERVICE_LOG

MAX_LOG_BYTES = 5 * 1024 * 1024
# Enough for the last line, however long its traceback.
TAIL_BYTES = 64 * 1024
MAX_MESSAGE = 500


class ServiceLog:
    """Begins a new file when the old one has grown large, and keeps that one beside."""

    def __init__(self, data: Path) -> None:
        self._path = data / SERVICE_LOG
        if self._size() > MAX_LOG_BYTES:
            self._path.replace(data / OLD_SERVICE_LOG)
        self._before = self._size()

    def open(self) -> IO[bytes]:
        """Where there is no room for a log, the service runs without."""
        with contextlib.suppress(OSError):
            return self._open()
        return Path(os.devnull).open("ab")

    def _open(self) -> IO[bytes]:
        return os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY), "ab")

    def last_message(self) -> str | None:
        """Of what was written since this was made."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(self._before, self._size() - TAIL_BYTES))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return None
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return _message_of(last)[:MAX_MESSAGE] or None

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0


def _message_of(line: str) -> str:
    """A line of the log, or the one line with which a command ends that never came to log."""
    try:
        found: object = json.loads(line)
    except ValueError:
        return line.removeprefix("mycel: ")
    values = cast(dict[str, Any], found) if isinstance(found, dict) else {}
    return str(values.get("message") or values.get("event") or line)
