"""Backups of a whole workspace: made whole or not at all, looked through, kept for a while, and restored."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.domain.backup import RestorePlan
from mycel.embedded.team_memory import TeamMemory
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, InvalidInput, MycelError, NotFound
from mycel.restoration import restore_workspace
from mycel.services import backup_files, backups
from mycel.settings import load_settings
from mycel.stores.sqlite import restored
from mycel.testing.clock import ManualClock

pytestmark = pytest.mark.each_database


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def workspace(data: Path) -> Iterator[Workspace]:
    with open_workspace(data) as workspace:
        workspace.add_team("squad")
        workspace.add_member("swe-1", team="squad")
        yield workspace


def member(workspace: Workspace) -> TeamMemory:
    return workspace.as_member("swe-1")


def restore(data: Path, backup: Path) -> RestorePlan:
    return restore_workspace(load_settings(data), backup).plan


def contents(data: Path) -> set[str]:
    with open_workspace(data) as workspace:
        assert workspace.check() == {}
        return {memory.content for memory in member(workspace).list(status="any", limit=1000)}


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_a_backup_taken_under_load_restores_to_every_write_acknowledged_before_it_began(
    workspace: Workspace, data: Path, tmp_path: Path
) -> None:
    acknowledged: list[str] = []
    stop = threading.Event()

    def write(number: int) -> None:
        memory = member(workspace)
        while not stop.is_set():
            text = f"note {number} {len(acknowledged)}"
            memory.save(text)
            acknowledged.append(text)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    while len(acknowledged) < 20:
        stop.wait(0.01)
    before = set(acknowledged)
    workspace.backup(tmp_path / "backup")
    stop.set()
    for writer in writers:
        writer.join()
    workspace.close()
    restore(data, tmp_path / "backup")
    assert before <= contents(data) <= set(acknowledged)


def test_a_receipt_names_the_backups_that_hold_what_was_purged_and_no_later_one(data: Path, tmp_path: Path) -> None:
    clock = ManualClock()
    with open_workspace(data, clock=clock) as workspace:
        workspace.add_team("squad")
        workspace.add_member("swe-1", team="squad")
        memory = member(workspace)
        saved = memory.save("for a while")
        holding = workspace.backup(tmp_path / "holding").folder
        memory.purge(saved.id)
        workspace.run_pending()
        clock.move(timedelta(hours=1))
        workspace.backup(tmp_path / "later")
        assert memory.receipt(saved.id).held_by_backups == (holding,)


def test_a_damaged_backup_is_named_and_replaces_nothing(workspace: Workspace, data: Path, tmp_path: Path) -> None:
    member(workspace).save("then")
    folder = tmp_path / "backup"
    workspace.backup(folder)
    member(workspace).save("now")
    workspace.close()
    damage(folder / "teams/squad/memory.sqlite")
    with pytest.raises(InvalidInput, match=r"teams/squad/memory\.sqlite"):
        restore(data, folder)
    assert contents(data) == {"then", "now"}
    assert not (data / restored.RESTORING_FOLDER).exists()


@pytest.mark.files_only
def test_a_look_at_a_backup_names_what_is_damaged_missing_and_too_much(workspace: Workspace, tmp_path: Path) -> None:
    workspace.add_team("other")
    for team in ("squad", "other"):
        workspace.as_operator(team).save("a")
    folder = tmp_path / "backup"
    workspace.backup(folder)
    assert workspace.check_backup(folder).is_sound
    (folder / "teams/other/memory.sqlite").unlink()
    (folder / "extra").touch()
    damage(folder / "workspace.sqlite")
    problems = workspace.check_backup(folder).problems
    assert [problem.partition(":")[0] for problem in problems] == [
        "teams/other/memory.sqlite",
        "workspace.sqlite",
        "extra",
    ]
    damage(folder / "backup.json")
    assert [problem.partition(":")[0] for problem in workspace.check_backup(folder).problems] == ["backup.json"]
    with pytest.raises(NotFound):
        workspace.check_backup(tmp_path)


def test_what_was_taken_away_since_does_not_come_back(workspace: Workspace, data: Path, tmp_path: Path) -> None:
    memory = member(workspace)
    kept, gone = memory.save("a heron stays"), memory.save("an otter goes")
    workspace.add_member("swe-2", team="squad")
    secret, other = workspace.issue_token("swe-1"), workspace.issue_token("swe-2")
    workspace.backup(tmp_path / "backup")
    receipt = memory.purge(gone.id)
    workspace.revoke_token(secret)
    workspace.remove_member("swe-2")
    memory.save("since")
    workspace.close()
    plan = restore(data, tmp_path / "backup")
    [team] = [one for one in plan.teams if one.team == "squad"]
    assert (team.purged_again, plan.members_removed, plan.tokens_revoked) == (1, ("swe-2",), 2)
    with open_workspace(data) as again:
        assert [one.id for one in member(again).list()] == [kept.id]
        assert member(again).receipt(gone.id).id == receipt.id
        assert member(again).search("otter").hits == ()
        for ended in (secret, other):
            with pytest.raises(AccessDenied):
                again.with_token(ended).list()
        assert [one.id for one in again.members(team="squad")] == ["swe-1"]


@pytest.mark.files_only
def test_the_bytes_of_what_was_purged_are_not_in_the_restored_files(
    workspace: Workspace, data: Path, tmp_path: Path
) -> None:
    gone = member(workspace).save("zanthoxylum goes")
    workspace.backup(tmp_path / "backup")
    member(workspace).purge(gone.id)
    workspace.close()
    restore(data, tmp_path / "backup")
    found = [file for file in (data / "teams").rglob("*") if file.is_file() and b"zanthoxylum" in file.read_bytes()]
    assert found == []


def test_what_was_drawn_and_purged_after_the_backup_is_blanked_in_the_source_of_then(
    workspace: Workspace, data: Path, tmp_path: Path
) -> None:
    said = "Lesson learned: never run migrations before the backup has finished."
    event = member(workspace).capture_conversation(said, project="p", capture_mode="store")
    workspace.backup(tmp_path / "backup")
    member(workspace).capture_conversation(source_id=event.source_id, capture_mode="extract")
    workspace.run_pending()
    drawn = member(workspace).list(status="any").items
    assert drawn
    for one in drawn:
        workspace.as_operator("squad").purge(one.id)
    workspace.close()
    restore(data, tmp_path / "backup")
    with open_workspace(data) as again:
        assert event.source_id is not None
        assert "migrations" not in member(again).sources.get(event.source_id).text


def test_says_what_will_be_lost_and_leaves_all_as_it_is_where_that_is_refused(
    workspace: Workspace, data: Path, tmp_path: Path
) -> None:
    member(workspace).save("then")
    workspace.backup(tmp_path / "backup")
    member(workspace).save("now")
    workspace.add_member("swe-9", team="squad")
    workspace.close()
    told: list[RestorePlan] = []

    def refuse(plan: RestorePlan) -> None:
        told.append(plan)
        raise InvalidInput("no", field="yes")

    with pytest.raises(InvalidInput):
        restore_workspace(load_settings(data), tmp_path / "backup", confirm=refuse)
    [team] = [one for one in told[0].teams if one.team == "squad"]
    assert (team.memories_now, team.memories_then, team.changes_lost) == (2, 1, 1)
    assert told[0].members_lost == ("swe-9",)
    assert contents(data) == {"then", "now"}


def test_the_old_is_kept_and_can_be_had_back(workspace: Workspace, data: Path, tmp_path: Path) -> None:
    member(workspace).save("then")
    workspace.backup(tmp_path / "backup")
    member(workspace).save("now")
    workspace.close()
    settings = load_settings(data)
    kept = restore_workspace(settings, tmp_path / "backup").kept
    assert kept is not None
    assert contents(data) == {"then"}
    if settings.database_url is not None:
        restore_workspace(settings, Path(kept))
        assert contents(data) == {"then", "now"}
    else:
        assert contents(Path(kept)) == {"then", "now"}


@pytest.mark.files_only
def test_two_restores_of_one_second_keep_what_each_replaced(workspace: Workspace, data: Path, tmp_path: Path) -> None:
    workspace.backup(tmp_path / "backup")
    member(workspace).save("now")
    workspace.close()
    settings = load_settings(data)
    kept = [restore_workspace(settings, tmp_path / "backup").kept for _ in range(2)]
    assert len(set(kept)) == 2
    assert contents(Path(str(kept[0]))) == {"now"}


def test_a_receipt_names_the_kept_old_too(workspace: Workspace, data: Path, tmp_path: Path) -> None:
    saved = member(workspace).save("then")
    workspace.backup(tmp_path / "backup")
    workspace.close()
    kept = restore_workspace(load_settings(data), tmp_path / "backup").kept
    assert kept is not None
    with open_workspace(data) as again:
        held = member(again).purge(saved.id).held_by_backups
        assert {str(Path(kept).resolve()), str((tmp_path / "backup").resolve())} <= set(held)


@pytest.mark.files_only
@pytest.mark.parametrize("steps", range(5))
def test_a_restore_that_is_cut_short_while_it_replaces_is_carried_through(
    workspace: Workspace, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    member(workspace).save("then")
    workspace.backup(tmp_path / "backup")
    member(workspace).save("now")
    workspace.close()
    exchange, done = restored._exchange, []

    def cut(*names: Path) -> None:
        if len(done) == steps:
            raise KeyboardInterrupt
        done.append(names)
        exchange(*names)

    monkeypatch.setattr(restored, "_exchange", cut)
    with pytest.raises(KeyboardInterrupt):
        restore(data, tmp_path / "backup")
    monkeypatch.undo()
    assert contents(data) == {"then"}
    assert not (data / restored.RESTORING_FOLDER).exists()


def test_one_that_is_cut_short_is_never_taken_for_a_backup(
    workspace: Workspace, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    member(workspace).save("a")

    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(backups, "write_manifest", cut)
    with pytest.raises(KeyboardInterrupt):
        workspace.create_backup(name="half")
    monkeypatch.undo()
    assert workspace.backups() == []
    (data / "backups/.half.unfinished/teams").mkdir(parents=True)
    assert workspace.create_backup(name="half").teams == ("squad",)
    assert workspace.verify_backup("half").is_sound
    assert [one.name for one in workspace.backups()] == ["half"]
    gone = member(workspace).save("b")
    member(workspace).purge(gone.id)
    assert member(workspace).receipt(gone.id).held_by_backups == ()


@pytest.mark.parametrize("name", ["../out", "/tmp/x", ".hidden", "a/b", "", "x" * 101, "a\x00b"])
def test_a_name_leads_nowhere_else(workspace: Workspace, name: str) -> None:
    with pytest.raises(InvalidInput):
        workspace.create_backup(name=name)
    with pytest.raises(MycelError):
        workspace.verify_backup(name)


def test_two_of_one_second_have_names_of_their_own(data: Path) -> None:
    from mycel.testing.clock import ManualClock

    with open_workspace(data, clock=ManualClock()) as workspace:
        made = {workspace.create_backup().name for _ in range(3)}
        assert len(made) == 3
        assert {one.name for one in workspace.backups()} == made


def test_backups_are_the_operators(workspace: Workspace) -> None:
    workspace.add_member("admin-1", team="squad", role="admin", kind="human")
    visit = workspace.sign_in(workspace.issue_token("admin-1")).workspace
    for call in (visit.create_backup, visit.backups, lambda: visit.verify_backup("a")):
        with pytest.raises(AccessDenied):
            call()


def test_the_service_makes_them_by_itself_and_keeps_the_last(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mycel.testing.clock import ManualClock

    monkeypatch.setenv("MYCEL_BACKUP_EVERY_HOURS", "24")
    monkeypatch.setenv("MYCEL_BACKUPS_KEPT", "2")
    clock = ManualClock()
    with open_workspace(data, clock=clock) as workspace:
        workspace.as_operator().save("a")
        workspace.create_backup(name="by-hand")
        made = [workspace._do.backups.run_due()]
        assert workspace._do.backups.run_due() is None
        for _ in range(3):
            clock.move(timedelta(hours=25))
            made.append(workspace._do.backups.run_due())
        names = [one.name for one in made if one is not None]
        assert len(names) == 4
        assert {one.name for one in workspace.backups()} == {*names[-2:], "by-hand"}
        assert all(backup_files.check_backup(Path(one.folder)).is_sound for one in workspace.backups())
        assert workspace.backups_in(Path(workspace.backups()[0].folder).parent) == workspace.backups()


@pytest.mark.files_only
def test_a_team_that_is_damaged_is_not_backed_up_in_silence(workspace: Workspace, data: Path, tmp_path: Path) -> None:
    memory = member(workspace)
    for number in range(300):
        memory.save(f"note {number} " + "x" * 500)
    workspace.close()
    file = data / "teams/squad/memory.sqlite"
    content = bytearray(file.read_bytes())
    content[40 * 4096 : 60 * 4096] = bytes(20 * 4096)
    file.write_bytes(content)
    with open_workspace(data) as again, pytest.raises(MycelError):
        again.backup(tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
