"""The client keeps every promise of a team's memory, through the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.client.workspace import RemoteWorkspace
from mycel.testing.clock import ManualClock
from mycel.testing.memory_api_cast import MEMBERS, Cast
from mycel.testing.memory_api_conformance import MemoryApiConformance
from tests.conformance.test_embedded_memory_api import people
from tests.serving import ADDRESS, in_process


class TestRemoteMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def cast(self, tmp_path: Path, clock: ManualClock) -> Iterator[Cast]:
        with people(open_workspace(tmp_path, clock=clock)) as workspace, in_process(workspace) as sender:
            clients = {
                name: RemoteWorkspace(ADDRESS, token=workspace.issue_token(member[0]), sender=sender)
                for name, member in MEMBERS.items()
            }
            yield Cast(**{name: client.me() for name, client in clients.items()})
