"""The embedded API keeps every promise of a team's memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.testing.clock import ManualClock
from mycel.testing.memory_api_cast import MEMBERS, TEAMS, Cast
from mycel.testing.memory_api_conformance import MemoryApiConformance


def people(workspace: Workspace) -> Workspace:
    for team, parent in TEAMS.items():
        workspace.add_team(team, parent=parent)
    for id, team, kind, role, trust in MEMBERS.values():
        workspace.add_member(id, team=team, kind=kind, role=role, trust=trust)
    return workspace


class TestEmbeddedMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def cast(self, tmp_path: Path, clock: ManualClock) -> Iterator[Cast]:
        with people(open_workspace(tmp_path, clock=clock)) as workspace:
            yield Cast(**{name: workspace.as_member(member[0]) for name, member in MEMBERS.items()})
