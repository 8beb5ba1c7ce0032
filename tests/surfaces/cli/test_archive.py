"""Moving a team from the command line."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]


@pytest.fixture
def platform(mycel):
    mycel.ok("team", "add", "platform")
    mycel.ok("team", "add", "copy")
    for id in ("swe-1", "swe-2"):
        mycel.ok("member", "add", id, "--team", "platform")
    mycel.save("Builds need 16 GB.", "--as", "swe-1")
    mycel.save("I am not sure.", "--as", "swe-1", "--visibility", "private")
    return mycel


def test_a_team_is_moved_to_another(platform, tmp_path: Path) -> None:
    file = str(tmp_path / "platform.jsonl.gz")
    result = platform.run("export", file, "--team", "platform")
    assert result.stdout.splitlines() == ["kind\tlines", "memory\t2"]
    assert result.stderr == f"All of platform is in {file}.\n"
    tried = platform.run("import", file, "--team", "copy", "--dry-run")
    assert tried.stdout.splitlines() == ["kind\trecords\toutcome", "memory\t2\tnew"]
    assert tried.stderr == "Nothing was stored: this was a dry run.\n"
    assert platform.json("list", "--team", "copy")["items"] == []
    assert platform.json("import", file, "--team", "copy")["counts"] == {"memory": {"new": 2}}
    assert platform.json("import", file, "--team", "copy")["counts"] == {"memory": {"unchanged": 2}}
    assert [one["title"] for one in platform.json("list", "--team", "copy")["items"]] == ["Builds need 16 GB."]


def test_a_member_exports_what_it_sees(platform, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    report = platform.json("export", str(file), "--as", "swe-2")
    assert (report["team"], report["whole"], report["counts"]) == ("platform", False, {"memory": 1})
    assert "not sure" not in file.read_text("utf-8")


def test_a_member_imports_as_itself(platform, tmp_path: Path) -> None:
    file = str(tmp_path / "mine.jsonl")
    platform.ok("export", file, "--as", "swe-1")
    assert platform.json("import", file, "--as", "swe-2")["counts"] == {"memory": {"new": 2}}
    waiting = platform.json("list", "--as", "swe-2", "--status", "inbox")["items"]
    assert sorted((one["title"], one["agent_id"]) for one in waiting) == [
        ("Builds need 16 GB.", "swe-2"),
        ("I am not sure.", "swe-2"),
    ]


def test_a_damaged_archive_is_named_by_its_line(platform, tmp_path: Path) -> None:
    file = tmp_path / "platform.jsonl"
    platform.ok("export", str(file), "--team", "platform")
    file.write_text(file.read_text("utf-8").replace("16 GB", "32 GB", 1), "utf-8")
    result = platform.run("import", str(file), "--team", "copy")
    assert result.exit_code != 0
    assert "line 4, sha256" in result.stderr
