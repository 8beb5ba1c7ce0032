"""Where the files of a workspace lie in its data directory. Light to import: every command asks for them."""

from __future__ import annotations

from pathlib import Path

WORKSPACE_FILE = "workspace.sqlite"
TEAMS_FOLDER = "teams"
# Unless the settings name another place.
BACKUPS_FOLDER = "backups"
# What a restored backup has replaced, and what is to replace it.
REPLACED_FOLDER, RESTORING_FOLDER = "replaced", ".restoring"
# Where hooks leave what the service has not taken yet.
HOOKS_FOLDER = "hooks"


def own_files(data: Path) -> list[Path]:
    """What nobody but the stores may read or write."""
    database = data / WORKSPACE_FILE
    beside = [database.with_name(database.name + end) for end in ("", "-wal", "-shm", "-journal", "-queue")]
    folders = (TEAMS_FOLDER, BACKUPS_FOLDER, REPLACED_FOLDER, RESTORING_FOLDER)
    return [*(data / name for name in folders), *beside]


def is_unused(data: Path) -> bool:
    """Whether nothing was ever stored there. A workspace that is damaged, or of which a part is gone, is one."""
    is_folder = data.is_dir() or not data.exists()
    return is_folder and not any((data / name).exists() for name in (WORKSPACE_FILE, TEAMS_FOLDER, HOOKS_FOLDER))
