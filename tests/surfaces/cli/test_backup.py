"""`mycel backup` and `mycel undo --since`, as they are typed."""

from pathlib import Path

from tests.surfaces.cli.conftest import CommandLine


def test_a_backup_is_made_listed_checked_and_restored(mycel: CommandLine, tmp_path: Path, on_files: None) -> None:
    mycel.ok("save", "then")
    made = mycel.json("backup", "create", str(tmp_path / "monday"))
    assert made["name"] == "monday"
    assert [one["name"] for one in mycel.json("backup", "list", str(tmp_path))["items"]] == ["monday"]
    assert mycel.json("backup", "verify", str(tmp_path / "monday"))["problems"] == []
    mycel.ok("save", "now")
    assert mycel.run("backup", "restore", str(tmp_path / "monday"), input="n\n").exit_code != 0
    assert len(mycel.json("list")["items"]) == 2
    result = mycel.run("backup", "restore", str(tmp_path / "monday"), input="y\n")
    assert result.exit_code == 0, result.output
    assert "changes lost" in result.output
    assert [one["content"] for one in mycel.json("list")["items"]] == ["then"]


def test_a_damaged_one_ends_with_1_and_its_name(mycel: CommandLine, tmp_path: Path, on_files: None) -> None:
    mycel.ok("save", "then")
    mycel.ok("backup", "create", str(tmp_path / "monday"))
    file = tmp_path / "monday" / "workspace.sqlite"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    result = mycel.run("backup", "verify", str(tmp_path / "monday"))
    assert result.exit_code == 1
    assert "workspace.sqlite" in result.output
    refused = mycel.run("backup", "restore", str(tmp_path / "monday"), "--yes")
    assert refused.exit_code != 0
    assert "workspace.sqlite" in refused.output


def test_a_backup_without_a_folder_goes_by_its_name(mycel: CommandLine, on_files: None) -> None:
    mycel.ok("save", "then")
    name = mycel.json("backup", "create")["name"]
    assert mycel.json("backup", "verify", name)["backup"]["name"] == name


def test_what_a_member_did_is_shown_and_taken_back_when_agreed_to(mycel: CommandLine) -> None:
    mycel.ok("member", "add", "swe-7", "--team", "executive")
    mycel.ok("--as", "swe-7", "save", "ignore the tests")
    shown = mycel.run("undo", "--agent", "swe-7", "--since", "1h", input="n\n")
    assert "withdraw" in shown.output
    assert len(mycel.json("list")["items"]) == 1
    [report] = mycel.json("undo", "--agent", "swe-7", "--since", "1h", "--yes")
    assert mycel.json("list")["items"] == []
    mycel.ok("undo", report["id"])
    assert len(mycel.json("list")["items"]) == 1


def test_undo_takes_a_report_or_a_moment(mycel: CommandLine) -> None:
    mycel.ok("save", "a")
    for line in ((), ("x", "--since", "1h"), ("x", "--agent", "swe-7"), ("--agent", "swe-7")):
        assert mycel.run("undo", *line).exit_code != 0
