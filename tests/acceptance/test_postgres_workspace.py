"""A workspace on Postgres, opened by its address, does what one on files does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mycel
from mycel.errors import Misconfigured, NotFound
from mycel.stores.postgres.database import Database
from tests.postgres import as_url, emptied, server


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[mycel.Workspace]:
    monkeypatch.setenv("MYCEL_DATA", str(tmp_path))
    emptied()
    with mycel.open(as_url(server().service)) as workspace:
        yield workspace


def test_members_of_a_team_share_what_they_save(workspace: mycel.Workspace) -> None:
    operator = workspace.as_member("operator")
    workspace.add_member("swe-1", team="executive")
    workspace.add_member("swe-2", team="executive")
    one, other = workspace.as_member("swe-1"), workspace.as_member("swe-2")
    shared = one.save("The staging database lives on port 5433.")
    private = one.save("My notes on the port.", visibility="private")
    assert [hit.memory.id for hit in other.search("which port has the staging database").hits] == [shared.id]
    with pytest.raises(NotFound):
        other.get(private.id)
    one.update(shared.id, content="The staging database lives on port 5434.")
    assert "5434" in operator.get(shared.id).content
    assert len(operator.history(shared.id)) == 2


def test_a_context_asks_for_its_lists_together(workspace: mycel.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the database is far, each time that it is asked counts."""
    memory = workspace.as_member("operator")
    for number in range(30):
        memory.save(f"note {number}")
    asked: list[object] = []
    read = Database._read
    monkeypatch.setattr(Database, "_read", lambda *args, **kwargs: (asked.append(args[2]), read(*args, **kwargs))[1])
    memory.context_for()
    assert len(asked) <= 12


def test_an_unsafe_login_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_DATA", str(tmp_path))
    with pytest.raises(Misconfigured, match="row-level security"):
        mycel.open(as_url(server().admin))
