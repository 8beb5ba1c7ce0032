"""Names that would lead out of the vault, that some file system cannot keep, or that two notes would share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mycel.errors import Misconfigured
from mycel.surfaces.vault.agreement import FOLDER, OWN_FILES
from mycel.surfaces.vault.names import folded, folder_for, known_folders, natural_stem, path_for
from tests.surfaces.vault.bench import Bench

TITLES = [
    *("..", ".", "...", "../../etc/passwd", "/etc/passwd", "..\\..\\windows", "C:\\boot", "C:", "a/../../b"),
    *("CON", "con.txt", "NUL", "aux", "COM1", "lpt9.md", "COM¹", ".git", ".mycel", ".hidden", "~", "-rf", "--help"),
    *("a" * 200, "ü" * 200, "漢" * 200, "x\u202ey", "\u200b", "\ufeff", "a:b", "a|b", "a?b*c", 'a"b', "<a>", "[[a]]"),
    *(
        "a#b^c",
        "%2e%2e%2f",
        "%00",
        "a.md",
        "a.md.md",
        "trailing.",
        "trailing ",
        "é",
        "e\u0301",
        "É",
        "README",
        "readme",
    ),
    *(
        "Readme",
        "ß",
        "SS",
        "ss",
        "ﬁ",
        "fi",
        "İ",
        "i̇",
        "$(id)",
        "`id`",
        "a\\nb",
        "{{a}}",
        "~$a",
        "#a#",
        "4913",
        "\uff23\uff2f\uff2e",
    ),
]
PATHS = [
    *(
        "/.git/hooks",
        "/.mycel",
        "/CON/aux",
        "/a:b",
        "/..a",
        "/a..",
        "/a.",
        "/~",
        "/%2e%2e",
        "/a%2Fb",
        "/Notes",
        "/notes",
    ),
    *(
        "/é",
        "/e\u0301",
        "/" + "x" * 400,
        "/" + "x" * 399 + "y",
        "/a/b/c/d/e/f/g/h",
        "/a?b",
        "/nul.txt",
        "/a*b",
        "/x |y",
    ),
]


def test_there_are_sixty_hostile_titles() -> None:
    assert len(set(TITLES)) >= 60


def outside(lead: Bench, folder: Path) -> set[Path]:
    mine = (lead.root, lead.known)
    found = (path for path in folder.rglob("*") if not any(one == path or one in path.parents for one in mine))
    return {path for path in found if "data" not in path.parts}


def test_hostile_titles_and_paths_stay_in_the_vault_and_share_no_file(lead: Bench, tmp_path: Path) -> None:
    for number, title in enumerate(TITLES):
        path = PATHS[number % len(PATHS)]
        lead.save(f"Text {number}.", title=title.replace("\u200b", "b").replace("\ufeff", "c").replace("\u202e", "r"))
        lead.save(f"Below {number}.", title="same", path=path)
    lead.known.mkdir()
    before = outside(lead, tmp_path)
    lead.sync()
    assert outside(lead, tmp_path) == before
    memories = list(lead.memory.list(limit=1000))
    files = lead.files()
    assert len(files) == len(memories) == 2 * len(TITLES)
    assert len({folded(file) for file in files}) == len(files)
    assert all(len(part.encode()) <= 255 for file in files for part in Path(file).parts)
    assert not any(part.startswith(".") for file in files for part in Path(file).parts)
    assert lead.sync().is_agreed
    # Nothing of it moves when the agreement is lost.
    next(lead.known.iterdir()).unlink()
    (lead.root / ".mycel/agreement.jsonl").unlink()
    lead.sync()
    places = {memory.id: (memory.path, memory.version) for memory in memories}
    assert {memory.id: (memory.path, memory.version) for memory in lead.memory.list(limit=1000)} == places


@pytest.mark.parametrize("path", PATHS)
def test_a_folder_says_its_path_again(path: str) -> None:
    folder = folder_for(path, {})
    known = known_folders([(f"{folder}/x.md", path)])
    assert folded(path_for(folder, known)) == folded(path)
    if len(path) < 100:
        assert folded(path_for(folder, {})) == folded(path)


@pytest.mark.parametrize("title", TITLES)
def test_a_note_has_a_name_that_every_file_system_keeps(title: str) -> None:
    stem = natural_stem(title, "019a0000-0000-7000-8000-0000000000ab")
    assert stem
    assert stem.strip(". ") == stem
    assert not set(stem) & set('\\/:*?"<>|[]#^')
    assert len(f"{stem} (019a0000-0000-7000-8000-0000000000ab).md".encode()) <= 255


def test_no_link_is_followed_out_of_the_vault(lead: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs.md").write_text("Not of this vault.\n")
    lead.root.mkdir()
    (lead.root / "decisions").symlink_to(outside)
    (lead.root / "linked.md").symlink_to(outside / "theirs.md")
    (lead.root / "loop").symlink_to(lead.root)
    lead.save("Use Postgres.", type="decision")
    report = lead.sync()
    assert [path.name for path in outside.iterdir()] == ["theirs.md"]
    assert {problem.file for problem in report.problems} >= {"decisions", "linked.md", "loop"}
    assert [memory.content for memory in lead.memory.list()] == ["Use Postgres."]


def test_a_folder_that_becomes_a_link_deletes_nothing(lead: Bench, tmp_path: Path) -> None:
    lead.save("Use Postgres.", type="decision")
    lead.sync()
    (lead.root / "decisions").rename(tmp_path / "elsewhere")
    (lead.root / "decisions").symlink_to(tmp_path / "elsewhere")
    lead.sync()
    assert [memory.content for memory in lead.memory.list()] == ["Use Postgres."]


@pytest.mark.parametrize("own", ["", "unfinished", *OWN_FILES])
def test_no_link_in_place_of_what_a_vault_keeps_is_followed(own: str, lead: Bench, tmp_path: Path) -> None:
    """Such as a folder that was cloned: a link to somebody's files would have them taken for what a crash left."""
    outside = tmp_path / "outside"
    (outside / "unfinished").mkdir(parents=True)
    for name in ("theirs.md", "unfinished/theirs.md"):
        (outside / name).write_text("Not of this vault.\n")
    lead.root.mkdir()
    target = outside / "theirs.md" if own in OWN_FILES else outside
    (lead.root / FOLDER / own).parent.mkdir(exist_ok=True)
    (lead.root / FOLDER / own).symlink_to(target)
    before = sorted(path.relative_to(outside) for path in outside.rglob("*"))
    with pytest.raises(Misconfigured):
        lead.sync()
    assert sorted(path.relative_to(outside) for path in outside.rglob("*")) == before
    assert (outside / "theirs.md").read_text() == "Not of this vault.\n"


