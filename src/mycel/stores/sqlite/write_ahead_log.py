"""Reads SQLite's write-ahead log past SQLite, which takes a damaged frame for the end of the log and says nothing.

Every commit was synced before the next one began. So frames that cannot be used may be the torn end of one commit that
nobody was told of, but never have two whole commits behind them.
The format: sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import math
import struct
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from mycel.stores.sqlite.file_access import INDEX_BYTES, OpenLog, read_left_index, read_live_index
from mycel.stores.sqlite.file_guard import Identity, identity_of

CHECKPOINT_SECONDS = 1.0
_HEADER = struct.Struct(">4sIIIIIII")
_FRAME = struct.Struct(">IIIIII")
# The shared index, in the order of the machine: its header stands there twice, then how much is in the database.
_INDEX = struct.Struct("=IIIBBHII8s8s8s")
# With which byte order the checksums are made.
_MAGIC = {b"\x37\x7f\x06\x82": "<", b"\x37\x7f\x06\x83": ">"}
_MASK = 0xFFFFFFFF


class LogIndex(NamedTuple):
    """What the last process knew of the log: how many frames it had, and how many of them were in the database."""

    frames: int
    in_database: int
    salts: bytes
    file: Identity


def read_index(database: Path) -> LogIndex | None:
    """Read the file that processes share while they have the log open: a kill leaves it behind.

    It is never synced, so that one from before the machine started tells nothing. None also where this process has the
    database open already: then the index is in use, and nothing can have been lost.
    """
    found = read_left_index(database)
    if found is None or found.about.st_mtime <= _machine_started_at():
        return None
    header = _parse_index(found.content)
    if header is None:
        return None
    frames, salts = header
    in_database = int.from_bytes(found.content[2 * _INDEX.size :], sys.byteorder)
    return LogIndex(frames, in_database, salts, Identity(found.about.st_dev, found.about.st_ino))


def has_lost_frames(connection: apsw.Connection, index: Path, before: LogIndex | None, *, known: int) -> bool:
    """Whether frames that only stood in the log when the last process ended are there no more."""
    if before is None or before.in_database >= before.frames or known >= before.frames:
        return False
    header = _parse_index(read_live_index(connection))
    # In another file the last process has closed the log itself, and under other salts it has begun it anew. Whoever
    # finds no log where there should be one begins without any salts.
    return header is not None and identity_of(index) == before.file and header[1] in {before.salts, bytes(8)}


def _parse_index(content: bytes) -> tuple[int, bytes] | None:
    """Return the number of frames and the salts; None where the header is cut, half written or not made yet."""
    first, second = content[: _INDEX.size], content[_INDEX.size : 2 * _INDEX.size]
    if len(content) < INDEX_BYTES or first != second:
        return None
    _, _, _, is_there, _, _, frames, _, _, salts, _ = _INDEX.unpack(first)
    return (frames, salts) if is_there else None


def _machine_started_at() -> float:
    """Where that cannot be known, in the future."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return math.inf if clock is None else time.time() - time.clock_gettime(clock)


class _Frame(NamedTuple):
    place: int
    is_commit: bool
    salts: tuple[int, int]
    checksum: tuple[int, int]


def count_frames(connection: apsw.Connection) -> int:
    """As many as SQLite knows of; none where it takes the file for one without a log."""
    return max(0, connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_NOOP)[0])


def empty_log(connection: apsw.Connection) -> bool:
    """Writes it into the database. A reader in the middle of a query is waited for; False when that lasts."""
    deadline = time.monotonic() + CHECKPOINT_SECONDS
    while time.monotonic() < deadline:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if not busy:
            return True
        time.sleep(0.01)
    return False


def has_lost_commits(connection: apsw.Connection) -> bool:
    """Whether whole commits stand behind the frames that SQLite knows of; never in a log that is well."""
    page_size = connection.pragma("page_size")
    while True:
        known = count_frames(connection)
        is_suspect = any(commits > 1 for commits in _commits_in_runs(OpenLog(connection), known, page_size))
        # Another process may have gone on writing meanwhile.
        if not is_suspect or count_frames(connection) == known:
            return is_suspect


def is_cut(connection: apsw.Connection, *, known: int, page_size: int) -> bool:
    """Whether frames that SQLite knows of are no longer in the file."""
    if not known:
        return False
    log = OpenLog(connection)
    magic, *_, salt1, salt2, _sum1, _sum2 = _read_header(log)
    frames = islice(_frames(log, 0, page_size), known)
    return magic not in _MAGIC or sum(frame.salts == (salt1, salt2) for frame in frames) < known


def _read_header(log: OpenLog) -> tuple[Any, ...]:
    return _HEADER.unpack(log.read(_HEADER.size, 0).ljust(_HEADER.size, b"\0"))


def _commits_in_runs(log: OpenLog, known: int, page_size: int) -> Iterator[int]:
    """How many commits there are in the unbroken run of frames that ends with each one; one may be the torn end."""
    magic, *_, salt1, salt2, _sum1, _sum2 = _read_header(log)
    salts = (salt1, salt2) if magic in _MAGIC else None
    order = _MAGIC.get(magic, "<")
    commits, before = 0, None
    for frame in _frames(log, known, page_size):
        # Those of another time have other salts. A header that is gone cannot tell: then the frames do.
        salts = salts or frame.salts
        is_next = frame.salts == salts and before is not None and _follows(log, before, frame, page_size, order)
        commits = (commits if is_next else 0) + frame.is_commit
        before = frame if frame.salts == salts else None
        yield commits


def _frames(log: OpenLog, known: int, page_size: int) -> Iterator[_Frame]:
    size = _FRAME.size + page_size
    place = _HEADER.size + known * size
    while True:
        head = log.read(_FRAME.size, place)
        if len(head) < _FRAME.size:
            return
        _page, length, salt1, salt2, sum1, sum2 = _FRAME.unpack(head)
        yield _Frame(place, length > 0, (salt1, salt2), (sum1, sum2))
        place += size


def _follows(log: OpenLog, before: _Frame, frame: _Frame, page_size: int, order: str) -> bool:
    """Whether the checksum, which goes on from frame to frame, is that of this one behind that one."""
    content = log.read(_FRAME.size + page_size, frame.place)
    if len(content) < _FRAME.size + page_size:
        return False
    summed = content[:8] + content[_FRAME.size :]
    first, second = before.checksum
    words = struct.unpack(f"{order}{len(summed) // 4}I", summed)
    for place in range(0, len(words), 2):
        first = (first + words[place] + second) & _MASK
        second = (second + words[place + 1] + first) & _MASK
    return (first, second) == frame.checksum
