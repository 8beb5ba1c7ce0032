"""The client keeps every promise of a team's memory, through the service."""

from collections.abc import Iterator

import pytest

from mycel.client.workspace import RemoteWorkspace
from mycel.embedded.workspace import Workspace
from tests.conformance.memory_api_cast import Cast
from tests.conformance.memory_api_conformance import MemoryApiConformance
from tests.serving import ADDRESS, in_process


class TestRemoteMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def cast(self, workspace: Workspace, tokens: dict[str, str]) -> Iterator[Cast]:
        with in_process(workspace) as sender:
            clients = {name: RemoteWorkspace(ADDRESS, token=token, sender=sender) for name, token in tokens.items()}
            yield Cast(**{name: client.me() for name, client in clients.items()})
