"""Archives as files: written complete or not at all, and read within bounds whatever they hold."""

from __future__ import annotations

import errno
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from mycel.domain.archive import FORMAT, ExportReport, Header, Record
from mycel.domain.archive_lines import MAX_LINE_BYTES, Line, footer_line, header_line, lines_of
from mycel.errors import InvalidInput, NotFound, StorageFull, Unavailable
from mycel.held_files import open_unheld

PACKED_SUFFIX = ".gz"
# Our own archives come to about 10:1; whatever is small is let through, since it may be one text many times.
MAX_RATIO = 100
FREE_BYTES = 16 * 1024 * 1024
MAX_UNPACKED_BYTES = 256 * 1024**3
_MAGIC = b"\x1f\x8b"
_HEAD_BYTES = 4096


class ArchiveWriter:
    """Adds lines, counts and hashes them."""

    def __init__(self, file: IO[bytes], header: Header) -> None:
        self._file = file
        self._header = header
        self._hash = sha256()
        self._counts: Counter[str] = Counter()
        self._add(header_line(header))

    def add(self, record: Record) -> None:
        for line in lines_of(record):
            self._add(line)
            self._counts[line["kind"]] += 1

    def finish(self) -> ExportReport:
        digest = self._hash.hexdigest()
        self._add(footer_line(self._counts, digest))
        return ExportReport(
            team=self._header.team,
            made_at=self._header.made_at,
            whole=self._header.whole,
            counts=dict(self._counts),
            sha256=digest,
        )

    def _add(self, line: Line) -> None:
        packed = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        self._hash.update(packed)
        self._file.write(packed)


@contextmanager
def new_file(target: Path) -> Generator[IO[bytes]]:
    """For the owner alone; under its name only once it is complete and on the disk."""
    _check_name(target)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        handle = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "wb") as raw:
                yield from _packing(raw, packed=target.name.endswith(PACKED_SUFFIX))
                raw.flush()
                os.fsync(raw.fileno())
            unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _translated(error, target) from error


def _check_name(path: Path) -> None:
    if not path.name or "\0" in str(path):
        raise InvalidInput("must name a file", field="file")


def _packing(raw: BinaryIO, *, packed: bool) -> Generator[IO[bytes]]:
    if not packed:
        yield raw
        return
    # Without the name and the time: the same team gives the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packing:
        yield cast(IO[bytes], packing)


def _translated(error: OSError, path: Path) -> Exception:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageFull("the disk has no room for the archive")
    if isinstance(error, FileNotFoundError):
        return NotFound(f"there is no file or folder for {path.name!r}")
    if isinstance(error, IsADirectoryError | NotADirectoryError | PermissionError | FileExistsError):
        return InvalidInput(f"cannot be used: {error.strerror}", field="file")
    return Unavailable(f"the archive could not be read or written: {error.strerror}")


class ArchiveLines:
    """The lines of an open archive, which can be read more than once."""

    def __init__(self, raw: BinaryIO, *, size: int) -> None:
        self._raw = raw
        self._size = size
        self.packed = raw.read(len(_MAGIC)) == _MAGIC

    def read(self) -> Iterator[tuple[int, bytes]]:
        """With their numbers from 1 on; raises `InvalidInput` for what is too long, too large or cut short."""
        self._raw.seek(0)
        file: IO[bytes] = cast(IO[bytes], gzip.GzipFile(fileobj=self._raw)) if self.packed else self._raw
        unpacked = 0
        number = 0
        while line := self._next(file, number + 1):
            number += 1
            unpacked += len(line)
            self._check(line, number, unpacked)
            yield number, line

    def _next(self, file: IO[bytes], number: int) -> bytes:
        try:
            return file.readline(MAX_LINE_BYTES + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InvalidInput("the file is damaged or cut short", field=f"line {number}") from None

    def _check(self, line: bytes, number: int, unpacked: int) -> None:
        where = f"line {number}"
        if len(line) > MAX_LINE_BYTES:
            raise InvalidInput(f"is longer than {MAX_LINE_BYTES:,} bytes", field=where)
        if not line.endswith(b"\n"):
            raise InvalidInput("the file is cut short", field=where)
        most = max(FREE_BYTES, MAX_RATIO * self._size) if self.packed else MAX_UNPACKED_BYTES
        if unpacked > min(most, MAX_UNPACKED_BYTES):
            raise InvalidInput(f"the file unpacks to more than {MAX_RATIO} times its size", field=where)


@contextmanager
def open_archive(path: Path) -> Generator[ArchiveLines]:
    _check_name(path)
    try:
        with open_unheld(path) as raw:
            if not raw.seekable():
                raise InvalidInput("must be a file, not a pipe", field="file")
            yield ArchiveLines(raw, size=os.fstat(raw.fileno()).st_size)
    except OSError as error:
        raise _translated(error, path) from error


def looks_like_archive(path: Path) -> bool:
    """By its first line; also what is damaged further on, which whoever takes it in will say."""
    try:
        if not path.is_file():
            return False
        with open_unheld(path) as raw:
            is_packed = raw.read(len(_MAGIC)) == _MAGIC
            raw.seek(0)
            file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if is_packed else raw
            head = file.read(_HEAD_BYTES)
    except (OSError, ValueError, EOFError, zlib.error):
        return path.name.endswith(PACKED_SUFFIX)
    return f'"{FORMAT}"'.encode() in head.partition(b"\n")[0]


def parse(line: bytes) -> Line:
    """One JSON object without a name twice."""
    try:
        found: object = _reader.decode(line.decode())
    except (ValueError, RecursionError):
        raise InvalidInput("is not a JSON object", field="line") from None
    if not isinstance(found, dict):
        raise InvalidInput("is not a JSON object", field="line")
    return cast(Line, found)


def _once(pairs: list[tuple[str, Any]]) -> Line:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refuse(name: str) -> None:
    raise ValueError(name)


# Made once: for each line it would take as long as the line.
_reader = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse)
