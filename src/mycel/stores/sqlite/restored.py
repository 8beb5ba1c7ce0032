"""Putting the files of a restored backup in place of those of a data directory, whenever that is cut short."""

from __future__ import annotations

import itertools
import shutil
from datetime import UTC, datetime
from pathlib import Path

import apsw
from filelock import FileLock

from mycel.durable_file import replace_file, sync_folder
from mycel.errors import Conflict
from mycel.stores.layout import REPLACED_FOLDER, RESTORING_FOLDER, TEAMS_FOLDER, WORKSPACE_FILE
from mycel.stores.sqlite import damage_marker
from mycel.stores.sqlite.connection import open_alone
from mycel.stores.sqlite.file_guard import ENDINGS
from mycel.stores.sqlite.folders import sync_tree

NEW, READY, LOCK = "new", "ready", "lock"
WAIT_SECONDS = 60.0
_KEPT = "%Y-%m-%dT%H-%M-%SZ"
# The log before its database: a database without it is a loss that is told, and a log alone would go to the next one.
_NAMES = (
    *(f"{WORKSPACE_FILE}{ending}" for ending in reversed(ENDINGS)),
    f"{WORKSPACE_FILE}{damage_marker.ENDING}",
    TEAMS_FOLDER,
)


def new_files(data: Path) -> Path:
    """An empty folder of the data directory, to be filled like one; what an earlier try has left is gone."""
    folder = data / RESTORING_FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / NEW).mkdir(mode=0o700, parents=True)
    return folder / NEW


def forget_new_files(data: Path) -> None:
    shutil.rmtree(data / RESTORING_FOLDER, ignore_errors=True)


def kept_files(data: Path) -> Path:
    """Where the old files will be, once new ones take their place."""
    moment = datetime.now(UTC).strftime(_KEPT)
    names = itertools.chain([moment], (f"{moment}-{number}" for number in itertools.count(2)))
    return next(place for name in names if not (place := data / REPLACED_FOLDER / name).exists())


def put_in_place(data: Path, *, kept: Path) -> Path | None:
    """The new files for the old; where those are now, if there were any.

    Raises `Conflict` where somebody has one of the old ones open.
    """
    _require_unused(data)
    folder = data / RESTORING_FOLDER
    sync_tree(folder)
    replace_file(folder / READY, kept.name.encode(), mode=0o600)
    return finish(data)


def is_pending(data: Path) -> bool:
    return (data / RESTORING_FOLDER / READY).exists()


def finish(data: Path) -> Path | None:
    """Begun once, it is carried through: by whoever opens the data directory next, if need be."""
    folder = data / RESTORING_FOLDER
    with FileLock(data / f"{RESTORING_FOLDER}.{LOCK}", mode=0o600, timeout=WAIT_SECONDS):
        if not is_pending(data):
            return None
        kept = data / REPLACED_FOLDER / (folder / READY).read_text("ascii")
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in _NAMES:
            _exchange(folder / NEW / name, data / name, kept / name)
        sync_tree(kept.parent)
        sync_folder(data)
        shutil.rmtree(folder)
        sync_folder(data)
        if any(kept.iterdir()):
            return kept
        kept.rmdir()
        return None


def _exchange(new: Path, place: Path, kept: Path) -> None:
    # Where the old one is kept already, this was done before it was cut short.
    if place.exists() and not kept.exists():
        place.replace(kept)
    if new.exists():
        new.replace(place)


def _require_unused(data: Path) -> None:
    files = [data / WORKSPACE_FILE, *sorted((data / TEAMS_FOLDER).glob("*/memory.sqlite"))]
    for file in files:
        try:
            if file.exists():
                open_alone(file).close()
        except apsw.BusyError:
            raise Conflict(f"{file.relative_to(data)} is open in another process: end it first") from None
        except apsw.Error:
            # Damaged: that may be why there is a backup to restore.
            continue
