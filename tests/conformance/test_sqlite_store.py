"""SQLite keeps every promise of a store."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from mycel.contracts.store import Store
from mycel.stores.sqlite.connection import open_writer
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.store import SqliteStore
from mycel.testing.clock import ManualClock
from mycel.testing.store_conformance import StoreConformance
from mycel.testing.store_racing import together
from mycel.testing.store_samples import TEAM, put


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
        with closing(
            SqliteStore(tmp_path / "memory.sqlite", root=tmp_path, team=TEAM, clock=clock, disk=Disk())
        ) as store:
            yield store

    @pytest.fixture
    def second(self, store: Store, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
        with closing(
            SqliteStore(tmp_path / "memory.sqlite", root=tmp_path, team=TEAM, clock=clock, disk=Disk())
        ) as store:
            yield store

    @pytest.fixture
    def reopen(self, clock: ManualClock) -> Iterator[Callable[[Path], Store]]:
        with ExitStack() as opened:

            def open_copy(path: Path) -> Store:
                return opened.enter_context(
                    closing(SqliteStore(path, root=path.parent, team=TEAM, clock=clock, disk=Disk()))
                )

            yield open_copy


def test_reading_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "teams" / TEAM / "memory.sqlite"
    with closing(SqliteStore(path, root=path.parent, team=TEAM, clock=ManualClock(), disk=Disk())) as store:
        assert store.last_sequence() == 0
        assert not path.parent.exists()
        put(store)
        assert path.exists()
        assert path.stat().st_mode & 0o077 == 0


def test_connections_that_open_the_same_new_file_at_once_all_get_it(tmp_path: Path) -> None:
    def open_and_write(path: Path) -> None:
        with closing(open_writer(path)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS notes (text)")

    for number in range(150):
        path = tmp_path / f"{number}.sqlite"
        for outcome in together([lambda path=path: open_and_write(path)] * 3):
            outcome.result()
