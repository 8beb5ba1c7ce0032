"""What happens in a team, told by the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from mycel.app import open_workspace
from mycel.embedded.team_memory import TeamMemory

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]


def told(mycel: Any, *args: str) -> list[tuple[str, str]]:
    lines = mycel.ok("watch", "--once", "--json", *args).splitlines()
    return [(change["operation"], change["path"]) for change in map(json.loads, lines)]


def test_the_log_is_told_by_path_project_and_type(mycel: Any) -> None:
    id = mycel.save("A lesson.", "--type", "lesson", "--project", "web", "--path", "/a")
    mycel.save("A note.", "--path", "/b")
    mycel.ok("update", id, "--path", "/b", "--type", "note")
    assert told(mycel) == [("create", "/a"), ("create", "/b"), ("update", "/b")]
    assert told(mycel, "--path", "/a") == [("create", "/a"), ("remove", "/a")]
    assert told(mycel, "--project", "web") == [("create", "/a"), ("update", "/b")]
    assert told(mycel, "--type", "lesson") == [("create", "/a"), ("remove", "/a")]
    assert told(mycel, "--type", "lesson", "--type", "fact", "--after", "1") == [("create", "/b"), ("remove", "/a")]
    sequence, _, operation, path, found, by = mycel.ok("watch", "--once", "--type", "lesson").splitlines()[0].split()
    assert (sequence, operation, path, found, by) == ("1", "create", "/a", id, "operator")
    assert mycel.run("watch", "--once", "--type", "song").exit_code == 2
    assert mycel.run("watch", "--once", "--after", "-1").exit_code == 2


def test_a_member_is_told_of_what_it_may_see(mycel: Any) -> None:
    mycel.save("Mine.", "--visibility", "private", "--as", "swe-1", "--create", "--path", "/mine")
    mycel.save("Ours.", "--as", "swe-1", "--path", "/ours")
    assert told(mycel, "--as", "swe-2", "--create") == [("create", "/ours")]
    mycel.ok("team", "add", "squad")
    assert told(mycel, "--team", "squad") == []
    assert mycel.run("watch", "--once", "--as", "swe-2", "--team", "squad").exit_code == 3


@pytest.mark.usefixtures("on_files")
def test_it_goes_on_with_what_comes_from_now_on(mycel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mycel.save("Before.")
    mycel.ok("member", "add", "swe-1", "--team", "executive")
    follow = TeamMemory.changes

    def write_then_stop(self: TeamMemory, *args: Any, **filters: Any) -> Any:
        """Somebody writes once the command has begun to follow, and then the terminal is closed."""
        following = follow(self, *args, **filters)
        with open_workspace(tmp_path / "data") as other:
            other.as_member("swe-1").save("Since.", path="/since")
        yield next(following)

    monkeypatch.setattr(TeamMemory, "changes", write_then_stop)
    result = mycel.run("watch", "--json")
    assert json.loads(result.stdout)["path"] == "/since"
    assert result.stderr == "Watching executive; Ctrl-C ends it.\n"
