"""A real mount in a process of its own: the command as a user runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mycel.errors import Misconfigured
from mycel.surfaces.mount.mounting import require_fuse

PATIENCE = 60.0
_COMMAND = "from mycel.surfaces.entry import main; main()"


def missing() -> str | None:
    """Why there is no mount here, or None."""
    try:
        require_fuse()
    except Misconfigured as error:
        return str(error)
    is_root = os.name == "posix" and os.geteuid() == 0
    if not is_root and not any(Path(folder, "fusermount3").exists() for folder in ("/bin", "/usr/bin")):
        return "whoever is not root mounts by fusermount3: on Debian `apt-get install fuse3`"
    return None


@dataclass
class Mounted:
    root: Path
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text()

    def read(self, file: str) -> str:
        return (self.root / file).read_text()

    def text(self, file: str) -> str:
        """Without the front matter."""
        return self.read(file).split("---\n", 2)[2]

    def names(self, folder: str = "") -> set[str]:
        return {one.name for one in (self.root / folder).iterdir()}

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happens"
        time.sleep(0.01)


def is_mounted(root: Path) -> bool:
    return f" {root} fuse.notes " in Path("/proc/mounts").read_text()


@contextmanager
def mounted(
    root: Path, data: Path, *options: str, member: str = "lead-1", environment: Mapping[str, str] | None = None
) -> Generator[Mounted]:
    log = root.parent / f"{root.name}.log"
    line = [sys.executable, "-c", _COMMAND, "mount", str(root), *options]
    line += ["--as", member] if environment is None else []
    surroundings = {**os.environ, "MYCEL_DATA": str(data), "MYCEL_DAEMON": "off", **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(line, stdout=output, stderr=output, env=surroundings, cwd=root.parent)
    found = Mounted(root, process, log)
    try:
        until(lambda: "shows what" in found.said() or process.poll() is not None)
        until(lambda: is_mounted(root) or process.poll() is not None)
        assert process.poll() is None, found.said()
        yield found
    finally:
        if process.poll() is None:
            found.interrupt()
        # One that was killed would be in the way of whoever clears up.
        if is_mounted(root):
            subprocess.run(["umount", "-l", str(root)], check=False)
