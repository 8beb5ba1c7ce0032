"""A damaged store over restarts, restored, made afresh; stores that are gone; and the workspace's own database."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from mycel.app import open_workspace
from mycel.embedded.workspace import Workspace
from mycel.errors import InvalidState, MycelError, StoreDamaged, Unavailable
from tests.reliability import damages
from tests.reliability.damages import beside
from tests.reliability.inspection import find_damage, team_file

TEAM = "builders"
Opening = Callable[[], Workspace]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def opening(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    """Opens the workspace; what was opened before is closed."""
    monkeypatch.setattr("mycel.stores.sqlite.pool.CHECK_AFTER_SECONDS", None)
    monkeypatch.setattr("mycel.stores.sqlite.database.LOOK_SECONDS", 0.0)
    left: list[Workspace] = []

    def reopen() -> Workspace:
        for workspace in left:
            workspace.close()
        workspace = open_workspace(data)
        left.append(workspace)
        return workspace

    yield reopen
    for workspace in left:
        workspace.close()


@pytest.fixture
def file(data: Path, opening: Opening) -> Path:
    """A team with some memories, closed."""
    workspace = opening()
    workspace.add_team(TEAM)
    for number in range(40):
        workspace.as_operator(TEAM).save(f"note {number} about herons " + "reed " * 100)
    workspace.close()
    return team_file(data, TEAM)


def damaged_teams(workspace: Workspace) -> list[str | None]:
    return [damage.team for damage in workspace.damages()]


def test_a_restart_does_not_forget_and_a_restore_is_noticed(file: Path, opening: Opening, tmp_path: Path) -> None:
    backup = shutil.copy(file, tmp_path / "backup.sqlite")
    damages.zero_six_pages(file)
    assert list(opening().check()) == [TEAM]
    workspace = opening()
    assert damaged_teams(workspace) == [TEAM]
    since = workspace.damages()[0].since
    with pytest.raises(StoreDamaged, match=r"damaged and read-only since .* see docs/guides/damage\.md"):
        workspace.as_operator(TEAM).save("not now")
    assert opening().damages()[0].since == since
    opening().close()
    shutil.copy(backup, file)
    workspace = opening()
    # The file is the same one, as far as anybody can tell: it is the operator who says that it was restored.
    assert damaged_teams(workspace) == [TEAM]
    assert workspace.check() == {}
    workspace.as_operator(TEAM).save("again")
    assert damaged_teams(opening()) == []


def test_a_file_put_in_place_of_a_damaged_one_is_checked_and_used_while_the_service_runs(
    file: Path, opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = shutil.copy(file, tmp_path / "backup.sqlite")
    damages.zero_six_pages(file)
    workspace = opening()
    assert list(workspace.check()) == [TEAM]
    Path(backup).replace(file)
    stores = workspace._do.upkeep._stores
    assert damaged_teams(workspace) == [TEAM], "until somebody has looked at it"
    stores._check(TEAM)
    assert damaged_teams(workspace) == []
    workspace.as_operator(TEAM).save("again")
    assert find_damage(file) == []


def test_an_older_copy_put_in_place_is_used_and_nothing_acknowledged_is_lost(
    file: Path, opening: Opening, tmp_path: Path
) -> None:
    backup = Path(shutil.copy(file, tmp_path / "backup.sqlite"))
    workspace = opening()
    memory = workspace.as_operator(TEAM)
    newer = [memory.save(f"newer note {number}") for number in range(3)]
    backup.replace(file)
    with pytest.raises(Unavailable):
        memory.save("into the old file")
    after = memory.save("into the new file")
    assert memory.get(after.id).content == "into the new file"
    assert memory.stats().memories == 41
    workspace.close()
    assert find_damage(file) == []
    rescued = next(file.parent.glob("memory.sqlite.rescued-*"))
    content = rescued.read_bytes()
    assert all(one.content.encode() in content for one in newer)
    assert find_damage(rescued) == []


def test_a_file_that_is_moved_away_and_back_is_used_again_with_its_log(file: Path, opening: Opening) -> None:
    memory = opening().as_operator(TEAM)
    memory.save("in the log alone")
    file.rename(beside(file, ".away"))
    for _ in range(3):
        with pytest.raises(Unavailable):
            memory.save("nowhere")
        with pytest.raises(Unavailable):
            memory.stats()
    beside(file, ".away").rename(file)
    memory.save("back again")
    contents = [one.content for one in memory.recent(limit=10)]
    assert {"back again", "in the log alone"} <= set(contents)


@pytest.mark.parametrize("gone", ["missing", "empty", "no database"])
def test_a_store_that_was_there_is_no_fresh_start(file: Path, opening: Opening, gone: str) -> None:
    harm = {"missing": damages.unlink_all, "empty": damages.empty, "no database": damages.write_rubbish}[gone]
    harm(file)
    workspace = opening()
    memory = workspace.as_operator(TEAM)
    for call in (lambda: memory.save("afresh"), memory.stats, lambda: memory.search("herons")):
        with pytest.raises(StoreDamaged):
            call()
    assert damaged_teams(workspace) == [TEAM]
    assert list(workspace.check()) == [TEAM]
    with pytest.raises(StoreDamaged):
        workspace.backup(file.parents[2] / "copy")
    # Other teams notice nothing, and the engine's work for them goes on.
    workspace.as_operator().save("of another team")
    workspace.run_pending()
    workspace.maintain()


def test_a_team_starts_afresh_when_the_operator_says_so(file: Path, opening: Opening) -> None:
    workspace = opening()
    with pytest.raises(InvalidState):
        workspace.reset_store(TEAM)
    damages.zero_six_pages(file)
    workspace = opening()
    workspace.check()
    workspace.reset_store(TEAM)
    memory = workspace.as_operator(TEAM)
    assert memory.stats().memories == 0
    memory.save("the first one")
    assert workspace.check() == {}
    assert damaged_teams(opening()) == []
    assert len(list(file.parent.glob("set-aside-*/memory.sqlite"))) == 1


def test_a_store_of_before_is_noted_when_it_is_opened(file: Path, opening: Opening) -> None:
    workspace = opening()
    workspace._do.upkeep._directory.forget_store(TEAM)
    workspace = opening()
    assert workspace.as_operator(TEAM).stats().memories == 40
    workspace.close()
    file.unlink()
    with pytest.raises(StoreDamaged):
        opening().as_operator(TEAM).stats()


@pytest.mark.parametrize("left", ["nothing", "an empty file", "no tables"])
def test_a_store_whose_making_was_cut_short_is_a_fresh_start(data: Path, opening: Opening, left: str) -> None:
    opening().add_team(TEAM)
    file = team_file(data, TEAM)
    if left != "nothing":
        file.parent.mkdir(parents=True)
        file.touch()
    if left == "no tables":
        connection = apsw.Connection(str(file))
        connection.pragma("journal_mode", "wal")
        connection.close()
        assert file.stat().st_size > 0
    memory = opening().as_operator(TEAM)
    assert memory.stats().memories == 0
    memory.save("the first one")
    assert opening().damages() == []


@pytest.mark.parametrize("harm", [damages.unlink_all, damages.empty, damages.write_rubbish])
def test_a_workspace_database_that_is_gone_is_no_fresh_start(file: Path, opening: Opening, data: Path, harm) -> None:
    harm(data / "workspace.sqlite")
    with pytest.raises(StoreDamaged, match="the workspace database"):
        opening()


@pytest.mark.parametrize("harm", [damages.unlink_all, damages.empty, damages.write_rubbish, damages.rename])
def test_a_workspace_database_that_goes_while_in_use_is_told(
    file: Path, opening: Opening, data: Path, harm: Callable[[Path], None]
) -> None:
    workspace = opening()
    token = workspace.issue_token("operator")
    harm(data / "workspace.sqlite")
    with pytest.raises(MycelError):
        workspace.add_team("late")
    assert None in [damage.team for damage in workspace.find_damages()]
    with pytest.raises(MycelError):
        workspace.with_token(token).stats()


def test_a_data_directory_that_goes_while_in_use_is_not_made_again(file: Path, opening: Opening, data: Path) -> None:
    workspace = opening()
    memory = workspace.as_operator(TEAM)
    memory.save("before")
    shutil.rmtree(data)
    for _ in range(3):
        with pytest.raises(Unavailable):
            memory.save("after")
    assert not data.exists()
    assert {damage.team for damage in workspace.find_damages()} >= {None}


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path | None]:
    """A file system of its own, where the system lets us make one."""
    folder = tmp_path / "mount"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder]
    if os.name != "posix" or os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        yield None
        return
    yield folder
    subprocess.run(["mount", "-o", "remount,rw", folder], check=False, capture_output=True)
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_disk_that_turns_read_only_is_told_and_no_damage(mounted: Path | None) -> None:
    if mounted is None:
        return
    with open_workspace(mounted / "data") as workspace:
        memory = workspace.as_operator()
        memory.save("before")
    remount = ["mount", "-o", "remount,ro", str(mounted)]
    with open_workspace(mounted / "data") as workspace:
        memory = workspace.as_operator()
        if subprocess.run(remount, capture_output=True, check=False).returncode:
            return
        with pytest.raises(Unavailable, match="cannot be"):
            memory.save("after")
        subprocess.run(["mount", "-o", "remount,rw", str(mounted)], check=True)
        memory.save("writable again")
        assert workspace.damages() == []
