"""The embedded API keeps every promise of a team's memory on Postgres too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.testing.clock import ManualClock
from tests.conformance.memory_api_cast import MEMBERS, Cast
from tests.conformance.memory_api_conformance import MemoryApiConformance, organise
from tests.postgres import as_url, emptied, server


class TestPostgresMemoryApi(MemoryApiConformance):
    @pytest.fixture
    def store(self) -> str:
        return "postgres"

    @pytest.fixture
    def workspace(self, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
        monkeypatch.setenv("MYCEL_DATA", str(tmp_path))
        emptied()
        with open_workspace(as_url(server().service), clock=clock) as opened:
            organise(opened)
            yield opened

    @pytest.fixture
    def cast(self, workspace: Workspace) -> Cast:
        return Cast(**{name: workspace.as_member(member[0]) for name, member in MEMBERS.items()})
