"""What a member sees of its team, in a real mount: read, written, renamed and removed by ordinary programs."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.contracts.memory_api import MemoryApi
from mycel.embedded.workspace import Workspace
from mycel.stores.sqlite.database import Disk
from tests.serving import served
from tests.surfaces.mount.mounted import Mounted, is_mounted, missing, mounted, until
from tests.surfaces.vault.bench import make_team
from tests.surfaces.vault.test_names import PATHS, TITLES
from tests.template import copy_template

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"no real mount: {missing()}")

INVALID = "---\ntype: [fact\n---\nThis is not saved.\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    copy_template(make_team, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def workspace(data: Path) -> Iterator[Workspace]:
    with open_workspace(data, disk=Disk(synchronous="OFF")) as opened:
        yield opened


@pytest.fixture
def lead(workspace: Workspace) -> MemoryApi:
    return workspace.as_member("lead-1")


@pytest.fixture
def agent(workspace: Workspace) -> MemoryApi:
    return workspace.as_member("swe-1")


@pytest.fixture
def mount(tmp_path: Path, data: Path, lead: MemoryApi) -> Iterator[Mounted]:
    lead.save("Deploys happen on Tuesdays.", title="Deploys", path="/ops", tags=["release"])
    with mounted(tmp_path / "m", data) as found:
        yield found


def only(memory: MemoryApi, title: str) -> str:
    (found,) = [one.id for one in memory.list() if one.title == title]
    return found


def rename_save(path: Path, text: str) -> None:
    """As sed, gedit and most libraries: another file, and its name changed."""
    new = path.with_name("sedAbC123")
    new.write_text(text)
    new.rename(path)


def vim_save(path: Path, text: str) -> None:
    """As vim: a file to try whether one may, the old one aside, a new one, the old one away."""
    trial = path.with_name("4913")
    trial.touch()
    trial.unlink()
    swap = path.with_name(f".{path.name}.swp")
    swap.write_bytes(b"b0VIM 9.0")
    aside = path.with_name(f"{path.name}~")
    path.rename(aside)
    with path.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.unlink()
    swap.unlink()


def in_place(path: Path, text: str) -> None:
    with path.open("w") as file:
        file.write(text)


EDITORS = (rename_save, vim_save, in_place)


def test_the_tree_is_that_of_the_vault_and_what_a_member_may_not_see_is_not_there(
    mount: Mounted, lead: MemoryApi, agent: MemoryApi
) -> None:
    hidden = agent.save("Mine alone.", title="Mine", visibility="private", path="/ops")
    agent.save("For all.", title="For all", path="/ops/more")
    until(lambda: "more" in mount.names("ops"))
    assert mount.names() == {"ops", "recent", "search"}
    assert mount.names("ops") == {"Deploys.md", "more"}
    assert mount.names("ops/more") == {"For all.md"}
    assert mount.names("recent") == {"Deploys.md", "For all.md"}
    assert mount.names("search/mine alone") <= {"01 For all.md", "02 Deploys.md", "01 Deploys.md"}
    text = mount.read("ops/Deploys.md")
    assert f"id: {only(lead, 'Deploys')}" in text
    assert "tags: [release]" in text
    assert text.endswith("---\nDeploys happen on Tuesdays.\n")
    with pytest.raises(FileNotFoundError):
        mount.read("ops/Mine.md")
    with pytest.raises(OSError, match="Invalid argument"):
        in_place(mount.root / "guess.md", f"---\nid: {hidden.id}\n---\nIs it there?\n")
    with pytest.raises(OSError, match="Invalid argument"):
        in_place(mount.root / "guess.md", "---\nid: 019a0000-0000-7000-8000-000000000000\n---\nIs it there?\n")
    refused = [line.replace(hidden.id, "ID") for line in mount.said().splitlines() if line.startswith("guess.md")]
    assert refused[0] == refused[1].replace("019a0000-0000-7000-8000-000000000000", "ID")


def test_what_becomes_hidden_is_gone_and_cannot_be_opened(mount: Mounted, lead: MemoryApi, agent: MemoryApi) -> None:
    shown = agent.save("For all.", title="For all", path="/ops")
    until(lambda: "For all.md" in mount.names("ops"))
    agent.update(shown.id, visibility="private")
    until(lambda: "For all.md" not in mount.names("ops"))
    with pytest.raises(FileNotFoundError):
        mount.read("ops/For all.md")


def test_a_new_file_becomes_a_memory_and_its_edits_versions_by_that_member(mount: Mounted, lead: MemoryApi) -> None:
    (mount.root / "howto").mkdir()
    in_place(mount.root / "howto/Checks.md", "---\ntags: [make]\n---\nRun make check.\n")
    saved = lead.get(only(lead, "Checks"))
    assert (saved.content, saved.path, saved.tags, saved.agent_id) == ("Run make check.", "/howto", ("make",), "lead-1")
    with (mount.root / "howto/Checks.md").open("a") as file:
        file.write("Then commit.\n")
    found = lead.get(saved.id)
    assert (found.content, found.version) == ("Run make check.\nThen commit.", 2)
    assert [one.changed_by for one in lead.history(saved.id)] == ["lead-1", "lead-1"]
    assert "version: 2\n" in mount.read("howto/Checks.md")


@pytest.mark.parametrize("save", EDITORS)
def test_an_editor_saves_a_note_again_and_again_without_reading_it_anew(save: object, mount: Mounted) -> None:
    assert callable(save)
    path = mount.root / "ops/Deploys.md"
    text = path.read_text()
    for day in ("Wednesdays", "Thursdays", "Fridays"):
        text = text.replace(text.split(" on ")[1].split(".")[0], day)
        save(path, text)
        assert mount.text("ops/Deploys.md") == f"Deploys happen on {day}.\n"
    assert "version: 4\n" in mount.read("ops/Deploys.md")
    assert mount.names("ops") == {"Deploys.md"}
    assert len(mount.said().splitlines()) == 1


@pytest.mark.parametrize("save", EDITORS)
def test_an_editor_may_leave_out_the_front_matter(save: object, mount: Mounted, lead: MemoryApi) -> None:
    assert callable(save)
    id = only(lead, "Deploys")
    save(mount.root / "ops/Deploys.md", "Deploys never happen.\n")
    found = lead.get(id)
    assert (found.content, found.tags, found.version) == ("Deploys never happen.", ("release",), 2)


@pytest.mark.parametrize("save", EDITORS)
def test_invalid_front_matter_is_refused_and_what_stood_stands(save: object, mount: Mounted, lead: MemoryApi) -> None:
    assert callable(save)
    before = mount.read("ops/Deploys.md")
    path = mount.root / "ops/Deploys.md"
    with pytest.raises(OSError, match="Invalid argument") as refused:
        save(path, INVALID)
    assert refused.value.errno == errno.EINVAL
    if save is vim_save:
        path.with_name("Deploys.md~").rename(path)
    assert mount.read("ops/Deploys.md") == before
    assert lead.get(only(lead, "Deploys")).version == 1
    assert mount.said().count("front matter: is not valid YAML") == 1


def test_a_value_that_no_memory_has_is_refused_by_its_name(mount: Mounted, lead: MemoryApi) -> None:
    text = mount.read("ops/Deploys.md")
    with pytest.raises(OSError, match="Invalid argument"):
        in_place(mount.root / "ops/Deploys.md", text.replace("type: fact", "type: rumour"))
    assert "ops/Deploys.md: type: " in mount.said()
    assert mount.read("ops/Deploys.md") == text


def test_nothing_half_is_published(mount: Mounted, lead: MemoryApi) -> None:
    """Programs that a shell starts close their copies of the file, and the shell its own, before it is whole."""
    id = only(lead, "Deploys")
    script = 'exec 3>"$1"; echo One. >&3; ("$2" Two. >&3); test "$(wc -l < "$1")" = 2; echo Three. >&3; exec 3>&-'
    echo = shutil.which("echo") or "/bin/echo"
    subprocess.run(["bash", "-c", script, "bash", mount.root / "ops/Deploys.md", echo], check=True)
    assert [one.memory.content for one in lead.history(id)] == ["Deploys happen on Tuesdays.", "One.\nTwo.\nThree."]


def test_a_file_that_was_emptied_keeps_its_memory(mount: Mounted, lead: MemoryApi) -> None:
    in_place(mount.root / "ops/Deploys.md", "")
    until(lambda: "is empty; delete the file to delete the memory" in mount.said())
    assert mount.text("ops/Deploys.md") == "Deploys happen on Tuesdays.\n"
    assert lead.get(only(lead, "Deploys")).version == 1


def test_renaming_gives_another_title_and_moving_another_path(mount: Mounted, lead: MemoryApi) -> None:
    id = only(lead, "Deploys")
    (mount.root / "ops/Deploys.md").rename(mount.root / "ops/Releases.md")
    assert lead.get(id).title == "Releases"
    (mount.root / "plans/next").mkdir(parents=True)
    (mount.root / "ops/Releases.md").rename(mount.root / "plans/next/Releases.md")
    assert lead.get(id).path == "/plans/next"
    (mount.root / "plans").rename(mount.root / "done")
    assert lead.get(id).path == "/done/next"
    assert mount.text("done/next/Releases.md") == "Deploys happen on Tuesdays.\n"
    assert mount.names() == {"ops", "done", "recent", "search"}


def test_links_are_wiki_links(mount: Mounted, lead: MemoryApi) -> None:
    in_place(mount.root / "ops/Why.md", '---\nsupports: "[[Deploys]]"\n---\nMondays are busy.\n')
    (link,) = lead.links(only(lead, "Why"))
    assert (link.relation, link.to_id) == ("supports", only(lead, "Deploys"))
    assert 'supports: ["[[Deploys]]"]' in mount.read("ops/Why.md")


def test_removing_a_note_deletes_its_memory_but_not_many_at_once(mount: Mounted, lead: MemoryApi) -> None:
    lead.save_many([{"content": f"Number {number}.", "path": "/many"} for number in range(20)])
    until(lambda: "many" in mount.names() and len(mount.names("many")) == 20)
    assert subprocess.run(["rm", "-r", mount.root / "many"], check=False, capture_output=True).returncode == 1
    assert len(lead.list(limit=100)) == 19
    assert "more than a tenth of the notes would go at once" in mount.said()


def test_a_note_that_is_moved_out_and_back_is_the_same_memory(mount: Mounted, lead: MemoryApi, tmp_path: Path) -> None:
    id = only(lead, "Deploys")
    subprocess.run(["mv", mount.root / "ops/Deploys.md", tmp_path / "out.md"], check=True)
    assert list(lead.list()) == []
    subprocess.run(["mv", tmp_path / "out.md", mount.root / "ops/Deploys.md"], check=True)
    assert only(lead, "Deploys") == id


def test_what_was_purged_meanwhile_is_not_put_back(mount: Mounted, lead: MemoryApi, tmp_path: Path) -> None:
    id = only(lead, "Deploys")
    subprocess.run(["mv", mount.root / "ops/Deploys.md", tmp_path / "out.md"], check=True)
    lead.purge(id)
    back = subprocess.run(["mv", tmp_path / "out.md", mount.root / "ops/Deploys.md"], check=False)
    assert back.returncode == 1
    assert "is of no memory that you may see" in mount.said()
    assert list(lead.list(status="any")) == []


def test_a_copy_with_the_same_id_is_told_and_not_merged(mount: Mounted, lead: MemoryApi, data: Path) -> None:
    copied = subprocess.run(["cp", mount.root / "ops/Deploys.md", mount.root / "Copy.md"], check=False)
    assert copied.returncode == 1
    assert "Copy.md: id: belongs to ops/Deploys.md" in mount.said()
    assert len(lead.list()) == 1
    # It is laid aside for whoever wants it.
    mount.interrupt()
    (left,) = (data / "left-in-mounts").glob("*/Copy.md")
    assert "Deploys happen on Tuesdays." in left.read_text()


def test_what_others_changed_meanwhile_is_merged_or_asked_about(
    mount: Mounted, lead: MemoryApi, agent: MemoryApi
) -> None:
    id = only(lead, "Deploys")
    path = mount.root / "ops/Deploys.md"
    mine = path.read_text().replace("Tuesdays", "Wednesdays")
    lead.update(id, tags=["release", "night"])
    in_place(path, mine)
    merged = lead.get(id)
    assert (merged.content, merged.tags) == ("Deploys happen on Wednesdays.", ("release", "night"))
    lead.update(id, content="Deploys happen on Sundays.")
    in_place(path, mine.replace("Wednesdays", "Mondays"))
    assert lead.get(id).content == "Deploys happen on Sundays."
    assert mount.text("ops/Deploys.md") == "Deploys happen on Sundays.\n"
    assert [one.memory.content for one in lead.inbox()] == ["Deploys happen on Mondays."]
    assert "yours waits in the inbox" in mount.said()


def test_a_search_is_a_folder_and_its_files_can_be_written(mount: Mounted, lead: MemoryApi) -> None:
    lead.save("Backups run at night.", title="Backups", path="/ops")
    until(lambda: "Backups.md" in mount.names("ops"))
    assert mount.names("search") == set()
    (found,) = mount.names("search/when do backups run") - {"02 Deploys.md"}
    assert found == "01 Backups.md"
    path = mount.root / "search/when do backups run" / found
    with path.open("a") as file:
        file.write("And at noon.\n")
    assert lead.get(only(lead, "Backups")).content == "Backups run at night.\nAnd at noon."
    with pytest.raises(PermissionError):
        path.unlink()
    with pytest.raises(PermissionError):
        (path.parent / "new.md").touch()
    with (mount.root / "recent/Deploys.md").open("a") as file:
        file.write("Usually.\n")
    assert lead.get(only(lead, "Deploys")).content.endswith("Usually.")


def test_what_was_purged_is_in_no_search_that_was_listed_before(mount: Mounted, lead: MemoryApi) -> None:
    saved = lead.save("Backups run at night.", title="Backups", path="/ops")
    until(lambda: "Backups.md" in mount.names("ops"))
    words = "search/when do backups run"
    assert "01 Backups.md" in mount.names(words)
    lead.purge(saved.id)
    until(lambda: "Backups.md" not in mount.names("ops"))
    assert "01 Backups.md" not in mount.names(words)
    assert not (mount.root / words / "01 Backups.md").exists()


def test_hostile_titles_and_paths_stay_in_the_mount(tmp_path: Path, data: Path, lead: MemoryApi) -> None:
    for number, title in enumerate(TITLES):
        plain = title.replace("\u200b", "b").replace("\ufeff", "c").replace("\u202e", "r")
        lead.save(f"Number {number}.", title=plain, path=PATHS[number % len(PATHS)])
    lead.save("Its folder has another name.", path="/search/recent")
    with mounted(tmp_path / "m", data) as mount:
        walked = [(folder, file) for folder, _, files in os.walk(mount.root) for file in files]
        shown = [one for one in walked if Path(one[0]) != mount.root / "recent"]
        assert len(shown) == len(TITLES) + 1
        assert sorted(Path(*one).read_text().split("---\n", 2)[2] for one in shown) == sorted(
            f"{one.content}\n" for one in lead.list(limit=200)
        )
        assert mount.names("search") == set()


def test_unmounting_with_open_files_saves_nothing_half(mount: Mounted, lead: MemoryApi, data: Path) -> None:
    reading = os.open(mount.root / "ops/Deploys.md", os.O_RDONLY)
    writing = os.open(mount.root / "ops/Deploys.md", os.O_WRONLY | os.O_APPEND)
    os.write(writing, b"Half a sent")
    assert subprocess.run(["umount", mount.root], check=False, capture_output=True).returncode != 0
    assert mount.interrupt() == 0
    assert not is_mounted(mount.root)
    for handle in (reading, writing):
        with pytest.raises(OSError, match="not connected"):
            os.close(handle)
    assert [one.content for one in lead.list()] == ["Deploys happen on Tuesdays."]
    (left,) = (data / "left-in-mounts").glob("*/ops/Deploys.md")
    assert left.read_text().endswith("Half a sent")


def test_umount_ends_the_command(mount: Mounted) -> None:
    subprocess.run(["umount", mount.root], check=True)
    assert mount.process.wait(60) == 0


def test_a_killed_mount_leaves_nothing_half_and_the_next_one_takes_its_place(
    mount: Mounted, lead: MemoryApi, data: Path
) -> None:
    writing = os.open(mount.root / "ops/Deploys.md", os.O_WRONLY | os.O_TRUNC)
    os.write(writing, b"Half a sent")
    mount.process.send_signal(signal.SIGKILL)
    mount.process.wait(60)
    with pytest.raises(OSError, match="not connected"):
        os.close(writing)
    assert [(one.content, one.version) for one in lead.list()] == [("Deploys happen on Tuesdays.", 1)]
    with mounted(mount.root, data) as again:
        assert again.text("ops/Deploys.md") == "Deploys happen on Tuesdays.\n"


def test_a_folder_that_holds_files_is_not_hidden_by_a_mount(tmp_path: Path, data: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/mine.txt").write_text("mine")
    with pytest.raises(AssertionError, match="must be an empty folder"), mounted(tmp_path / "m", data):
        pass


def test_a_mount_may_be_for_reading_alone(tmp_path: Path, data: Path, lead: MemoryApi) -> None:
    lead.save("Deploys happen on Tuesdays.", title="Deploys")
    with mounted(tmp_path / "m", data, "--read-only") as mount:
        assert mount.text("notes/Deploys.md") == "Deploys happen on Tuesdays.\n"
        with pytest.raises(OSError, match="Read-only"):
            in_place(mount.root / "notes/Deploys.md", "No.")


def test_over_a_service_a_mount_is_the_same(tmp_path: Path, workspace: Workspace, lead: MemoryApi) -> None:
    lead.save("Deploys happen on Tuesdays.", title="Deploys", path="/ops")
    token = workspace.issue_token("lead-1")
    with served(workspace) as url:
        environment = {"MYCEL_URL": url, "MYCEL_TOKEN": token}
        with mounted(tmp_path / "m", tmp_path / "elsewhere", environment=environment) as mount:
            vim_save(mount.root / "ops/Deploys.md", mount.read("ops/Deploys.md").replace("Tue", "Wedne"))
            assert lead.get(only(lead, "Deploys")).content == "Deploys happen on Wednesdays."
            lead.save("By somebody else.", title="Else", path="/ops")
            until(lambda: "Else.md" in mount.names("ops"))
            assert mount.names("search/somebody else") >= {"01 Else.md"}
            with pytest.raises(OSError, match="Invalid argument"):
                rename_save(mount.root / "ops/Else.md", INVALID)
            assert mount.text("ops/Else.md") == "By somebody else.\n"
            assert mount.names("ops") == {"Deploys.md", "Else.md", "sedAbC123"}
