"""The log of the hooks: what went wrong, never what was said. Agents are told none of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mycel.surfaces.hooks.files import OWNER_ONLY, make_folder

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
