"""The embedded API keeps every promise of a team's memory."""

import pytest

from mycel.embedded.workspace import Workspace
from tests.conformance.memory_api_cast import MEMBERS, Cast
from tests.conformance.memory_api_conformance import MemoryApiConformance


class TestEmbeddedMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def cast(self, workspace: Workspace) -> Cast:
        return Cast(**{name: workspace.as_member(member[0]) for name, member in MEMBERS.items()})
