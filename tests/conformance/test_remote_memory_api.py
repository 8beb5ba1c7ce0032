"""The client keeps every promise of a team's memory, through a real service."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.client.workspace import RemoteWorkspace
from mycel.testing.clock import ManualClock
from mycel.testing.memory_api_cast import MEMBERS, Cast
from mycel.testing.memory_api_conformance import MemoryApiConformance
from tests.conformance.test_embedded_memory_api import people
from tests.serving import served


class TestRemoteMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def cast(self, tmp_path: Path, clock: ManualClock) -> Iterator[Cast]:
        with people(open_workspace(tmp_path, clock=clock)) as workspace, served(workspace) as url:
            clients = {
                name: RemoteWorkspace(url, token=workspace.issue_token(member[0])) for name, member in MEMBERS.items()
            }
            yield Cast(**{name: client.me() for name, client in clients.items()})
            for client in clients.values():
                client.close()
