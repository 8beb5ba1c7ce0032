"""The markdown vault from the command line."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("words_only"), pytest.mark.each_database(slow=True)]


@pytest.fixture
def platform(mycel):
    mycel.ok("team", "add", "platform")
    mycel.ok("member", "add", "swe-1", "--team", "platform")
    mycel.ok("member", "add", "lead-1", "--team", "platform", "--role", "lead", "--kind", "human")
    mycel.save("Builds need 16 GB.", "--as", "swe-1")
    return mycel


def test_a_vault_is_made_and_both_sides_reach_each_other(platform, tmp_path: Path) -> None:
    root = str(tmp_path / "vault")
    first = platform.run("vault", "sync", root, "--as", "lead-1")
    assert first.stdout.splitlines() == ["what\tnumber\tfiles", "notes written\t1\tnotes/Builds need 16 GB.md"]
    assert first.stderr == f"{root} holds 1 note of lead-1 in platform.\n"
    note = tmp_path / "vault/notes/Builds need 16 GB.md"
    note.write_text(note.read_text("utf-8").replace("16 GB.\n", "32 GB.\n"), "utf-8")
    (tmp_path / "vault/notes/mine.md").write_text("A note of mine.\n", "utf-8")
    status = platform.json("vault", "status", root, "--as", "lead-1")
    assert (status["saved"], status["updated"]) == (["notes/mine.md"], ["notes/Builds need 16 GB.md"])
    report = platform.json("vault", "sync", root, "--as", "lead-1")
    assert (report["saved"], report["updated"], report["problems"]) == (status["saved"], status["updated"], [])
    found = platform.json("list", "--as", "swe-1")["items"]
    assert sorted(one["content"] for one in found) == ["A note of mine.", "Builds need 32 GB."]
    second = platform.run("vault", "sync", root, "--as", "lead-1")
    assert second.stdout == ""
    assert second.stderr == f"{root} holds 2 notes of lead-1 in platform and agrees.\n"


def test_what_cannot_be_done_is_said_with_the_file(platform, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    platform.ok("vault", "sync", str(root), "--as", "lead-1")
    (root / "odd.md").write_text("---\ntype: [\n---\nx\n", "utf-8")
    (root / "wrong.md").write_text("---\ntype: meeting\n---\nx\n", "utf-8")
    shown = platform.ok("vault", "sync", str(root), "--as", "lead-1").splitlines()
    assert shown[0] == "odd.md  front matter: is not valid YAML near line 3"
    assert shown[1].startswith("wrong.md  type: 'meeting' is not one of: fact, lesson")


def test_an_accident_ends_with_an_error_and_is_allowed_in_so_many_words(platform, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    for number in range(12):
        platform.save(f"Fact number {number} of the team.", "--as", "lead-1")
    platform.ok("vault", "sync", str(root), "--as", "lead-1")
    for note in sorted(root.glob("notes/Fact number 1*")):
        note.unlink()
    result = platform.run("vault", "sync", str(root), "--as", "lead-1")
    assert result.exit_code != 0
    assert "3 of 13 notes are gone" in result.stderr
    (problem,) = platform.json("vault", "status", str(root), "--as", "lead-1")["problems"]
    assert "3 of 13 notes are gone" in problem["about"]
    report = platform.json("vault", "sync", str(root), "--as", "lead-1", "--allow-deletions")
    assert len(report["deleted"]) == 3


def test_a_lost_vault_begins_anew_only_when_told(platform, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    platform.ok("vault", "sync", str(root), "--as", "lead-1")
    root.rename(tmp_path / "away")
    assert "is its disk there" in platform.run("vault", "sync", str(root), "--as", "lead-1").stderr
    platform.ok("vault", "sync", str(root), "--as", "lead-1", "--begin-anew")
    assert (root / "notes/Builds need 16 GB.md").exists()


def test_a_folder_that_is_no_vault_has_no_status(platform, tmp_path: Path) -> None:
    result = platform.run("vault", "status", str(tmp_path), "--as", "lead-1")
    assert result.exit_code != 0
    assert "is no vault" in result.stderr
