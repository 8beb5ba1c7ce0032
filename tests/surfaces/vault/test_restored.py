"""A vault and a team that went back to a backup: what was written since stands in the notes alone, and stays there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mycel.app import open_workspace
from mycel.errors import Conflict
from mycel.restoration import restore_workspace
from mycel.settings import load_settings
from mycel.surfaces.vault.agreement import KnownVaults
from mycel.surfaces.vault.sync import Allowed, Vault
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


def begun_anew(bench: Bench):
    for left in (bench.root / ".mycel").iterdir():
        if left.is_file():
            left.unlink()
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
