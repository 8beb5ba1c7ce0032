from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.stores.sqlite.database import Disk
from tests.surfaces.vault.bench import Bench, make_team
from tests.template import copy_template


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    data = tmp_path / "data"
    copy_template(make_team, data)
    with open_workspace(data, disk=Disk(synchronous="OFF")) as opened:
        yield opened


@pytest.fixture
def bench_of(workspace: Workspace, tmp_path: Path) -> Callable[[str], Bench]:
    """A member with a vault."""
    return lambda member: Bench(tmp_path / f"vault-{member}", workspace.as_member(member), tmp_path / "known")


@pytest.fixture
def lead(bench_of: Callable[[str], Bench]) -> Bench:
    return bench_of("lead-1")


@pytest.fixture
def agent(bench_of: Callable[[str], Bench]) -> Bench:
    return bench_of("swe-1")
