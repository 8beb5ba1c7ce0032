"""One database file: made on first write, migrated when opened, one writer, several readers."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, Generic, ParamSpec, TypeVar, cast

import apsw

from mycel.domain.damage import Damage
from mycel.domain.ids import TeamName
from mycel.errors import MycelError, Unavailable
from mycel.stores.forks import require_process
from mycel.stores.migrate import migrations, pending
from mycel.stores.sql.damaged_rows import ExcludingConnection, Exclusion, RowDamage, without_rows
from mycel.stores.sqlite import connection as connections
from mycel.stores.sqlite.abandoned import Abandoned
from mycel.stores.sqlite.condition import MALFORMED, NO_DATABASE, UNMADE, Condition, find_absence
from mycel.stores.sqlite.connection import Disk, migrate, schema_version
from mycel.stores.sqlite.damaged_rows import SQLITE_ROWS
from mycel.stores.sqlite.faults import DAMAGE, translate
from mycel.stores.sqlite.file_guard import FileGuard, Kind
from mycel.stores.sqlite.folders import folders_of, make_file, sync_folders
from mycel.stores.sqlite.readers import REOPENING, ReaderPool
from mycel.stores.sqlite.write_ahead_log import (
    LogIndex,
    count_frames,
    empty_log,
    has_lost_commits,
    has_lost_frames,
    is_cut,
    read_index,
)
from mycel.stores.sqlite.write_queue import WriteQueue
from mycel.stores.sqlite.writer import BatchTransaction, FilesMoved, Writer

TxT = TypeVar("TxT", bound=BatchTransaction)
ResultT = TypeVar("ResultT")
ParamsT = ParamSpec("ParamsT")

CUT = "its write-ahead log was cut"
LOG_DAMAGED = "its write-ahead log is damaged"
READERS_PER_FILE = 3
# A connection holds the file and its WAL; all of them share one index, and the writer holds a file to queue in.
HANDLES_PER_FILE = 2 * (1 + READERS_PER_FILE) + 2
# How often reads look whether their files are still there; writes do with every commit.
LOOK_SECONDS = 1.0
# Queries under way have so long to come to their end when the files under them have been moved.
LEAVE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Records:
    """What is known of a store elsewhere: whether one was made; and whom to tell that one is made, opened, damaged."""

    expected: Callable[[], bool] = lambda: False
    made: Callable[[], None] = lambda: None
    opened: Callable[[], None] = lambda: None
    damaged: Callable[[], None] = lambda: None


class Database(Generic[TxT]):
    """Reads of a file that was never there see an empty database, and make no file.

    One that is damaged is read and not written; see `condition.Condition`.
    """

    def __init__(
        self,
        path: Path,
        *,
        root: Path,
        schema: str,
        transaction: Callable[[apsw.Connection], TxT],
        flush: Callable[[TxT], object] | None = None,
        disk: Disk = Disk(),  # noqa: B008 - frozen
        committed: Callable[[], None] | None = None,
        team: TeamName | None = None,
        records: Records = Records(),  # noqa: B008 - frozen
    ) -> None:
        self.path = path
        self._root = root
        self._process = os.getpid()
        self._steps = migrations("mycel.stores.sqlite", schema)
        self._disk = disk
        self._records = records
        self._there = False
        self._was_there = False
        self._changed = threading.Condition()
        self._committed = committed
        self._condition = Condition(path, team, damaged=records.damaged)
        self._files = FileGuard(path)
        self._look_at = 0.0
        self._moved: Kind | None = None
        self._reopening = threading.Lock()
        self._abandoned = Abandoned(path)
        self._inspections: set[apsw.Connection] = set()
        # `SQLError` is what a query raises over JSON that is none.
        self.row_damage = RowDamage(SQLITE_ROWS, self.inspect, team=team, errors=(apsw.SQLError,))
        self._empty = ReaderPool(self._connect_empty, limit=1)
        self._readers = ReaderPool(
            self._connect_reader, limit=READERS_PER_FILE, fault=self._fault, close=self._close_connection
        )
        self.writer = Writer(
            self._connect_writer,
            transaction=transaction,
            flush=flush,
            committed=self._announce,
            before=self._require_before,
            after=self._require_in_place,
            leave=self._leave,
            fault=self._fault,
            close=self._close_connection,
            queue=WriteQueue(path),
        )

    def read(
        self,
        query: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        """A query that fails over a damaged row is run once more, without the rows that cannot be read."""
        require_process(self._process)
        pool = self._readers if self.exists() else self._empty
        exclusion = self.row_damage.exclusion()
        if exclusion is None:
            try:
                return pool.run(query, *args, **kwargs)
            except Exception as error:
                exclusion = self.row_damage.explain(error, None)
                if exclusion is None:
                    raise
        return self._read_without(pool, exclusion, query, *args, **kwargs)

    def read_whole(
        self,
        query: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        """As `read`, on the connection itself: for what reads no rows of ours, or copies them as they are."""
        require_process(self._process)
        return (self._readers if self.exists() else self._empty).run(query, *args, **kwargs)

    def _read_without(
        self,
        pool: ReaderPool,
        exclusion: Exclusion,
        query: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        def run(connection: apsw.Connection, excluded: Exclusion) -> ResultT:
            return query(cast(apsw.Connection, ExcludingConnection(connection, excluded)), *args, **kwargs)

        try:
            return pool.run(run, exclusion)
        except Exception as error:
            more = self.row_damage.explain(error, exclusion)
            if more is None:
                raise
        return pool.run(run, more)

    def write(self, work: Callable[[TxT], ResultT], *, beside: bool = False) -> ResultT:
        """As `read`: an operation that fails over a damaged row has stored nothing, and is run once more."""
        require_process(self._process)
        exclusion = self.row_damage.exclusion()
        try:
            return self.writer.run(without_rows(work, exclusion), beside=beside)
        except Exception as error:
            more = self.row_damage.explain(error, exclusion)
            if more is None:
                raise
        return self.writer.run(without_rows(work, more), beside=beside)

    def exists(self) -> bool:
        """Raises `StoreDamaged` where there was a store and is none any more."""
        if time.monotonic() >= self._look_at:
            self._look()
        return self._there or self._find_file()

    @property
    def is_damaged(self) -> bool:
        return self._condition.damage is not None

    def damage(self) -> Damage | None:
        """What is wrong with the files, as they are now."""
        self._look_at = 0.0
        with contextlib.suppress(MycelError):
            self.exists()
        return self._condition.damage

    def inspect(self, query: Callable[[apsw.Connection], ResultT]) -> ResultT:
        """On a connection of its own: one that has read before checks the word index against what it remembers."""
        connection = self._open_reader()
        self._inspections.add(connection)
        try:
            return query(connection)
        finally:
            self._inspections.discard(connection)
            self._close_connection(connection)

    def check(self, find: Callable[[apsw.Connection], list[str]], *, asked: bool = True) -> list[str]:
        """What is wrong. What is found turns the store read-only; one that is sound is written again."""
        try:
            if not self.exists():
                return []
            problems = self.inspect(find)
        except (*DAMAGE, apsw.SQLError) as error:
            problems = [_words_for(error)]
        except apsw.Error as error:
            damage = self._condition.damage
            if damage is None:
                raise self._fault(error) from error
            problems = [damage.problem]
        if not problems:
            return self._condition.find_sound(asked=asked, settle=lambda: self.inspect(empty_log))
        self._condition.mark(problems[0])
        return problems

    def wait(self, timeout: float) -> None:
        """Returns after a commit of this process, or when the time is up."""
        with self._changed:
            self._changed.wait(timeout)

    def close(self) -> None:
        for connection in tuple(self._inspections):
            with contextlib.suppress(apsw.Error):
                connection.interrupt()
        self.writer.close()
        self._readers.close()
        self._empty.close()
        self._announce()

    def _announce(self) -> None:
        with self._changed:
            self._changed.notify_all()
        if self._committed is not None:
            self._committed()

    def _look(self) -> None:
        self._look_at = time.monotonic() + LOOK_SECONDS
        if self._there:
            # Whatever was found: what can be read is read.
            with contextlib.suppress(MycelError, FilesMoved):
                self._find_change()

    def _find_change(self, *, thoroughly: bool = True) -> None:
        change = self._files.find_change(thoroughly=thoroughly)
        if change is None:
            return
        if change.kind is not Kind.SHORTER:
            self._moved, self._there = change.kind, False
            raise FilesMoved(change.what)
        try:
            problem = self.inspect(self._find_cut)
        except apsw.IOError:
            # It ends before what is to be read.
            problem = CUT
        except (apsw.Error, OSError) as error:
            raise self._fault(error) from error
        if problem is not None:
            raise self._condition.mark(problem, is_loss=True)
        self._files.accept()

    def _find_cut(self, connection: apsw.Connection) -> str | None:
        """VACUUM and checkpoints make files shorter too; they leave none shorter than its pages."""
        page_size, pages = connection.pragma("page_size"), connection.pragma("page_count")
        if not schema_version(connection):
            return "its file was emptied"
        if is_cut(connection, known=count_frames(connection), page_size=page_size):
            return CUT
        if self.path.stat().st_size >= page_size * pages:
            return None
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        return None if found == "ok" else f"its file was cut: {found}"

    def _require_before(self) -> None:
        """A batch begins. Looking only after it is not enough: a log that was cut is as long again by then."""
        self._condition.require_sound()
        self._require_in_place()

    def _require_in_place(self) -> None:
        """A batch is to be acknowledged."""
        self._find_change(thoroughly=False)

    def _find_file(self) -> bool:
        """A file whose making was cut short is empty to readers; an older one is migrated before it is read."""
        version = self._examine()
        if version == 0:
            return False
        if pending(self._steps, version):
            self.writer.exclusive(lambda connection: None)
        self._note_opened()
        return True

    def _examine(self) -> int:
        """The version of the schema, 0 where there never was a store. Raises `StoreDamaged` where there was one."""
        if self._moved is not None:
            self._reopen()
        self._abandoned.set_aside_log()
        # Twice, since another process may make the store between the two questions.
        for is_last in (False, True):
            problem = find_absence(self.path)
            version = 0 if problem else self._read_version()
            if version:
                self._condition.meet()
                return version
            if not (self._was_there or self._records.expected()):
                return 0
            if is_last:
                raise self._condition.lose(problem or UNMADE)
        return 0

    def _read_version(self) -> int:
        before = read_index(self.path)
        try:
            reader = self._open_reader()
            try:
                # Closing the only connection would write the log into the file, which only those who use it should.
                reader.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                version = schema_version(reader)
                self._examine_log(reader, before)
                return version
            finally:
                reader.close()
        except apsw.Error as error:
            raise self._fault(error) from error

    def _examine_log(self, reader: apsw.Connection, before: LogIndex | None) -> None:
        """SQLite takes whatever it finds of the log for all there was."""
        if has_lost_commits(reader):
            self._condition.mark(f"{LOG_DAMAGED}: the last commits in it cannot be read", is_loss=True)
        elif has_lost_frames(reader, self._index_file, before, known=count_frames(reader)):
            self._condition.mark(f"{LOG_DAMAGED}: the last commits in it are gone", is_loss=True)

    @property
    def _index_file(self) -> Path:
        return self.path.with_name(f"{self.path.name}-shm")

    def _note_opened(self) -> None:
        was_open, self._there, self._was_there = self._there, True, True
        # Made by a version that took no note of it, perhaps; to note it can wait.
        with contextlib.suppress(MycelError):
            self._records.made()
        if not was_open:
            self._records.opened()

    def _open_reader(self) -> apsw.Connection:
        return connections.open_reader(self.path, vfs=self._disk.vfs)

    def _connect_reader(self) -> apsw.Connection:
        connection = self._open_reader()
        try:
            # The first read makes the files beside the database.
            schema_version(connection)
            self._remember(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_empty(self) -> apsw.Connection:
        memory = connections.open_memory()
        migrate(memory, self._steps)
        return memory

    def _connect_writer(self) -> apsw.Connection:
        self._examine()
        self._condition.require_sound()
        made = make_file(self.path)
        connection = connections.open_writer(self.path, vfs=self._disk.vfs, synchronous=self._disk.synchronous)
        try:
            migrate(connection, self._steps)
            self._remember(connection)
        except Exception:
            connection.close()
            raise
        sync_folders([*folders_of(self.path, self._root), *(folder.parent for folder in made)])
        # Before the first write is acknowledged: from then on its absence is a loss.
        self._records.made()
        self._note_opened()
        return connection

    def _remember(self, connection: apsw.Connection) -> None:
        if not self._files.remember(connection):
            self._moved = Kind.MOVED
            raise FilesMoved("its file was moved while it was opened")

    def _close_connection(self, connection: apsw.Connection) -> None:
        """A log that may be damaged must not be written into the file by the last who leaves."""
        if self._condition.damage is not None or self._moved is Kind.FOREIGN:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()

    def _leave(self, connection: apsw.Connection) -> None:
        """The last chance to save what only open files still hold."""
        if self._moved in {Kind.MOVED, Kind.FOREIGN}:
            self._abandoned.rescue(connection)

    def _reopen(self) -> None:
        """Every connection to the old files ends before the first to the new ones: they would share an index."""
        if not self._reopening.acquire(blocking=False):
            raise Unavailable(REOPENING, retry_after=0.2)
        try:
            if self._moved is None:
                return
            self._there = False
            self.writer.drop()
            if not self._readers.renew(seconds=LEAVE_SECONDS, leave=self._leave):
                raise Unavailable(REOPENING)
            self._abandoned.leave(self._files.forget())
            self._moved = None
        finally:
            self._reopening.release()

    def _fault(self, error: Exception) -> Exception:
        """The error a caller should see. Damage is noted, unless other files under the connection explain it."""
        if isinstance(error, FilesMoved):
            return Unavailable(f"the files of the store were moved while it was in use: {error}; nothing was stored")
        is_unmade = isinstance(error, apsw.SQLError) and self._lacks_tables()
        if not (isinstance(error, DAMAGE) or is_unmade):
            return translate(error)
        change = self._files.find_change()
        if change is not None and change.kind is not Kind.SHORTER:
            self._moved, self._there = change.kind, False
            return Unavailable(f"the files of the store were moved while it was in use: {change.what}; retry")
        return self._condition.mark(_words_for(error))

    def _lacks_tables(self) -> bool:
        """What our own statements name is there in every file but one that was emptied."""
        try:
            return self.inspect(schema_version) == 0
        except apsw.Error:
            return True


def _words_for(error: Exception) -> str:
    if isinstance(error, apsw.SQLError):
        return UNMADE
    return NO_DATABASE if isinstance(error, apsw.NotADBError) else MALFORMED
