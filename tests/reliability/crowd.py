"""One team's store with many callers at once, and the means to make them share a transaction."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import apsw

from mycel.access.scope import read_scope
from mycel.contracts.clock import Clock, SystemClock
from mycel.domain.ids import MemberId, TeamName
from mycel.domain.memory import Memory
from mycel.domain.query import Filters, Order
from mycel.domain.team import Caller, Role
from mycel.services.policies import Policies
from mycel.services.reversals import Reversals
from mycel.services.second_person import SecondPerson
from mycel.services.write import Writing
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.directory import SqliteDirectory
from mycel.stores.sqlite.pool import SqliteStores
from mycel.stores.sqlite.store import SqliteStore
from mycel.stores.sqlite.transaction import SqliteTransaction

PATIENCE_SECONDS = 20.0


class Crowd:
    def __init__(self, folder: Path, *, disk: Disk | None = None, clock: Clock | None = None) -> None:
        self.caller = Caller(MemberId("ada"), TeamName("builders"), Role.ADMIN)
        self.file = folder / self.caller.team / "memory.sqlite"
        time, files = clock or SystemClock(), disk or Disk()
        self._stores = SqliteStores(folder, clock=time, disk=files)
        # Never written to: every team has the policy that nobody has changed.
        self._directory = SqliteDirectory(folder / "workspace.sqlite", clock=time, disk=files)
        policies, reversals = Policies(self._directory), Reversals(self._directory)
        self.writing = Writing(self._stores, policies, SecondPerson(self._directory, policies, reversals), reversals)

    def close(self) -> None:
        self._stores.close()
        self._directory.close()

    @property
    def store(self) -> SqliteStore:
        with self._stores.lease(self.caller.team) as store:
            return store

    def save(self, content: str, **fields: object) -> Memory:
        return self.writing.save(self.caller, content, fields)

    def contents(self) -> list[str]:
        """Of everything stored, read through the store."""
        filters = Filters(statuses=())
        page = self.store.memories.page(read_scope(self.caller), filters, order=Order(), limit=10_000)
        return sorted(memory.content for memory in page)

    def on_writer(self, work: Callable[[apsw.Connection], object]) -> None:
        """Runs on the writing connection, between two transactions."""
        self.store._database.writer.exclusive(work)

    def together(self, calls: Sequence[Callable[[], object]]) -> list[object]:
        """The outcomes, results or errors, of calls that the writer finds waiting all at once."""
        waiting = self.store._database.writer.batches._queue
        held, go = threading.Event(), threading.Event()

        def hold(transaction: SqliteTransaction) -> None:
            held.set()
            go.wait(PATIENCE_SECONDS)

        with ThreadPoolExecutor(len(calls) + 1) as pool:
            try:
                pool.submit(self.store.transact, hold)
                assert held.wait(PATIENCE_SECONDS)
                futures: list[Future[object]] = []
                for call in calls:
                    futures.append(pool.submit(call))
                    self._until(lambda: len(waiting) == len(futures))
            finally:
                go.set()
            return [future.exception(PATIENCE_SECONDS) or future.result() for future in futures]

    def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, "the callers never got to the writer"
            time.sleep(0.0005)
