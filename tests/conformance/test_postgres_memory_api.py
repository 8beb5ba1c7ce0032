"""A workspace on Postgres keeps every promise of a team's memory, through the service."""

import pytest

from tests.conformance.test_remote_memory_api import TestRemoteMemoryApi as RemoteMemoryApi


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
class TestPostgresMemoryApi(RemoteMemoryApi):
    pass
