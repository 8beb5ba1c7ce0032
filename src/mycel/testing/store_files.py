"""What every store on files promises about them: copies, and nothing left of what was purged.

    class TestMyStore(StoreFiles, StoreConformance):
        @pytest.fixture
        def reopen(self, clock): ...

`reopen` opens the file of a backup.
"""

# ruff: noqa: S101 - a suite for pytest is made of assertions

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mycel.contracts.store import Store
from mycel.domain.receipt import Erasure
from mycel.testing.store_samples import EVERY_CHANGE, listed, purge, put, reader


class StoreFiles:
    """Needs the fixtures `store`, `clock` and `reopen`."""

    def test_a_backup_made_under_load_is_a_whole_store(
        self, store: Store, tmp_path: Path, reopen: Callable[[Path], Store]
    ) -> None:
        for index in range(30):
            put(store, f"before {index}")
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                put(store, "during")

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            place = store.files.backup(tmp_path / "copies")
            stop.set()
            writing.result()
        copy = reopen(place)
        assert copy.files.check() == []
        found, reached = copy.log.changes(reader(), after=0, wanted=EVERY_CHANGE, limit=10_000)
        assert [entry.sequence for entry in found] == list(range(1, reached + 1))
        assert {entry.memory_id for entry in found} == listed(copy) <= listed(store)
        assert reached >= 30

    def test_a_scrub_settles_the_receipts_of_what_was_purged(self, store: Store) -> None:
        memory = put(store, "a heron")
        purge(store, memory.id)
        assert store.files.scrub() == 1
        assert store.files.scrub() == 0
        settled = store.memories.find_receipt(memory.id)
        assert settled is not None
        assert settled.state is Erasure.SCRUBBED
        assert store.files.check() == []
