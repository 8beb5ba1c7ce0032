"""Teams, members, tokens, and as whom the command line acts."""

import json
from pathlib import Path

import pytest

import mycel as package

pytestmark = pytest.mark.each_database(slow=True)


@pytest.fixture
def platform(mycel):
    mycel.ok("team", "add", "platform")
    mycel.ok("member", "add", "swe-1", "--team", "platform", "--role", "agent")
    return mycel


def test_a_team_is_added_under_its_parent(mycel) -> None:
    assert mycel.json("team", "add", "engineering")["parent"] == "executive"
    assert mycel.json("team", "add", "platform", "--parent", "engineering")["parent"] == "engineering"
    listed = mycel.json("team", "list")
    assert [team["name"] for team in listed["items"]] == ["engineering", "executive", "platform"]
    assert listed["next_cursor"] is None
    assert "platform\tengineering\t" in mycel.ok("team", "list")


def test_teams_are_loaded_from_organisation_files(mycel, tmp_path: Path) -> None:
    folder = tmp_path / "org" / "teams"
    folder.mkdir(parents=True)
    (folder / "platform.md").write_text("---\nteam: platform\nmembers:\n  - swe-1\n---\n", "utf-8")
    loaded = mycel.json("team", "load", str(folder.parent))["items"]
    assert [(team["name"], team["members"][0]["id"]) for team in loaded] == [("platform", "swe-1")]
    assert mycel.json("member", "resolve", "swe-1") == {"id": "swe-1", "team": "platform"}


def test_a_dry_run_shows_teams_titles_and_roles_and_changes_nothing(mycel, tmp_path: Path) -> None:
    folder = tmp_path / "org" / "teams"
    folder.mkdir(parents=True)
    text = "# Engineering\n\n- swe-1 (swe)\n- **eng-director** — director\n\n## Values\n- Speed\n"
    (folder / "engineering.md").write_text(text, "utf-8")
    shown = mycel.run("team", "load", "--dry-run", str(folder.parent))
    assert "engineering\texecutive\tswe-1\tswe\tagent\tagent\n" in shown.stdout
    assert "engineering\texecutive\teng-director\tdirector\tlead\tagent\n" in shown.stdout
    assert "engineering.md:7: Speed is not read as a member" in shown.stderr
    assert [team["name"] for team in mycel.json("team", "list")["items"]] == ["executive"]
    loaded = mycel.run("team", "load", str(folder.parent))
    assert loaded.stdout == shown.stdout
    listed = mycel.json("member", "list", "--team", "engineering")["items"]
    assert [(one["id"], one["title"], one["role"]) for one in listed] == [
        ("eng-director", "director", "lead"),
        ("swe-1", "swe", "agent"),
    ]
    assert "director" in mycel.ok("member", "list")
    (folder / "engineering.md").write_text("# Engineering\n\nNobody yet.\n", "utf-8")
    refused = mycel.run("team", "load", str(folder.parent))
    assert (refused.exit_code, "engineering.md:1: names no member" in refused.stderr) == (2, True)


def test_a_title_says_which_role_a_new_member_has(platform) -> None:
    lead = platform.json("member", "add", "head-1", "--team", "platform", "--title", "Head of Platform")
    assert (lead["role"], lead["title"]) == ("lead", "Head of Platform")
    again = platform.json("member", "add", "head-1", "--team", "platform", "--role", "lead")
    assert again["title"] == "Head of Platform"


def test_members_are_added_listed_and_removed(platform) -> None:
    human = platform.json("member", "add", "eng-director", "--team", "platform", "--kind", "human", "--trust", "high")
    assert (human["kind"], human["role"], human["trust"]) == ("human", "member", "high")
    listed = platform.json("member", "list", "--team", "platform")["items"]
    assert [member["id"] for member in listed] == ["eng-director", "swe-1"]
    assert len(platform.json("member", "list")["items"]) == 3
    assert platform.json("member", "remove", "swe-1")["removed_at"] is not None
    assert "there is no member swe-1" in platform.run("--as", "swe-1", "recent").stderr
    assert platform.run("member", "remove", "swe-1").exit_code == 3


def test_an_unknown_id_belongs_to_the_executive_team(mycel) -> None:
    assert mycel.ok("member", "resolve", "stranger") == "executive\n"


