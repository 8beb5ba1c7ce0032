"""The directory of a workspace and the stores of its teams on Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from mycel.contracts.directory import Directory
from mycel.contracts.store import Stores
from mycel.stores.postgres.directory import PostgresDirectory
from mycel.stores.postgres.pool import PostgresStores
from mycel.testing.clock import ManualClock
from mycel.testing.directory_conformance import DirectoryConformance
from tests.postgres import database, emptied


class TestPostgresDirectory(DirectoryConformance):
    @pytest.fixture
    def directory(self, clock: ManualClock) -> Directory:
        return PostgresDirectory(emptied(), clock=clock)

    @pytest.fixture
    def second(self, directory: Directory, clock: ManualClock) -> Directory:
        return PostgresDirectory(database(), clock=clock)

    @pytest.fixture
    def stores(self, directory: Directory, clock: ManualClock) -> Iterator[Stores]:
        with closing(PostgresStores(database(), clock=clock)) as stores:
            yield stores
