"""The suite every way into a team's memory must pass, whatever store is below: embedded, and the client over HTTP.

    class TestMyClient(MemoryApiConformance):
        @pytest.fixture
        def cast(self, workspace): ...

`cast` reaches the members of `memory_api_cast` in the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.stores.sqlite.database import Disk
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_access import ApiAccess
from tests.conformance.memory_api_artifacts import ApiArtifacts
from tests.conformance.memory_api_cast import MEMBERS, TEAMS
from tests.conformance.memory_api_context import ApiContext
from tests.conformance.memory_api_engine import ApiEngine
from tests.conformance.memory_api_episodes import ApiEpisodes
from tests.conformance.memory_api_finding import ApiFinding
from tests.conformance.memory_api_knowledge import ApiKnowledge
from tests.conformance.memory_api_reading import ApiReading
from tests.conformance.memory_api_tasks import ApiTasks
from tests.conformance.memory_api_writing import ApiWriting

# An empty workspace on each store there is.
STORES: dict[str, Callable[[Path, ManualClock], Workspace]] = {
    "sqlite": lambda data, clock: open_workspace(data, clock=clock, disk=Disk(synchronous="OFF")),
}


class MemoryApiConformance(
    ApiWriting,
    ApiAccess,
    ApiReading,
    ApiFinding,
    ApiContext,
    ApiEngine,
    ApiEpisodes,
    ApiKnowledge,
    ApiArtifacts,
    ApiTasks,
):
    """Every promise of `contracts.memory_api`, one test each."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture(params=STORES)
    def workspace(self, request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Workspace]:
        with STORES[request.param](tmp_path, clock) as opened:
            for team, parent in TEAMS.items():
                opened.add_team(team, parent=parent)
            for id, team, kind, role, trust in MEMBERS.values():
                opened.add_member(id, team=team, kind=kind, role=role, trust=trust)
            yield opened
