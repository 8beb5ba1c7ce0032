"""All team stores of a data directory: opened on use, and the longest unused closed when too many are open."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import apsw

from mycel.contracts.clock import Clock
from mycel.domain.damage import Damage
from mycel.domain.ids import TeamName
from mycel.errors import CLOSED, MycelError, Unavailable
from mycel.stores.forks import require_process
from mycel.stores.layout import TEAMS_FOLDER, WORKSPACE_FILE
from mycel.stores.sqlite import damage_marker, restored
from mycel.stores.sqlite.abandoned import set_aside
from mycel.stores.sqlite.checks import CHECK_AFTER_SECONDS, Checks
from mycel.stores.sqlite.condition import find_file_problem
from mycel.stores.sqlite.connection import check_sqlite_version
from mycel.stores.sqlite.database import HANDLES_PER_FILE, Disk, Records
from mycel.stores.sqlite.directory import SqliteDirectory, list_stores
from mycel.stores.sqlite.repair import make_anew
from mycel.stores.sqlite.store import INDEX_FILE, SqliteStore
from mycel.stores.sqlite.watch import FileWatch, last_write

_log = logging.getLogger("mycel.stores")


class StoreRecords(Protocol):
    """Which teams have had a store, noted where the stores are not."""

    def has_store(self, team: TeamName) -> bool: ...
    def teams_with_store(self) -> list[TeamName]: ...
    def note_store(self, team: TeamName) -> None: ...
    def forget_store(self, team: TeamName) -> None: ...


# A damaged store that another process has open cannot be made anew; so often it is tried again.
BUSY_SECONDS = 60.0
MOST_OPEN = 128
WAIT_SECONDS = 30.0


def open_limit() -> int:
    """As many stores as half the file handles of the process allow; the others are for connections, and for its own."""
    try:
        import resource
    except ImportError:  # Windows has no such limit per process.
        return MOST_OPEN
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_OPEN
    return max(1, min(MOST_OPEN, soft // 2 // HANDLES_PER_FILE))


def open_data_directory(
    data: Path, *, clock: Clock, disk: Disk, limit: int | None = None
) -> tuple[SqliteDirectory, SqliteStores]:
    """Who belongs to the workspace, and the stores of its teams, each checked soon after it was opened."""
    check_sqlite_version()
    if restored.is_pending(data):
        restored.finish(data)
    teams = data / TEAMS_FOLDER
    directory = SqliteDirectory(data / WORKSPACE_FILE, clock=clock, disk=disk, teams=teams)
    stores = SqliteStores(teams, clock=clock, disk=disk, limit=limit, made=directory, check_after=CHECK_AFTER_SECONDS)
    return directory, stores


class SqliteStores:
    """See `contracts.store.Stores`. A leased store is never closed; a lease beyond the limit waits for one.

    Only a thread without a lease waits. One that has a store already gets the next at once, beyond the limit if need
    be: it could be waiting for itself, or for a thread that waits for it. What is over the limit is closed when its
    last user gives it back.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        disk: Disk,
        limit: int | None = None,
        made: StoreRecords | None = None,
        check_after: float | None = None,
    ) -> None:
        """With `made`, a store that was there and is gone is told from one that never was.

        With `check_after`, each store is checked in full so many seconds after it was opened.
        """
        self._folder = folder
        self._made = made
        self._known_made: set[TeamName] = set()
        self._checks = Checks(self._check, after=check_after)
        self._noticed: dict[TeamName, Damage] = {}
        self._in_repair: set[TeamName] = set()
        self._clock = clock
        self._disk = disk
        self._limit = limit or open_limit()
        self._open: OrderedDict[TeamName, _Held] = OrderedDict()
        self._room = threading.Condition(threading.Lock())
        self._thread = _Thread()
        self._process = os.getpid()
        self._closed = False
        # Replaced, never changed: the writers that read them take no lock.
        self._watches: dict[TeamName, tuple[FileWatch, ...]] = {}
        self._watching = threading.Lock()
        self._listeners: tuple[Callable[[TeamName], None], ...] = ()

    def lease(self, team: TeamName) -> _Lease:
        return _Lease(self, team)

    def teams_with_store(self) -> list[TeamName]:
        return [team for team in list_stores(self._folder) if not self.is_damaged(team)]

    def written(self) -> dict[TeamName, int]:
        # Whoever asks does so every few seconds: so what happens to files that nobody uses is noticed too.
        for held in self._held():
            held.store.files.damage()
        return {team: last_write(self._file_of(team)) for team in self.teams_with_store()}

    def damages(self) -> list[Damage]:
        open_stores = {held.store.team: held.store for held in self._held()}
        made: set[TeamName] = set()
        # What keeps the workspace's own database from answering is told elsewhere.
        if self._made is not None:
            with contextlib.suppress(MycelError):
                made.update(self._made.teams_with_store())
        found: list[Damage] = []
        for team in sorted({*made, *list_stores(self._folder)}):
            store = open_stores.get(team)
            damage = store.files.damage() if store is not None else self._examine(team, was_made=team in made)
            damaged_rows = store.files.damaged_rows if store is not None else None
            found += [one for one in (damage, damaged_rows) if one is not None]
        return found

    def is_damaged(self, team: TeamName) -> bool:
        held = self._open.get(team)
        return (
            held.store.files.is_damaged if held is not None else damage_marker.marker_of(self._file_of(team)).exists()
        )

    def has_damaged_rows(self, team: TeamName) -> bool:
        held = self._open.get(team)
        return held is not None and held.store.files.damaged_rows is not None

    def reset(self, team: TeamName) -> None:
        with self._room:
            held = self._open.pop(team, None)
            if held is not None:
                held.store.close()
            set_aside(self._file_of(team), self._file_of(team).with_name(INDEX_FILE))
            if self._made is not None:
                self._known_made.discard(team)
                self._made.forget_store(team)

    def watch(self, team: TeamName) -> FileWatch:
        watch = FileWatch(self._file_of(team), closed=lambda watch: self._unwatch(team, watch))
        with self._watching:
            self._watches[team] = (*self._watches.get(team, ()), watch)
        return watch

    def listen(self, heard: Callable[[TeamName], None]) -> None:
        self._listeners = (*self._listeners, heard)

    def close(self) -> None:
        self._checks.close()
        with self._room:
            self._closed = True
            stores = [held.store for held in self._open.values()]
            self._open.clear()
            self._room.notify_all()
        for store in stores:
            store.close()
        self._checks.join()

    def hold(self, team: TeamName) -> _Held:
        require_process(self._process)
        with self._room:
            if self._closed:
                raise Unavailable(CLOSED)
            if team in self._in_repair:
                raise Unavailable(f"the indexes of team {team} are being made again; retry", retry_after=5.0)
            held = self._open.get(team) or self._open_another(team)
            self._open.move_to_end(team)
            held.users += 1
            self._thread.leases += 1
            return held

    def release(self, held: _Held) -> None:
        with self._room:
            held.users -= 1
            self._thread.leases -= 1
            if held.users == 0:
                self._close_excess()
                # All of them: who waits for this very store must not use up the wake-up of who waits for room.
                self._room.notify_all()

    def _open_another(self, team: TeamName) -> _Held:
        """Called with the lock held: a store must be closed before it is opened again, or two writers meet."""
        found = self._room.wait_for(
            lambda: self._closed or team in self._open or self._make_room() or self._thread.leases > 0,
            timeout=WAIT_SECONDS,
        )
        if self._closed:
            raise Unavailable(CLOSED)
        if not found:
            raise Unavailable(f"all {self._limit} stores that may be open are in use; retry")
        if team not in self._open:
            self._open[team] = _Held(self._open_store(team))
            self._room.notify_all()
        return self._open[team]

    def _open_store(self, team: TeamName) -> SqliteStore:
        return SqliteStore(
            self._file_of(team),
            root=self._folder.parent,
            team=team,
            clock=self._clock,
            disk=self._disk,
            committed=lambda: self._announce(team),
            records=Records(
                expected=lambda: self._was_made(team),
                made=lambda: self._note_made(team),
                opened=lambda: self._checks.add(team),
                damaged=lambda: self._checks.again(team),
            ),
        )

    def _held(self) -> list[_Held]:
        with self._room:
            return list(self._open.values())

    def _was_made(self, team: TeamName) -> bool:
        return team in self._known_made or (self._made is not None and self._made.has_store(team))

    def _note_made(self, team: TeamName) -> None:
        if self._made is not None and team not in self._known_made:
            if not self._made.has_store(team):
                self._made.note_store(team)
            self._known_made.add(team)

    def _check(self, team: TeamName) -> None:
        with self.lease(team) as store:
            problems = store.files.check(asked=False)
            if not problems:
                # Those found are in the log, and known to whoever asks.
                store.files.find_damaged_rows()
        try:
            if problems and self._make_anew(team):
                _log.warning("the store of team %s was made anew: its indexes were damaged", team)
        except apsw.BusyError:
            self._checks.again(team, after=BUSY_SECONDS)

    def _make_anew(self, team: TeamName) -> bool:
        """While nobody has it open: those who ask meanwhile are told to come back."""
        file = self._file_of(team)
        with self._room:
            if team in self._in_repair:
                return False
            self._in_repair.add(team)
            held = self._open.pop(team, None)
        try:
            if held is not None:
                held.store.close()
            is_sound = make_anew(file)
            if is_sound:
                damage_marker.remove(file)
                file.with_name(INDEX_FILE).unlink(missing_ok=True)
            return is_sound
        finally:
            with self._room:
                self._in_repair.discard(team)

    def _examine(self, team: TeamName, *, was_made: bool) -> Damage | None:
        """A store that nobody has open, by a look at its file."""
        found = find_file_problem(self._file_of(team), team, was_made=was_made)
        known = self._noticed.get(team)
        if found is None:
            self._noticed.pop(team, None)
        elif known is None or known.problem != found.problem:
            self._noticed[team] = found
        else:
            found = known
        return found

    def _file_of(self, team: TeamName) -> Path:
        return self._folder / team / "memory.sqlite"

    def _announce(self, team: TeamName) -> None:
        for watch in self._watches.get(team, ()):
            watch.wake()
        for heard in self._listeners:
            heard(team)

    def _unwatch(self, team: TeamName, watch: FileWatch) -> None:
        with self._watching:
            left = tuple(other for other in self._watches.get(team, ()) if other is not watch)
            if left:
                self._watches[team] = left
            else:
                self._watches.pop(team, None)

    def _make_room(self) -> bool:
        return len(self._open) < self._limit or self._close_unused()

    def _close_excess(self) -> None:
        while len(self._open) > self._limit and self._close_unused():
            pass

    def _close_unused(self) -> bool:
        """The one unused for longest, if any is."""
        unused = next((team for team, held in self._open.items() if held.users == 0), None)
        if unused is None:
            return False
        self._open.pop(unused).store.close()
        return True


class _Thread(threading.local):
    """How many leases the thread that asks has."""

    leases = 0


class _Lease:
    """A class of its own: on the path of every call, where a generator would cost twice as much."""

    __slots__ = ("_held", "_stores", "_team")

    def __init__(self, stores: SqliteStores, team: TeamName) -> None:
        self._stores = stores
        self._team = team

    def __enter__(self) -> SqliteStore:
        self._held = self._stores.hold(self._team)
        return self._held.store

    def __exit__(self, *failure: object) -> None:
        self._stores.release(self._held)


class _Held:
    __slots__ = ("store", "users")

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.users = 0
