"""Makes the files and folders of a store so that they survive a power cut."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from mycel.stores.sqlite.file_access import make_empty, sync


def make_file(path: Path) -> list[Path]:
    """Makes the file and its folders for the owner alone; returns the folders that were not there."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        make_empty(path)
    return missing


def folders_of(path: Path, root: Path) -> list[Path]:
    """From the file's own folder up to the one that names the data directory."""
    return [folder for folder in path.parents if folder == root.parent or folder.is_relative_to(root)]


def sync_folders(folders: Iterable[Path]) -> None:
    """A new file survives a power cut only once every folder that leads to it was synced.

    Also those that were there: another process may have made one and not synced it yet.
    """
    for folder in dict.fromkeys(folders):
        # What lies above the data directory may be somebody else's.
        with contextlib.suppress(PermissionError):
            sync(folder)


def sync_tree(folder: Path) -> None:
    """Everything in it, and the folders themselves."""
    for found in (*folder.rglob("*"), folder):
        sync(found)
