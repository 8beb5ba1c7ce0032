"""One database file: made on first write, migrated when opened, one writer, several readers."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, Generic, ParamSpec, TypeVar

import apsw

from mycel.stores.migrate import Migration, migrations, pending
from mycel.stores.sqlite import connection as connections
from mycel.stores.sqlite.faults import translate
from mycel.stores.sqlite.readers import ReaderPool
from mycel.stores.sqlite.writer import BatchTransaction, Writer

TxT = TypeVar("TxT", bound=BatchTransaction)
ResultT = TypeVar("ResultT")
ParamsT = ParamSpec("ParamsT")

READERS_PER_FILE = 3
# A connection holds the file and its WAL, all of them share one index; see `handle_budget`.
HANDLES_PER_FILE = 2 * (1 + READERS_PER_FILE) + 1


@dataclass(frozen=True, slots=True)
class Disk:
    """How files are reached; tests put a recording VFS or a weaker promise underneath."""

    vfs: str | None = None
    synchronous: str = "FULL"


class Database(Generic[TxT]):
    """Reads of a file that is not there yet see an empty database, and make no file."""

    def __init__(
        self,
        path: Path,
        *,
        root: Path,
        schema: str,
        transaction: Callable[[apsw.Connection], TxT],
        flush: Callable[[TxT], None] | None = None,
        disk: Disk = Disk(),  # noqa: B008 - frozen
        committed: Callable[[], None] | None = None,
    ) -> None:
        self.path = path
        self._root = root
        self._process = os.getpid()
        self._steps = migrations("mycel.stores.sqlite", schema)
        self._disk = disk
        self._there = False
        self._changed = threading.Condition()
        self._committed = committed
        self._empty = ReaderPool(self._connect_empty, limit=1)
        self._readers = ReaderPool(self._connect_reader, limit=READERS_PER_FILE)
        self.writer = Writer(self._connect_writer, transaction=transaction, flush=flush, committed=self._announce)

    def read(
        self,
        query: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        connections.require_process(self._process)
        pool = self._readers if self._there or self._find_file() else self._empty
        return pool.run(query, *args, **kwargs)

    def write(self, work: Callable[[TxT], ResultT]) -> ResultT:
        connections.require_process(self._process)
        return self.writer.run(work)

    def exists(self) -> bool:
        return self._there or self._find_file()

    def inspect(self, query: Callable[[apsw.Connection], ResultT]) -> ResultT:
        """On a connection of its own: one that has read before checks the word index against what it remembers."""
        connection = self._connect_reader()
        try:
            return query(connection)
        finally:
            connection.close()

    def wait(self, timeout: float) -> None:
        """Returns after a commit of this process, or when the time is up."""
        with self._changed:
            self._changed.wait(timeout)

    def close(self) -> None:
        self.writer.close()
        self._readers.close()
        self._empty.close()
        self._announce()

    def _announce(self) -> None:
        with self._changed:
            self._changed.notify_all()
        if self._committed is not None:
            self._committed()

    def _find_file(self) -> bool:
        """A file whose making was cut short is empty to readers; an older one is migrated before it is read."""
        if not self.path.exists():
            return False
        version = self._read_version()
        if version == 0:
            return False
        if pending(self._steps, version):
            self.writer.exclusive(lambda connection: None)
        self._there = True
        return True

    def _read_version(self) -> int:
        try:
            reader = connections.open_reader(self.path, vfs=self._disk.vfs)
            try:
                return _schema_version(reader)
            finally:
                reader.close()
        except apsw.Error as error:
            raise translate(error) from error

    def _connect_reader(self) -> apsw.Connection:
        return connections.open_reader(self.path, vfs=self._disk.vfs)

    def _connect_empty(self) -> apsw.Connection:
        memory = connections.open_memory()
        migrate(memory, self._steps)
        return memory

    def _connect_writer(self) -> apsw.Connection:
        made = _make_file(self.path)
        connection = connections.open_writer(self.path, vfs=self._disk.vfs, synchronous=self._disk.synchronous)
        try:
            migrate(connection, self._steps)
        except Exception:
            connection.close()
            raise
        _sync_folders([*_folders_of(self.path, self._root), *(folder.parent for folder in made)])
        self._there = True
        return connection


def migrate(connection: apsw.Connection, steps: tuple[Migration, ...]) -> None:
    """All steps or none, whatever kills it: nobody ever meets a store that is half made."""
    if not pending(steps, _schema_version(connection)):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster while this one waited for the lock.
        for step in pending(steps, _schema_version(connection)):
            connection.execute(step.sql)
            connection.execute(f"PRAGMA user_version = {step.number:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _schema_version(connection: apsw.Connection) -> int:
    return connection.pragma("user_version")


def _make_file(path: Path) -> list[Path]:
    """Makes the file and its folders for the owner alone; returns the folders that were not there."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    return missing


def _folders_of(path: Path, root: Path) -> list[Path]:
    """From the file's own folder up to the one that names the data directory."""
    return [folder for folder in path.parents if folder == root.parent or folder.is_relative_to(root)]


def _sync_folders(folders: Iterable[Path]) -> None:
    """A new file survives a power cut only once every folder that leads to it was synced.

    Also those that were there: another process may have made one and not synced it yet.
    """
    for folder in dict.fromkeys(folders):
        # What lies above the data directory may be somebody else's.
        with contextlib.suppress(PermissionError):
            sync(folder)


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
