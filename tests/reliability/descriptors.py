"""Reads what strace saw, and finds the closes that took locks of an open database away.

By POSIX a process loses all its locks on a file when it closes any of its descriptors of that file. SQLite knows, and
keeps such a descriptor back. So a close of one descriptor, while a lock is held and another descriptor is open, was
made by something else.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CALLS = "openat,open,close,close_range,fcntl,dup,dup2,dup3,clone,clone3,fork,vfork,execve"
_LINE = re.compile(r"(\d+) (.*)")
_UNFINISHED = re.compile(r"(.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
_OPENED = re.compile(r"open(?:at)?\(.* = (\d+)<(.*)>$")
_CLOSED = re.compile(r"close\((\d+)<(.*?)>\) += 0$")
_COPIED = re.compile(r"(?:dup[23]?\(|fcntl\(\d+<.*?>, F_DUPFD).* = (\d+)<(.*)>$")
_LOCKED = re.compile(
    r"fcntl\(\d+<(.*?)>, F_SETLKW?, \{l_type=F_(\w+), l_whence=SEEK_SET, l_start=(\d+), l_len=(\d+)\}\) += 0$"
)
_STARTED = re.compile(r"(?:clone3?|v?fork)\((.*)\) += (\d+)$")


def command(output: Path) -> tuple[str, ...]:
    """Put this in front of the command to be watched."""
    return ("strace", "-f", "-qq", "-y", "-s", "0", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", str(output))


@cache
def missing() -> str | None:
    """Say why nothing can be watched here; None where it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"strace may not trace processes here: {tried.stderr.strip()[:100]}"


class _Process:
    def __init__(self) -> None:
        self.open: dict[int, str] = {}
        self.locked: dict[str, set[int]] = defaultdict(set)


class Watched:
    """What the processes did with files whose path matches."""

    def __init__(self, output: Path, pattern: str) -> None:
        self._pattern = re.compile(pattern)
        self._processes: dict[int, _Process] = {}
        self.closes = 0
        self.locks = 0
        self.harmful: list[str] = []
        for task, call in _calls(output):
            self._take(task, call)

    def _take(self, task: int, call: str) -> None:
        process = self._processes.setdefault(task, _Process())
        if found := _STARTED.match(call):
            # A thread shares the descriptors; a child has locks of its own, and none at first.
            shares = "CLONE_FILES" in found[1]
            child = process if shares else _Process()
            if not shares:
                child.open = dict(process.open)
            self._processes[int(found[2])] = child
        elif call.startswith("execve(") and call.endswith(" = 0"):
            # What SQLite opens is closed there.
            process.open.clear()
        elif (found := _COPIED.match(call) or _OPENED.match(call)) and self._pattern.search(found[2]):
            process.open[int(found[1])] = found[2]
        elif (found := _LOCKED.match(call)) and self._pattern.search(found[1]):
            self.locks += 1
            # A length of 0 is all there is.
            start, length = int(found[3]), int(found[4])
            held = process.locked[found[1]]
            if found[2] == "UNLCK":
                held -= {one for one in held if one >= start and (not length or one < start + length)}
            else:
                held.update(range(start, start + (length or 1)))
        elif (found := _CLOSED.match(call)) and self._pattern.search(found[2]):
            self.closes += 1
            process.open.pop(int(found[1]), None)
            if found[2] in process.open.values() and process.locked[found[2]]:
                self.harmful.append(f"{task}: {call} with {len(process.locked[found[2]])} bytes locked")
            process.locked.pop(found[2], None)


def _calls(output: Path) -> Iterator[tuple[int, str]]:
    """Each call once it has come back, in the order of the coming back."""
    begun: dict[int, str] = {}
    for line in output.read_text("utf-8", "replace").splitlines():
        if not (found := _LINE.match(line)):
            continue
        task, call = int(found[1]), found[2].strip()
        if waiting := _UNFINISHED.match(call):
            begun[task] = waiting[1]
        elif resumed := _RESUMED.match(call):
            yield task, begun.pop(task, "") + resumed[1]
        else:
            yield task, call
