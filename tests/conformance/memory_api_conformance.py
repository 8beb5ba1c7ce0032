"""The suite every way into a team's memory must pass, whatever store is below: embedded, and the client over HTTP.

    class TestMyClient(MemoryApiConformance):
        @pytest.fixture
        def cast(self, workspace): ...

`cast` reaches the members of `memory_api_cast` in the workspace; `tokens` has one of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.stores.sqlite.database import Disk
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_access import ApiAccess
from tests.conformance.memory_api_artifacts import ApiArtifacts
from tests.conformance.memory_api_cast import MEMBERS, TEAMS
from tests.conformance.memory_api_contests import ApiContests
from tests.conformance.memory_api_context import ApiContext
from tests.conformance.memory_api_engine import ApiEngine
from tests.conformance.memory_api_episodes import ApiEpisodes
from tests.conformance.memory_api_finding import ApiFinding
from tests.conformance.memory_api_knowledge import ApiKnowledge
from tests.conformance.memory_api_reading import ApiReading
from tests.conformance.memory_api_short_ids import ApiShortIds
from tests.conformance.memory_api_tasks import ApiTasks
from tests.conformance.memory_api_writing import ApiWriting
from tests.template import copy_template, make_tables


@contextmanager
def open_organisation(data: Path, clock: ManualClock) -> Iterator[Workspace]:
    """With the teams and the members of the cast, and no memory yet."""
    with opened(data, clock) as workspace:
        organise(workspace)
        yield workspace


def opened(data: Path, clock: ManualClock) -> Workspace:
    return open_workspace(data, clock=clock, disk=Disk(synchronous="OFF"))


def organise(workspace: Workspace) -> None:
    for team, parent in TEAMS.items():
        workspace.add_team(team, parent=parent)
    for id, team, kind, role, trust in MEMBERS.values():
        workspace.add_member(id, team=team, kind=kind, role=role, trust=trust)


def make_organisation(data: Path) -> dict[str, str]:
    """The tables of its teams are made; returns a token of each member."""
    with open_organisation(data, ManualClock()) as workspace:
        make_tables(*(workspace.as_member(MEMBERS[name][0]) for name in ("author", "outsider", "child_lead")))
        return {name: workspace.issue_token(member[0]) for name, member in MEMBERS.items()}


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
    ApiShortIds,
    ApiContests,
    ApiTasks,
):
    """Every promise of `contracts.memory_api`, one test each."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def tokens(self, tmp_path: Path) -> dict[str, str]:
        return copy_template(make_organisation, tmp_path)

    @pytest.fixture
    def workspace(self, tokens: dict[str, str], tmp_path: Path, clock: ManualClock) -> Iterator[Workspace]:
        with opened(tmp_path, clock) as workspace:
            yield workspace
