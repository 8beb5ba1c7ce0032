"""Workspaces that tests begin from, made once in a run and copied: a data directory, or the rows of a database.

To make the tables of a team is most of what a small test costs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, TypeVar

from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory
from mycel.errors import NotFound
from mycel.settings import Settings, load_settings
from mycel.stores.sqlite.database import Disk
from mycel.testing.clock import ManualClock

# Of the form of an id, and of nothing.
ABSENT = "019a0000-0000-7000-8000-000000000000"
ResultT = TypeVar("ResultT")
# Gone with the process.
_FOLDER = TemporaryDirectory(prefix="mycel-template-")


def copy_template(make: Callable[[Path], ResultT], data: Path) -> ResultT:
    """A workspace as `make` leaves one; `make` is called once, and everybody is told what it returned."""
    if os.environ.get("MYCEL_DATABASE_URL"):
        from tests.postgres import restored

        data.mkdir(parents=True, exist_ok=True)
        return restored(make)
    folder, result = _made(make)
    shutil.copytree(folder, data, dirs_exist_ok=True)
    return result


def beside(folder: Path) -> Path | str:
    """Where a second workspace is kept, apart from the first: a folder, or a database of its own."""
    if not os.environ.get("MYCEL_DATABASE_URL"):
        return folder
    from tests.postgres import beside as another_database

    return another_database()


def settings_of(data: Path, **chosen: Any) -> Settings:
    """For a workspace where the test has it kept, with what is chosen besides; without vectors, unless that is."""
    return replace(load_settings(data, embedder="none"), **chosen)


def begin_anew() -> None:
    """For whoever makes one workspace after another, each in a folder of its own: a database is emptied before."""
    if os.environ.get("MYCEL_DATABASE_URL"):
        from tests.postgres import emptied

        emptied()


@cache
def _made(make: Callable[[Path], ResultT]) -> tuple[Path, ResultT]:
    folder = Path(mkdtemp(dir=_FOLDER.name))
    return folder, make(folder)


def make_tables(*members: TeamMemory) -> None:
    """Of their teams, and nothing in them: what is refused leaves no row, and no entry in the log."""
    for member in members:
        with contextlib.suppress(NotFound):
            member.delete(ABSENT)


def make_workspace(data: Path) -> None:
    """With the team and the person that every workspace has."""
    with open_workspace(data, clock=ManualClock(), disk=Disk(synchronous="OFF")) as workspace:
        make_tables(workspace.as_member("operator"))
