"""A workspace with one team, and its service in this process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from tests.template import copy_template, make_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    copy_template(make_workspace, tmp_path)
    with open_workspace(tmp_path) as opened:
        yield opened
