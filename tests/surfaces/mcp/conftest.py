from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mycel
from tests.service_process import Service, connected
from tests.surfaces.mcp.clients import MEMBERS, PEOPLE, TEAM, Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, database_variables: dict[str, str]) -> Iterator[Served]:
    running = Service(tmp_path_factory.mktemp("mcp") / "data", **database_variables)
    try:
        with connected(running) as workspace:
            for id, (team, role) in MEMBERS.items():
                if team != "executive":
                    workspace.add_team(team)
                workspace.add_member(id, team=team, role=role, kind="human" if id in PEOPLE else "agent")
            tokens = {id: workspace.issue_token(id) for id in MEMBERS}
        yield Served(running, tokens)
    finally:
        running.kill()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with mycel.open(tmp_path / "data") as workspace:
        workspace.add_team(TEAM)
        workspace.add_member("swe-0", team=TEAM)
    return tmp_path / "data"
