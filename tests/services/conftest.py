"""A workspace on real files, with a clock that the test moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.testing.clock import ManualClock
from tests.template import copy_template, make_workspace


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def workspace(tmp_path: Path, clock: ManualClock) -> Iterator[Workspace]:
    copy_template(make_workspace, tmp_path / "data")
    with open_workspace(tmp_path / "data", clock=clock) as workspace:
        yield workspace
