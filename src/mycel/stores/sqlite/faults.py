"""Translates what SQLite raises into Mycel's errors, without any text of a query or a memory."""

from __future__ import annotations

import errno
from collections.abc import Callable

import apsw

from mycel.errors import KEY_TAKEN, Conflict, Misconfigured, MycelError, StorageFull, StoreDamaged, Unavailable

DAMAGE = (apsw.CorruptError, apsw.NotADBError)


def translate(error: Exception) -> Exception:
    """The error a caller should see; what neither SQLite nor the disk raised passes through."""
    if _is_full(error):
        return StorageFull("the disk is full: make room, then retry; nothing was stored", retry_after=5.0)
    if isinstance(error, NotADirectoryError):
        return Misconfigured(f"the data directory cannot be used: {error.strerror}")
    if isinstance(error, OSError):
        return Unavailable(f"the data directory cannot be used: {error.strerror}", retry_after=30.0)
    if isinstance(error, apsw.ConstraintError) and error.extendedresult != apsw.SQLITE_CONSTRAINT_UNIQUE:
        return error
    for kinds, translated in _TRANSLATIONS:
        if isinstance(error, kinds):
            return translated()
    return error


def _is_full(error: Exception) -> bool:
    """Also when there is no room for the index of the WAL, without which nothing can be read."""
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE
    return isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno == errno.ENOSPC)


_TRANSLATIONS: tuple[tuple[tuple[type[Exception], ...], Callable[[], MycelError]], ...] = (
    (
        (apsw.ConstraintError,),
        lambda: Conflict(KEY_TAKEN),
    ),
    (
        (apsw.BusyError, apsw.LockedError, apsw.ProtocolError),
        lambda: Unavailable("the store is busy with other writers; retry"),
    ),
    (
        (apsw.NoMemError, MemoryError),
        lambda: Unavailable("there is no room in memory for this at the moment; retry later", retry_after=5.0),
    ),
    ((apsw.InterruptError,), lambda: Unavailable("the statement was interrupted; retry", retry_after=0.1)),
    (
        DAMAGE,
        lambda: StoreDamaged("the store is damaged: restore it from a backup"),
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        lambda: Unavailable(
            "the store cannot be written: check the owner and mode of the data directory", retry_after=30.0
        ),
    ),
    (
        (apsw.CantOpenError,),
        lambda: Unavailable("the store cannot be opened: check the data directory and the open-file limit"),
    ),
    (
        (apsw.IOError,),
        lambda: Unavailable("the disk reported an error; check it, then retry", retry_after=5.0),
    ),
)
