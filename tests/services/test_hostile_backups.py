"""A folder beside the backups may hold anything: it is told as damaged, and hides or holds up no other backup."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mycel.errors import MycelError
from mycel.services import backup_files
from mycel.services.backup_files import MANIFEST, check_backup, copy_backup, find_backups, new_backup, write_manifest
from tests.odd_json import with_odd_values

FILE = "teams/squad/memory.sqlite"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    for name in ("other", "backup"):
        with new_backup(tmp_path / name) as folder:
            (folder / FILE).parent.mkdir(parents=True)
            (folder / FILE).write_bytes(b"rows")
            write_manifest(folder, made_at=datetime(2026, 1, 1, tzinfo=UTC))
    return tmp_path / "backup"


def test_a_manifest_with_an_odd_value_is_one_that_was_altered(backup: Path) -> None:
    good = json.loads((backup / MANIFEST).read_bytes())
    del good["sha256"]
    for what, odd in with_odd_values(good):
        if isinstance(odd, dict):
            # Whoever alters it can count anew.
            odd["sha256"] = backup_files._digest_of(odd)
        (backup / MANIFEST).write_text(json.dumps(odd))
        try:
            assert "other" in {one.name for one in find_backups(backup.parent)}, what
            check_backup(backup)
        except MycelError:
            pass
        except Exception as error:
            raise AssertionError(what) from error


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", [FILE, MANIFEST])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_no_pipe_is_waited_for_and_no_link_followed(name: str, kind: str, backup: Path, tmp_path: Path) -> None:
    content = (backup / name).read_bytes()
    (backup / name).unlink()
    if kind == "pipe":
        os.mkfifo(backup / name)
    else:
        (tmp_path / "elsewhere").write_bytes(content)
        (backup / name).symlink_to(tmp_path / "elsewhere")
    assert "other" in {one.name for one in find_backups(tmp_path)}
    (problem,) = check_backup(backup).problems
    assert name in problem
    with pytest.raises(MycelError):
        copy_backup(backup, tmp_path / "target")
