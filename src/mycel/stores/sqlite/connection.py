"""Opens SQLite connections with the settings that make an acknowledged write durable; migrates."""

from __future__ import annotations

import ctypes
import itertools
import random
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from mycel.errors import Misconfigured
from mycel.held_files import HeldFile
from mycel.retrieval.analysis import index_text
from mycel.retrieval.terms import packed_texts
from mycel.stores.migrate import Migration, pending

# A disk that is flushing gigabytes of somebody else can take seconds for one sync.
BUSY_SECONDS = 20.0
# 3.7.0 to 3.51.2 can corrupt a database when a WAL is reset under load: sqlite.org/wal.html.
FIRST_SOUND_SQLITE = (3, 51, 3)


@dataclass(frozen=True, slots=True)
class Disk:
    """How files are reached; tests put a recording VFS or a weaker promise underneath."""

    vfs: str | None = None
    synchronous: str = "FULL"


class StoreConnection(apsw.Connection):
    """A connection to a file. The file counts as held from before it is opened until after it is closed."""

    def __init__(self, path: Path, *, uri: str | None = None, **options: Any) -> None:
        held = HeldFile(path)
        try:
            super().__init__(uri or str(path), **options)
        except BaseException:
            held.release()
            raise
        self._held = held
        self.patience = Patience()

    def close(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - as apsw has it
        super().close(force)
        self._held.release()


def check_sqlite_version() -> str:
    """The version in use, which is a sound one."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < FIRST_SOUND_SQLITE:
        raise Misconfigured(
            f"SQLite {apsw.sqlite_lib_version()} has a WAL corruption bug: install a newer apsw "
            f"(SQLite {'.'.join(map(str, FIRST_SOUND_SQLITE))} or later)"
        )
    return apsw.sqlite_lib_version()


def open_writer(path: Path, *, vfs: str | None = None, synchronous: str = "FULL") -> apsw.Connection:
    connection = _connect(path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, vfs=vfs)
    _switch_to_wal(connection)
    connection.pragma("synchronous", synchronous)
    # macOS: a plain fsync leaves the data in the drive's cache.
    connection.pragma("fullfsync", True)
    connection.pragma("checkpoint_fullfsync", True)
    # Freed bytes are zeroed at once, so that purging need not rewrite the whole file.
    connection.pragma("secure_delete", True)
    connection.pragma("cache_size", -16_000)
    # Checkpoints of 8 MB: fewer syncs than the default 4 MB, and recovery still takes milliseconds.
    connection.pragma("wal_autocheckpoint", 2000)
    return connection


def open_reader(path: Path, *, vfs: str | None = None) -> apsw.Connection:
    connection = _connect(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    connection.pragma("query_only", True)
    empty_wal_at_the_end(connection)
    connection.pragma("cache_size", -8_000)
    return connection


def begin_at_once(connection: apsw.Connection) -> bool:
    """Begin a transaction that writes; False where another process is writing."""
    patience = connection.patience if isinstance(connection, StoreConnection) else Patience()
    patience.is_off = True
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        return False
    finally:
        patience.is_off = False
    return True


def empty_wal_at_the_end(connection: apsw.Connection) -> None:
    """Before a connection closes that may be the last; one that still writes would shorten the WAL all the time."""
    connection.pragma("journal_size_limit", 0)


def open_alone(path: Path) -> apsw.Connection:
    """Nobody else reads or writes the file until it is closed. Raises `apsw.BusyError` where somebody has it open."""
    connection = StoreConnection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # Before the first access: later it would share an index with others.
        connection.pragma("locking_mode", "exclusive")
        connection.pragma("temp_store", "memory")
        connection.pragma("user_version")
    except BaseException:
        connection.close()
        raise
    return connection


def open_unchanging(path: Path) -> apsw.Connection:
    """For a file that nobody writes: it is read as it is, and nothing is made beside it."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = StoreConnection(path, uri=f"{path.resolve().as_uri()}?immutable=1", flags=flags)
    connection.pragma("temp_store", "memory")
    return connection


def open_memory() -> apsw.Connection:
    return apsw.Connection(":memory:")


@contextmanager
def one_moment(connection: apsw.Connection) -> Generator[None]:
    """Several statements of a reader that see the same state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _connect(path: Path, *, flags: int, vfs: str | None) -> apsw.Connection:
    # Room for inserts of every number of rows, which are texts of their own.
    connection = StoreConnection(path, flags=flags, vfs=vfs, statementcachesize=512)
    connection.set_busy_handler(connection.patience)
    _keep_wal_files(connection)
    connection.pragma("temp_store", "memory")
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    return connection


def _keep_wal_files(connection: apsw.Connection) -> None:
    """The last one to close leaves the WAL, emptied, and its index: on a full disk they could not be made again, and
    nobody could even read."""
    wanted = ctypes.c_int(1)
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(wanted))


def _switch_to_wal(connection: apsw.Connection) -> None:
    """A new file is switched by whoever comes first; SQLite turns the others away without asking the busy handler."""
    wait = Patience()
    for tries in itertools.count():
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if not wait(tries):
                raise
        else:
            return


class Patience:
    """Waits for other processes in short random steps: SQLite's own back-off starves some of 32 writers."""

    def __init__(self) -> None:
        self.is_off = False
        self._deadline = 0.0

    def __call__(self, tries: int) -> bool:
        if self.is_off:
            return False
        now = time.monotonic()
        if tries == 0:
            self._deadline = now + BUSY_SECONDS
        if now >= self._deadline:
            return False
        time.sleep(random.uniform(0.0005, 0.005))  # noqa: S311 - spreads waiters, guards nothing
        return True


def migrate(connection: apsw.Connection, steps: tuple[Migration, ...]) -> None:
    """All steps or none, whatever kills it: nobody ever meets a store that is half made."""
    if not pending(steps, schema_version(connection)):
        return
    # For steps that index texts anew.
    connection.create_scalar_function("index_text", index_text, 1, deterministic=True)
    connection.create_scalar_function("pack_terms", packed_texts, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster while this one waited for the lock.
        for step in pending(steps, schema_version(connection)):
            connection.execute(step.sql)
            connection.execute(f"PRAGMA user_version = {step.number:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def schema_version(connection: apsw.Connection) -> int:
    return connection.pragma("user_version")
