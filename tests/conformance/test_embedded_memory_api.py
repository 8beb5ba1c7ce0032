"""The embedded API keeps every promise of a team's memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.embedded.workspace import Workspace
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_cast import MEMBERS, Cast
from tests.conformance.memory_api_conformance import MemoryApiConformance, open_organisation

pytestmark = pytest.mark.each_database(slow=True)


class TestEmbeddedMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def workspace(self, tmp_path: Path, clock: ManualClock) -> Iterator[Workspace]:
        """In which nobody has written: the first write of each test makes the tables."""
        with open_organisation(tmp_path, clock) as opened:
            yield opened

    @pytest.fixture
    def cast(self, workspace: Workspace) -> Cast:
        return Cast(**{name: workspace.as_member(member[0]) for name, member in MEMBERS.items()})
