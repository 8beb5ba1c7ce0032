"""A workspace with one team, and its service in this process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path) as opened:
        yield opened
