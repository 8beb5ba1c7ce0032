"""The directory of a workspace and the stores of its teams on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mycel.contracts.directory import Directory
from mycel.contracts.store import Stores
from mycel.stores.sqlite.database import Disk
from mycel.stores.sqlite.pool import open_data_directory
from mycel.testing.clock import ManualClock
from mycel.testing.directory_conformance import DirectoryConformance, DirectoryFiles


class TestSqliteDirectory(DirectoryFiles, DirectoryConformance):
    @pytest.fixture
    def opened(self, tmp_path: Path, clock: ManualClock) -> Iterator[tuple[Directory, Stores]]:
        directory, stores = open_data_directory(tmp_path / "data", clock=clock, disk=Disk(synchronous="OFF"))
        with closing(directory), closing(stores):
            yield directory, stores

    @pytest.fixture
    def directory(self, opened: tuple[Directory, Stores]) -> Directory:
        return opened[0]

    @pytest.fixture
    def stores(self, opened: tuple[Directory, Stores]) -> Stores:
        return opened[1]

    @pytest.fixture
    def second(self, directory: Directory, tmp_path: Path, clock: ManualClock) -> Iterator[Directory]:
        other, stores = open_data_directory(tmp_path / "data", clock=clock, disk=Disk(synchronous="OFF"))
        with closing(other), closing(stores):
            yield other
