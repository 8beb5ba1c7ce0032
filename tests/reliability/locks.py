"""Which locks a process holds on the files of a store, as the kernel knows them."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

needs_locks = pytest.mark.skipif(
    sys.platform != "linux" or not Path("/proc/locks").exists(), reason="needs /proc/locks of Linux"
)


class Lock(NamedTuple):
    file: str
    kind: str
    start: str


def locks_of(database: Path) -> set[Lock]:
    """Those of this process on the database and on the index that processes share."""
    names = {Path(f"{database}{ending}").stat().st_ino: f"database{ending}" for ending in ("", "-shm")}
    found: set[Lock] = set()
    for line in Path("/proc/locks").read_text().splitlines():
        _number, way, *blocked, _advice, kind, process, place, start, _end = line.split()
        inode = int(place.split(":")[2])
        if way == "POSIX" and not blocked and int(process) == os.getpid() and inode in names:
            found.add(Lock(names[inode], kind, start))
    return found
