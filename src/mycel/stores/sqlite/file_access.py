"""Reads, syncs and makes the files of a store next to SQLite. No other module of the stores opens them.

See `held_files` for what a plain open and close would do. An open database is read through SQLite's own handles; a
file that may be open elsewhere in this process is opened by SQLite's file layer, which keeps a descriptor back for as
long as any connection of the process has a lock on the file. What a killed process has left is read plainly, while
nobody here has the database open or can open it.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import NamedTuple

import apsw

from mycel.held_files import nobody_opens

INDEX_BYTES = 100
_REGION_BYTES = 32_768

_read_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64)
_sync_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_size_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))
_map_type = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)
)


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`, whose layout never changes: sqlite.org/c3ref/io_methods.html."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("close", ctypes.c_void_p),
        ("read", _read_type),
        ("write", ctypes.c_void_p),
        ("truncate", ctypes.c_void_p),
        ("sync", _sync_type),
        ("size", _size_type),
        ("lock", ctypes.c_void_p),
        ("unlock", ctypes.c_void_p),
        ("check_reserved_lock", ctypes.c_void_p),
        ("control", ctypes.c_void_p),
        ("sector_size", ctypes.c_void_p),
        ("characteristics", ctypes.c_void_p),
        # From version 2 on.
        ("map_shared", _map_type),
    )


class _Handle:
    """A file that SQLite has open for a connection. Valid only while the connection is neither closed nor written."""

    def __init__(self, connection: apsw.Connection, which: int) -> None:
        self._pointer = ctypes.c_void_p()
        connection.file_control("main", which, ctypes.addressof(self._pointer))
        methods = ctypes.cast(self._pointer, ctypes.POINTER(ctypes.c_void_p))[0] if self._pointer else None
        self._methods = ctypes.cast(methods, ctypes.POINTER(_Methods))[0] if methods else None

    def size(self) -> int:
        """Return 0 for a file that is not open."""
        if self._methods is None:
            return 0
        found = ctypes.c_int64()
        _require(self._methods.size(self._pointer, ctypes.byref(found)))
        return found.value

    def read(self, size: int, offset: int) -> bytes:
        if self._methods is None:
            return b""
        buffer = ctypes.create_string_buffer(size)
        _require(self._methods.read(self._pointer, buffer, size, offset))
        return buffer.raw

    def sync(self) -> None:
        if self._methods is not None:
            _require(self._methods.sync(self._pointer, apsw.SQLITE_SYNC_FULL))

    def read_shared(self, size: int) -> bytes:
        """Return the beginning of the memory that connections share, which this one has mapped; empty without any."""
        if self._methods is None or self._methods.version < 2:
            return b""
        found = ctypes.c_void_p()
        self._methods.map_shared(self._pointer, 0, _REGION_BYTES, 0, ctypes.byref(found))
        return ctypes.string_at(found.value, size) if found.value else b""


class OpenLog:
    """The write-ahead log of a connection that has read from it, by the handle that SQLite has for it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._handle = _Handle(connection, apsw.SQLITE_FCNTL_JOURNAL_POINTER)
        self._size = self._handle.size()

    def read(self, size: int, offset: int) -> bytes:
        """Return as many of the bytes as there were at first."""
        size = min(size, self._size - offset)
        return self._handle.read(size, offset) if size > 0 else b""


def read_live_index(connection: apsw.Connection) -> bytes:
    """Read the beginning of the index that all who have the log open share, as they see it now."""
    return _Handle(connection, apsw.SQLITE_FCNTL_FILE_POINTER).read_shared(INDEX_BYTES)


class LeftIndex(NamedTuple):
    content: bytes
    about: os.stat_result


def read_left_index(database: Path) -> LeftIndex | None:
    """Read the beginning of the index that other processes have left; None where this process uses it itself."""
    with nobody_opens(database) as is_free:
        if not is_free:
            return None
        try:
            with database.with_name(f"{database.name}-shm").open("rb") as file:
                return LeftIndex(file.read(INDEX_BYTES), os.fstat(file.fileno()))
        except OSError:
            return None


def read_start(database: Path, size: int) -> bytes:
    """Read the first bytes of a database that anybody may have open; none where it cannot be read."""
    try:
        file = _open_by_sqlite(database)
    except apsw.Error:
        return b""
    try:
        return file.xRead(size, 0)
    except apsw.Error:
        return b""
    finally:
        file.xClose()


def sync(path: Path) -> None:
    """Bring a file or a folder to the disk, whoever has it open. The shared index needs no such thing."""
    if path.name.endswith("-shm"):
        return
    if path.is_dir():
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        return
    file = _open_by_sqlite(path)
    try:
        file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()


def sync_open(connection: apsw.Connection) -> None:
    """Bring the database of a connection to the disk."""
    _Handle(connection, apsw.SQLITE_FCNTL_FILE_POINTER).sync()


def make_empty(path: Path) -> None:
    """Make a file that only its owner may read; raises `FileExistsError` where there is one."""
    with nobody_opens(path):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _open_by_sqlite(path: Path) -> apsw.VFSFile:
    """As a database, whatever it is: for these SQLite's file layer looks after the locks of other descriptors."""
    return apsw.VFSFile("", os.path.realpath(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])


def _require(code: int) -> None:
    # What is read behind the end of a file comes as zeros.
    if code not in {apsw.SQLITE_OK, apsw.SQLITE_IOERR_SHORT_READ}:
        raise apsw.exception_for(code)