def test_a_token_signs_its_member_in_until_it_is_revoked(platform) -> None:
    issued = platform.json("token", "issue", "swe-1", "--label", "laptop", "--ttl", "30d")
    assert list(issued) == ["token"]
    with package.open(platform.data) as workspace:
        assert workspace.with_token(issued["token"]).member_id == "swe-1"
    listed = platform.json("token", "list", "--member", "swe-1")["items"]
    assert [(token["label"], token["revoked_at"]) for token in listed] == [("laptop", None)]
    assert issued["token"] not in json.dumps(listed)
    platform.ok("token", "revoke", listed[0]["id"])
    with package.open(platform.data) as workspace, pytest.raises(package.AccessDenied):
        workspace.with_token(issued["token"])
    assert "revoked" in platform.ok("token", "list")


def test_a_token_alone_is_printed_for_scripts(platform) -> None:
    result = platform.run("token", "issue", "swe-1")
    assert len(result.stdout.split()) == 1
    assert "not shown again" in result.stderr


def test_shared_options_stand_before_or_after_the_command(platform) -> None:
    for args in (["--as", "swe-1", "save", "x"], ["save", "x", "--as", "swe-1"], ["save", "--as", "swe-1", "x"]):
        saved = platform.json(*args)
        assert (saved["agent_id"], saved["team"]) == ("swe-1", "platform")


def test_the_environment_says_as_whom_to_act(platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYCEL_AGENT", "swe-1")
    assert platform.json("save", "x")["agent_id"] == "swe-1"
    assert platform.json("save", "x", "--as", "operator")["agent_id"] == "operator"


def test_without_anyone_named_the_operator_acts_in_any_team(platform) -> None:
    assert platform.json("save", "x")["team"] == "executive"
    assert platform.json("save", "x", "--team", "platform")["team"] == "platform"
    assert platform.run("--team", "nowhere", "recent").exit_code == 3


def test_a_member_acts_only_in_its_own_team(platform) -> None:
    result = platform.run("--as", "swe-1", "--team", "executive", "save", "x")
    assert result.exit_code == 2
    assert result.stderr.startswith("mycel: team:")
    assert platform.run("--as", "swe-1", "--team", "executive", "list").exit_code == 3


def test_a_lead_lists_the_team_above(platform) -> None:
    platform.ok("member", "add", "eng-director", "--team", "platform", "--role", "lead")
    id = platform.save("from above")
    listed = platform.json("--as", "eng-director", "list", "--team", "executive")["items"]
    assert [memory["id"] for memory in listed] == [id]


@pytest.mark.parametrize("command", ["team add x", "member remove swe-1", "token issue swe-1", "token list"])
def test_organising_as_a_member_is_refused(platform, command: str) -> None:
    result = platform.run("--as", "swe-1", *command.split(), "--json")
    assert result.exit_code == 4
    assert json.loads(result.stderr)["error"]["code"] == "access_denied"


@pytest.mark.files_only
def test_a_data_directory_that_is_a_file_is_the_operators_problem(mycel, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = mycel.run("recent", "--data", str(tmp_path / "file"))
    assert result.exit_code == 9
    assert result.stderr.startswith("mycel: ")


def test_a_member_of_another_team_is_moved_by_the_command_that_is_named(mycel) -> None:
    for team in ("engineering", "sales"):
        mycel.ok("team", "add", team)
    mycel.ok("member", "add", "swe-1", "--team", "engineering")
    note = mycel.save("Herons fish at dawn.", "--as", "swe-1")
    told = mycel.run("member", "add", "swe-1", "--team", "sales")
    assert told.exit_code == 5
    assert "`mycel member move swe-1 --team sales` moves it" in told.stderr
    moved = mycel.run("member", "move", "swe-1", "--team", "sales")
    assert (moved.stdout, moved.stderr) == ("swe-1\n", "moved from engineering to sales as agent\n")
    assert mycel.json("member", "resolve", "swe-1")["team"] == "sales"
    assert mycel.json("get", note)["team"] == "engineering"
    assert mycel.json("member", "move", "swe-1", "--team", "engineering", "--role", "lead")["role"] == "lead"
    assert mycel.run("member", "move", "nobody", "--team", "sales").exit_code == 3
    assert mycel.run("member", "move", "swe-1", "--team", "nowhere").exit_code == 2
    assert mycel.run("member", "move", "swe-1", "--team", "sales", "--as", "swe-1").exit_code == 4
