"""A shell on a terminal, for tests that run what a page tells its reader to type."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

COLUMNS = 100


class Shell:
    """Runs scripts one after the other; the folder and the exported variables of one are those of the next."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._folder = folder
        self._state = folder / ".shell-state"
        self._environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "COLUMNS": str(COLUMNS), **variables
        }  # fmt: skip

    def run(self, script: str, *, may_fail: bool = False) -> str:
        """Run a script and return what the terminal shows, without the blanks at the ends of lines."""
        leader, follower = pty.openpty()
        keep = f"{{ declare -px; printf 'cd %q\\n' \"$PWD\"; }} > {self._state}"
        text = f"[ -e {self._state} ] && . {self._state}\n{script}\nend=$?\n{keep}\nexit $end"
        with subprocess.Popen(
            ["bash", "-c", text],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        ) as process:
            os.close(follower)
            shown = bytearray()
            try:
                while part := os.read(leader, 65536):
                    shown += part
            except OSError:  # Linux says so when the last writer has closed it.
                pass
            finally:
                os.close(leader)
        lines = [line.rstrip() for line in shown.decode("utf-8").replace("\r\n", "\n").splitlines()]
        if process.returncode and not may_fail:
            raise AssertionError("\n".join([script, *lines]))
        return "\n".join(lines).strip("\n")
