"""A vault and a team that went back to a backup: what was written since stands in the notes alone, and stays there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import mycel
from mycel.app import open_workspace
from mycel.errors import AccessDenied, Conflict
from mycel.restoration import restore_workspace
from mycel.settings import load_settings
from mycel.surfaces.vault.agreement import FILE, FOLDER, KnownVaults
from mycel.surfaces.vault.sync import Allowed, Vault, VaultReport
from tests.serving import served
from tests.surfaces.vault.bench import Bench, make_team
from tests.template import copy_template

Deed = Callable[[Bench], object]


def edit(bench: Bench) -> None:
    path = bench.root / "notes/Memory 3 of the team.md"
    path.write_text(path.read_text().replace("3 of the team.\n", "3 of the team, as it is since.\n"))


def write_anew(bench: Bench) -> None:
    bench.write("notes/Learned since.md", "Learned since the backup.\n")


def nothing(bench: Bench) -> None: ...


def others_go_on(bench: Bench) -> None:
    """Until the log is as long as it was, and longer."""
    for number in range(9):
        bench.save(f"Said by others, {number}.")


@pytest.mark.parametrize("afterwards", [nothing, others_go_on])
@pytest.mark.parametrize("deed", [edit, write_anew])
def test_a_restored_backup_takes_no_text_out_of_the_notes(tmp_path: Path, deed: Deed, afterwards: Deed) -> None:
    data, root, known = tmp_path / "data", tmp_path / "vault", tmp_path / "known"
    copy_template(make_team, data)
    with open_workspace(data) as workspace:
        bench = Bench(root, workspace.as_member("lead-1"), known)
        bench.memory.save_many([{"content": f"Memory {number} of the team."} for number in range(20)])
        bench.sync()
        workspace.backup(tmp_path / "backup")
        deed(bench)
        bench.sync()
    restore_workspace(load_settings(data), tmp_path / "backup")
    with open_workspace(data) as workspace:
        bench = Bench(root, workspace.as_member("lead-1"), known)
        afterwards(bench)
        before = bench.everything()
        for _ in range(2):
            with pytest.raises(Conflict, match="was a backup restored"):
                bench.sync()
            assert bench.everything() == before
        taken = begun_anew(bench)
        texts = "\n".join(path.read_text() for path in root.rglob("*.md"))
        assert "since" in texts
        assert ("as it is since" in texts) == (deed is edit)
        assert not taken.deleted
        assert bench.sync().is_agreed


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_memory_that_others_wrote_anew_since_takes_no_text_out_of_its_note(tmp_path: Path, times: int) -> None:
    """Its version says nothing then: there is another past behind the same number."""
    data, root, known = tmp_path / "data", tmp_path / "vault", tmp_path / "known"
    copy_template(make_team, data)
    with open_workspace(data) as workspace:
        bench = Bench(root, workspace.as_member("lead-1"), known)
        saved = [bench.memory.save(f"Memory {number} of the team.") for number in range(20)]
        bench.sync()
        workspace.backup(tmp_path / "backup")
        edit(bench)
        bench.sync()
    restore_workspace(load_settings(data), tmp_path / "backup")
    with open_workspace(data) as workspace:
        bench, other = Bench(root, workspace.as_member("lead-1"), known), workspace.as_member("lead-2")
        for number in range(times):
            other.update(saved[3].id, content=f"What others say, {number}.")
        before = bench.everything()
        with pytest.raises(Conflict, match="was a backup restored"):
            bench.sync()
        assert bench.everything() == before
        assert len(begun_anew(bench).conflicts) == 1
        assert bench.memory.get(saved[3].id).content == f"What others say, {times - 1}."
        (waiting,) = bench.memory.inbox()
        assert waiting.memory.content == "Memory 3 of the team, as it is since."
        assert bench.sync().is_agreed


@pytest.mark.parametrize("times", [0, 1])
def test_a_service_tells_of_a_past_as_files_do(tmp_path: Path, times: int) -> None:
    data, known = tmp_path / "data", tmp_path / "known"
    copy_template(make_team, data)
    with open_workspace(data) as workspace:
        bench = Bench(tmp_path / "vault", workspace.as_member("lead-1"), known)
        saved = bench.save("Said once.")
        bench.sync()
        for number in range(times):
            bench.memory.update(saved.id, content=f"Said again, {number}.")
        token = workspace.issue_token("lead-1")
        with served(workspace) as url, mycel.connect(url, token=token) as client:
            assert Bench(bench.root, client.me(), known).sync().is_agreed == (times == 0)
            assert Bench(bench.root, client.me(), known).sync().is_agreed


def test_an_agreement_is_given_up_with_what_cannot_be_read_of_it_and_nothing_is_lost(tmp_path: Path) -> None:
    data, root, known = tmp_path / "data", tmp_path / "vault", tmp_path / "known"
    copy_template(make_team, data)
    with open_workspace(data) as workspace:
        bench = Bench(root, workspace.as_member("lead-1"), known)
        saved = [bench.save(f"Memory {number} of the team.") for number in range(5)]
        bench.sync()
        edit(bench)
        (root / "notes/Memory 4 of the team.md").unlink()
        bench.memory.update(saved[3].id, tags=["ops"])
        (root / FOLDER / FILE).write_bytes(b"nonsense\n")
        assert len(begun_anew(bench).conflicts) == 1
        assert [one.memory.content for one in bench.memory.inbox()] == ["Memory 3 of the team, as it is since."]
        assert len(bench.memory.list()) == 5
        assert len(bench.files()) == 6
        assert bench.sync().is_agreed


def test_a_vault_of_somebody_else_is_not_begun_anew(tmp_path: Path) -> None:
    data, known = tmp_path / "data", tmp_path / "known"
    copy_template(make_team, data)
    with open_workspace(data) as workspace:
        bench = Bench(tmp_path / "vault", workspace.as_member("lead-1"), known)
        bench.save("Said once.")
        bench.sync()
        before = bench.everything()
        with pytest.raises(AccessDenied, match="this vault is of lead-1"):
            begun_anew(Bench(bench.root, workspace.as_member("lead-2"), known))
        assert bench.everything() == before


def begun_anew(bench: Bench) -> VaultReport:
    vault = Vault(bench.root, bench.memory, known=KnownVaults(bench.known), settle=0)
    with vault.opened(anew=True):
        return vault.sync(Allowed())


def test_the_last_that_was_said_may_be_taken_back_and_purged(tmp_path: Path) -> None:
    data, known = tmp_path / "data", tmp_path / "known"
    copy_template(make_team, data)
    with open_workspace(data) as workspace:
        lead = workspace.as_member("lead-1")
        bench = Bench(tmp_path / "vault", workspace.as_member("lead-2"), known)
        for away in (lead.delete, lead.purge, lambda id: lead.update(id, visibility="private")):
            last = lead.save("The last that was said.")
            bench.sync()
            assert len(bench.files()) == 1
            away(last.id)
            bench.sync()
            assert bench.files() == []
