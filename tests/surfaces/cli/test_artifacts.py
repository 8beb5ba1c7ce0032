"""Artifacts from the command line."""

import hashlib
import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]

UNKNOWN = "019a0000-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    (here / "a.py").write_text("one\n", "utf-8")
    monkeypatch.chdir(here)
    return here


def test_a_file_of_the_current_folder_is_registered(mycel) -> None:
    result = mycel.run("artifacts", "register", "a.py", "--task", "T-1", "--description", "What it is")
    checksum = hashlib.sha256(b"one\n").hexdigest()
    assert (result.exit_code, len(result.stdout.split())) == (0, 1)
    assert result.stderr == f"registered: 4 bytes, SHA-256 {checksum[:12]}\n"
    found = mycel.json("artifacts", "get", result.stdout.strip())
    assert (found["path"], found["type"], found["task_id"]) == ("a.py", "file", "T-1")
    assert (found["size_bytes"], found["checksum"], found["description"]) == (4, checksum, "What it is")
    assert (found["agent_id"], found["registered_by"], found["content"]) == ("operator", "operator", None)


def test_a_file_that_is_not_there_is_refused(mycel) -> None:
    result = mycel.run("artifacts", "register", "b.py")
    assert result.exit_code == 2
    assert "path: there is no such file in" in result.stderr
    assert "--content" in result.stderr
    assert mycel.json("artifacts")["items"] == []
    told = mycel.run("artifacts", "register", "b.py", "--size-bytes", "3")
    assert "not known" in told.stderr


def test_a_file_that_is_somewhere_else_has_the_size_and_checksum_it_is_given(mycel) -> None:
    checksum = hashlib.sha256(b"abc").hexdigest()
    given = ("artifacts", "register", "far.py", "--size-bytes", "3", "--checksum", checksum)
    found = mycel.json(*given)
    assert (found["size_bytes"], found["checksum"]) == (3, checksum)
    wrong = mycel.run("artifacts", "register", "a.py", "--size-bytes", "3")
    assert wrong.exit_code == 2
    assert "size_bytes" in wrong.stderr


def test_the_content_comes_from_the_line_or_standard_input(mycel) -> None:
    for args, text in ((["--content", "zwei"], None), (["--content", "-"], "zwei")):
        made = mycel.json("artifacts", "register", "c.txt", "--keep", "--type", "document", *args, input=text)
        assert (made["content"], made["size_bytes"], made["type"]) == ("zwei", 4, "document")
    shown = mycel.ok("artifacts", "get", made["id"])
    assert shown.startswith("c.txt\n")
    assert shown.endswith("\nzwei\n")


def test_a_list_is_filtered_and_paged(mycel) -> None:
    ids = [
        mycel.ok(
            "artifacts", "register", f"src/{n}.py", "--size-bytes", n, "--task", f"T-{n}", "--project", "p"
        ).strip()
        for n in "12"
    ]
    names, row, _ = [line.split("\t") for line in mycel.ok("artifacts").splitlines()]
    assert names == ["path", "type", "task", "by", "created", "id", "description"]
    assert row[:4] == ["src/2.py", "file", "T-2", "operator"]
    for args, wanted in (
        (["--task", "T-1"], ids[:1]),
        (["--path", "src/1.py"], ids[:1]),
        (["--until", "2000-01-01T00:00:00Z"], []),
        (["--text", "src"], ids),
    ):
        found = [one["id"] for one in mycel.json("artifacts", "list", *args)["items"]]
        assert sorted(found) == wanted, args
    assert len(mycel.json("artifacts", "--path", "src/", "--agent", "operator", "--type", "file")["items"]) == 2
    page = mycel.json("artifacts", "--limit", "1")
    assert mycel.json("artifacts", "--limit", "1", "--cursor", page["next_cursor"])["items"][0]["id"] == ids[0]
    assert mycel.run("artifacts", "--project", "q").stderr == "No artifacts.\n"


def test_a_changed_file_is_told(mycel, folder: Path) -> None:
    id = mycel.ok("artifacts", "register", "a.py").strip()
    assert mycel.ok("artifacts", "verify", id) == "unchanged: its SHA-256 is the same\n"
    (folder / "a.py").write_text("two\n", "utf-8")
    assert mycel.json("artifacts", "verify", id)["state"] == "changed"
    (folder / "a.py").unlink()
    assert mycel.ok("artifacts", "verify", id).startswith("gone: ")


def test_a_deleted_one_can_be_restored(mycel, folder: Path) -> None:
    id = mycel.ok("artifacts", "register", "a.py").strip()
    assert mycel.run("artifacts", "delete", id).stderr == "deleted: “a.py” of team executive\n"
    assert mycel.run("artifacts", "get", id).exit_code == 3
    assert (folder / "a.py").exists()
    mycel.ok("restore", id)
    assert mycel.json("artifacts", "get", id)["path"] == "a.py"


@pytest.mark.parametrize(
    ("args", "exit_code", "field"),
    [
        (["register", "../a"], 2, "path"),
        (["register", "a.py", "--type", "film"], 2, "type"),
        (["register", "b.py", "--size-bytes", "3", "--keep"], 2, "keep"),
        (["register", "a.py", "--role", "lead"], 2, "role"),
        (["register", "a.py", "--task", " "], 2, "task"),
        (["list", "--agent", " "], 2, "agent"),
        (["list", "--cursor", "x"], 2, "cursor"),
        (["get", "x"], 2, "id"),
        (["get", UNKNOWN], 3, None),
        (["verify", UNKNOWN], 3, None),
        (["delete", UNKNOWN], 3, None),
    ],
)
def test_a_wrong_value_is_answered_with_its_option(mycel, args: list[str], exit_code: int, field: str | None) -> None:
    result = mycel.run("artifacts", *args, "--json")
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert json.loads(result.stderr)["error"].get("field") == field
