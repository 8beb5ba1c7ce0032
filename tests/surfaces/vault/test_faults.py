"""Editors that save in odd ways, processes that are killed, and files that cannot be read lose and publish nothing."""

from __future__ import annotations

import errno
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.errors import Conflict, StorageFull, Unavailable
from mycel.surfaces.vault import files as vault_files
from mycel.surfaces.vault.agreement import FOLDER, KnownVaults
from mycel.surfaces.vault.files import ChangedMeanwhile, VaultFiles, digest
from mycel.surfaces.vault.sync import Allowed, Vault
from tests.service_process import environment
from tests.surfaces.vault.bench import Bench
from tests.template import copy_template

NOTE = "notes/Deploys happen on Tuesdays.md"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def note(lead: Bench) -> Path:
    lead.save("Deploys happen on Tuesdays.")
    lead.sync()
    return lead.root / NOTE


@pytest.mark.parametrize(
    "name", ["4913", f"{NOTE}~", "notes/.#x.md", "notes/#x.md#", "notes/.x.md.swp", "notes/x.md.tmp", ".obsidian/x.md"]
)
def test_what_editors_leave_about_is_no_note(lead: Bench, note: Path, name: str) -> None:
    lead.write(name, note.read_text() + "half")
    report = lead.sync()
    assert (report.is_agreed, report.problems) == (True, ())


@pytest.mark.parametrize("left", ["", "-", "---\nid: 019a", "---\nid: x\ntags: [a\n---\nx", "\xff"])
def test_a_note_that_is_half_written_or_invalid_is_neither_published_nor_rewritten(
    lead: Bench, note: Path, left: str
) -> None:
    if left == "-":
        note.write_text(note.read_text().replace("Deploys happen on Tuesdays.\n", ""))
    else:
        note.write_bytes(left.encode("latin-1"))
    before = note.read_bytes()
    report = lead.sync()
    (memory,) = lead.memory.list()
    assert (memory.content, memory.version) == ("Deploys happen on Tuesdays.", 1)
    assert note.read_bytes() == before
    assert [problem.file for problem in report.problems] == [NOTE]


def test_a_new_file_without_text_is_told_as_such_and_saved_when_it_has_some(lead: Bench, note: Path) -> None:
    new = lead.write("Untitled.md", "")
    assert [problem.about for problem in lead.sync().problems] == ["has no text yet"]
    new.write_text("Deploys need two people.\n")
    assert lead.sync().saved == ("Untitled.md",)


def test_a_note_that_cannot_be_read_and_was_renamed_deletes_nothing(lead: Bench, note: Path) -> None:
    note.rename(note.with_name("renamed.md")).write_text("---\nid: [\n---\nx")
    lead.sync()
    assert len(lead.memory.list()) == 1


def test_a_file_that_is_in_the_cloud_alone_deletes_nothing(lead: Bench, note: Path) -> None:
    note.rename(note.with_name(f".{note.name}.icloud"))
    report = lead.sync()
    assert len(lead.memory.list()) == 1
    assert [problem.about for problem in report.problems] == ["is in the cloud alone"]


def test_a_file_is_left_until_its_writer_has_finished(lead: Bench, note: Path) -> None:
    """A writer that empties a file and fills it piece by piece publishes the whole, once."""
    whole = note.read_text().replace("Tuesdays.\n", "Wednesdays, " + "and so on, " * 20 + "until Friday.\n")
    written = threading.Event()

    def write() -> None:
        with note.open("w") as file:
            for start in range(0, len(whole), 40):
                file.write(whole[start : start + 40])
                file.flush()
                written.set()
                time.sleep(0.02)

    writer = threading.Thread(target=write)
    writer.start()
    written.wait()
    vault = Vault(lead.root, lead.memory, known=KnownVaults(lead.known))
    with vault.opened():
        vault.sync(Allowed())
        writer.join()
        vault.sync(Allowed())
    (memory,) = lead.memory.list()
    assert (memory.version, memory.content.endswith("until Friday.")) == (2, True)


