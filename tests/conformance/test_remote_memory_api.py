"""The client keeps every promise of a team's memory, through the service."""

from collections.abc import Iterator

import pytest

from mycel.client.workspace import RemoteWorkspace
from mycel.embedded.workspace import Workspace
from tests.conformance.memory_api_cast import MEMBERS, Cast
from tests.conformance.memory_api_conformance import MemoryApiConformance
from tests.serving import ADDRESS, in_process


class TestRemoteMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def cast(self, workspace: Workspace) -> Iterator[Cast]:
        with in_process(workspace) as sender:
            clients = {
                name: RemoteWorkspace(ADDRESS, token=workspace.issue_token(member[0]), sender=sender)
                for name, member in MEMBERS.items()
            }
            yield Cast(**{name: client.me() for name, client in clients.items()})
