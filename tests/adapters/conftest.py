"""A team for the adapters: two agents, a lead, on files that all tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.stores.sqlite.database import Disk


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_workspace(tmp_path_factory.mktemp("data"), disk=Disk(synchronous="OFF")) as opened:
        opened.add_team("builders")
        for id, role in {"swe-1": "agent", "swe-2": "agent", "lead-1": "lead"}.items():
            opened.add_member(id, team="builders", role=role)
        yield opened