def test_a_changed_time_on_an_untouched_file_means_nothing(lead: Bench, note: Path) -> None:
    os.utime(note, (1, 1))
    assert lead.sync().is_agreed
    os.utime(note, (2**33, 2**33))
    assert lead.sync().is_agreed


def test_a_file_that_somebody_writes_in_the_last_moment_is_not_written_over(tmp_path: Path) -> None:
    files = VaultFiles(tmp_path)
    files.prepare()
    (tmp_path / "a.md").write_bytes(b"later")
    with pytest.raises(ChangedMeanwhile):
        files.replace("a.md", b"mine", expected=digest(b"earlier"))
    with pytest.raises(ChangedMeanwhile):
        files.remove("a.md", expected=digest(b"earlier"))
    with pytest.raises(ChangedMeanwhile):
        files.create("a.md", b"mine")
    assert (tmp_path / "a.md").read_bytes() == b"later"


def test_an_editor_that_is_faster_than_the_exchange_gets_its_text_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = VaultFiles(tmp_path)
    files.prepare()
    path = tmp_path / "a.md"
    path.write_bytes(b"earlier")
    read = files.read

    def read_then_edited(file: str) -> bytes:
        found = read(file)
        path.write_bytes(b"edited in between")
        return found

    monkeypatch.setattr(files, "read", read_then_edited)
    with pytest.raises(ChangedMeanwhile):
        files.replace("a.md", b"mine", expected=digest(b"earlier"))
    assert path.read_bytes() == b"edited in between"


def test_two_syncs_of_one_folder_do_not_run_at_once(lead: Bench) -> None:
    lead.sync()
    with lead.vault.opened(), pytest.raises(Conflict, match="another sync"):
        lead.sync()


def killed_syncs(tmp_path: Path, make_team: Callable[[Path], None], kills: int, notes: int) -> None:
    data, root, known = tmp_path / "data", tmp_path / "vault", tmp_path / "known"
    copy_template(make_team, data)
    chance = random.Random(kills)
    with open_workspace(data) as workspace:
        memory = workspace.as_member("lead-1")
        memory.save_many([{"content": f"Memory {number} of the team."} for number in range(notes)])
    root.mkdir()
    for number in range(notes):
        (root / f"file {number}.md").write_text(f"Note {number} of the vault.\n")
    line = [sys.executable, "-m", "tests.surfaces.vault.sync_process", *map(str, (data, root, known))]
    for _ in range(kills):
        running = subprocess.Popen(line, cwd=ROOT, env=environment(), stdout=subprocess.PIPE)
        assert running.stdout
        assert running.stdout.readline() == b"begins\n"
        time.sleep(chance.uniform(0, 0.4))
        running.kill()
        running.stdout.close()
        running.wait()
    with open_workspace(data) as workspace:
        bench = Bench(root, workspace.as_member("lead-1"), known)
        bench.sync()
        found = sorted(one.content for one in bench.memory.list(limit=1000))
        wanted = [
            *(f"Memory {n} of the team." for n in range(notes)),
            *(f"Note {n} of the vault." for n in range(notes)),
        ]
        assert found == sorted(wanted)
        texts = [(root / file).read_text() for file in bench.files()]
        assert len(texts) == 2 * notes
        assert all(re.fullmatch(r"---\n(?:[a-z_]+: .*\n)+---\n.+\n", text) for text in texts)
        assert bench.sync().is_agreed


def test_a_killed_sync_saves_nothing_twice_and_leaves_no_half_file(tmp_path: Path) -> None:
    from tests.surfaces.vault.bench import make_team

    killed_syncs(tmp_path, make_team, 2, 60)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_thirty_killed_syncs_save_nothing_twice_and_leave_no_half_file(tmp_path: Path) -> None:
    from tests.surfaces.vault.bench import make_team

    killed_syncs(tmp_path, make_team, 30, 400)