def test_a_folder_where_a_crash_leaves_files_ends_nothing(lead: Bench) -> None:
    (lead.root / FOLDER / "unfinished" / "folder").mkdir(parents=True)
    lead.save("Use Postgres.")
    assert len(lead.sync().written) == 1


def test_folders_may_be_nested_deeper_than_calls(lead: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    lead.root.mkdir()
    monkeypatch.chdir(lead.root)
    for _ in range(1_100):
        Path("a").mkdir()
        os.chdir("a")
    lead.save("Use Postgres.")
    assert len(lead.sync().written) == 1
    # What takes a test's folder away cannot go so deep.
    for _ in range(1_100):
        os.chdir("..")
        Path("a").rmdir()


def test_case_and_unicode_twins_of_paths_have_folders_of_their_own(lead: Bench) -> None:
    lead.save("One.", path="/Notes", title="a")
    lead.save("Two.", path="/notes", title="a")
    lead.sync()
    folders = {folded(str(Path(file).parent)) for file in lead.files()}
    assert len(folders) == 2
    for file in lead.files():
        path = lead.root / file
        path.write_text(path.read_text().replace(".\n", " more.\n"))
    lead.sync()
    assert {(memory.path, memory.content) for memory in lead.memory.list()} == {
        ("/Notes", "One more."),
        ("/notes", "Two more."),
    }
