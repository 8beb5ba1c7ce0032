"""Postgres keeps every promise of a store."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from mycel.contracts.store import Store
from mycel.stores.postgres.store import PostgresStore
from mycel.testing.clock import ManualClock
from mycel.testing.store_conformance import StoreConformance
from mycel.testing.store_samples import TEAM
from tests.postgres import database, emptied


class TestPostgresStore(StoreConformance):
    @pytest.fixture
    def store(self, clock: ManualClock) -> Iterator[Store]:
        with closing(PostgresStore(emptied(), team=TEAM, clock=clock)) as store:
            yield store

    @pytest.fixture
    def second(self, store: Store, clock: ManualClock) -> Iterator[Store]:
        with closing(PostgresStore(database(), team=TEAM, clock=clock)) as store:
            yield store
