"""The suite every store must pass.

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self, tmp_path, clock): ...
        @pytest.fixture
        def second(self, store, tmp_path, clock): ...

`store` is empty and of the team `store_samples.TEAM`; `second` is another client of the same store, as another
process would have. A store on files passes `store_files.StoreFiles` as well.
"""

from __future__ import annotations

import pytest

from mycel.testing.clock import ManualClock
from mycel.testing.store_activity import StoreActivity
from mycel.testing.store_archive import StoreArchive
from mycel.testing.store_artifacts import StoreArtifacts
from mycel.testing.store_episodes import StoreEpisodes
from mycel.testing.store_erasure import StoreErasure
from mycel.testing.store_log import StoreLog
from mycel.testing.store_queue import StoreQueue
from mycel.testing.store_racing import StoreRacing
from mycel.testing.store_records import StoreRecords
from mycel.testing.store_scopes import StoreScopes
from mycel.testing.store_search import StoreSearch
from mycel.testing.store_surroundings import StoreSurroundings
from mycel.testing.store_undo import StoreUndo


class StoreConformance(
    StoreRecords,
    StoreSurroundings,
    StoreActivity,
    StoreScopes,
    StoreLog,
    StoreSearch,
    StoreEpisodes,
    StoreArtifacts,
    StoreArchive,
    StoreErasure,
    StoreQueue,
    StoreRacing,
    StoreUndo,
):
    """Every promise of `contracts.store`, one test each."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()