def test_a_note_gets_its_name_when_its_bytes_are_on_the_disk(lead: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    on_disk: set[int] = set()
    named: list[str] = []
    sync, rename = os.fsync, vault_files._rename

    def synced(handle: int) -> None:
        sync(handle)
        on_disk.add(os.fstat(handle).st_ino)

    def renamed(old: Path, new: Path, flags: int) -> bool:
        if old.parent.name == "unfinished":
            assert old.stat().st_ino in on_disk
            named.append(new.name)
        return rename(old, new, flags)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(vault_files, "_rename", renamed)
    for number in range(30):
        lead.save(f"Memory {number} of the team.")
        lead.write(f"mine {number}.md", f"Note {number} of the vault.\n")
    lead.sync()
    assert len(named) >= 60
    assert lead.sync().is_agreed


def test_a_full_disk_is_told_and_the_sync_goes_on_when_there_is_room(
    lead: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, left = os.fsync, [20]

    def is_full(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    for number in range(30):
        lead.save(f"Memory {number} of the team.")
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", is_full)
        with pytest.raises(StorageFull):
            lead.sync()
    assert not list((lead.root / FOLDER / "unfinished").iterdir())
    lead.sync()
    assert len(lead.files()) == 30
    assert lead.sync().is_agreed


def test_a_vault_that_cannot_be_written_is_named(lead: Bench, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_read_only(lock: object, timeout: float) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("filelock.FileLock.acquire", is_read_only)
    with pytest.raises(Unavailable, match=re.escape(f"{lead.root} cannot be written: Read-only file system")):
        lead.sync()


_CONFLICT = "<<<<<<< HEAD\nOn Tuesdays.\n=======\nOn Fridays.\n>>>>>>> other\n"


def test_both_sides_of_a_conflict_of_git_are_not_published(lead: Bench, note: Path) -> None:
    settled = note.read_text()
    note.write_text(settled.replace("Deploys happen on Tuesdays.\n", _CONFLICT))
    report = lead.sync()
    assert [problem.file for problem in report.problems] == [NOTE]
    assert "conflict of git" in report.problems[0].about
    assert [one.content for one in lead.memory.list()] == ["Deploys happen on Tuesdays."]
    note.write_text(settled.replace("on Tuesdays", "on Fridays"))
    assert lead.sync().updated == (NOTE,)


def test_both_sides_of_a_conflict_in_front_matter_are_told_as_such(lead: Bench, note: Path) -> None:
    settled = note.read_text()
    note.write_text(settled.replace("version: 1\n", "<<<<<<< HEAD\nversion: 1\n=======\nversion: 2\n>>>>>>> other\n"))
    report = lead.sync()
    assert "conflict of git" in report.problems[0].about
    note.write_text(settled)
    assert lead.sync().is_agreed


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/passwd")])
def test_what_takes_the_place_of_a_note_and_is_no_file_deletes_nothing(
    lead: Bench, note: Path, make: Callable[[Path], None]
) -> None:
    kept = note.read_bytes()
    note.unlink()
    make(note)
    assert [problem.file for problem in lead.sync().problems] == [NOTE]
    assert len(lead.memory.list()) == 1
    note.rmdir() if note.is_dir() else note.unlink()
    note.write_bytes(kept)
    assert lead.sync().is_agreed


def test_a_note_may_show_how_a_conflict_of_git_looks(lead: Bench) -> None:
    lead.write("git.md", f"So it looks:\n```\n{_CONFLICT}```\n")
    assert lead.sync().saved == ("git.md",)


def test_of_two_new_notes_with_one_key_each_keeps_its_text(lead: Bench) -> None:
    for number in range(6):
        lead.write(f"key {number}.md", f"---\nkey: imports\nproject: p\ncategory: convention\n---\nValue {number}.\n")
    lead.sync()
    assert [one.content for one in lead.memory.knowledge.list(project="p")] == ["Value 5."]
    for _ in range(3):
        texts = [(lead.root / file).read_text() for file in lead.files()]
        assert sorted(text.rpartition("---\n")[2] for text in texts) == [f"Value {n}.\n" for n in range(6)]
        lead.sync()
