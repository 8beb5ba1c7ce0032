"""All team stores of a data directory: opened on use, and the longest unused closed when too many are open."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path

from mycel.contracts.clock import Clock
from mycel.domain.ids import TeamName
from mycel.errors import CLOSED, Unavailable
from mycel.stores.sqlite.connection import require_process
from mycel.stores.sqlite.database import HANDLES_PER_FILE, Disk
from mycel.stores.sqlite.store import SqliteStore
from mycel.stores.sqlite.watch import FileWatch, last_write

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


class SqliteStores:
    """See `contracts.store.Stores`. A leased store is never closed; a lease beyond the limit waits for one.

    Only a thread without a lease waits. One that has a store already gets the next at once, beyond the limit if need
    be: it could be waiting for itself, or for a thread that waits for it. What is over the limit is closed when its
    last user gives it back.
    """

    def __init__(self, folder: Path, *, clock: Clock, disk: Disk, limit: int | None = None) -> None:
        self._folder = folder
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

    def lease(self, team: TeamName) -> _Lease:
        return _Lease(self, team)

    def teams_with_store(self) -> list[TeamName]:
        if not self._folder.exists():
            return []
        return sorted(TeamName(file.parent.name) for file in self._folder.glob("*/memory.sqlite"))

    def written(self) -> dict[TeamName, int]:
        return {team: last_write(self._file_of(team)) for team in self.teams_with_store()}

    def watch(self, team: TeamName) -> FileWatch:
        watch = FileWatch(self._file_of(team), closed=lambda watch: self._unwatch(team, watch))
        with self._watching:
            self._watches[team] = (*self._watches.get(team, ()), watch)
        return watch

    def close(self) -> None:
        with self._room:
            self._closed = True
            stores = [held.store for held in self._open.values()]
            self._open.clear()
            self._room.notify_all()
        for store in stores:
            store.close()

    def hold(self, team: TeamName) -> _Held:
        require_process(self._process)
        with self._room:
            if self._closed:
                raise Unavailable(CLOSED)
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
        )

    def _file_of(self, team: TeamName) -> Path:
        return self._folder / team / "memory.sqlite"

    def _announce(self, team: TeamName) -> None:
        for watch in self._watches.get(team, ()):
            watch.wake()

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
