"""Backups as folders: a manifest with checksums, published whole or not at all, and looked through before use."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from mycel.domain import fields
from mycel.domain.backup import Backup, BackupCheck
from mycel.domain.ids import TeamName
from mycel.durable_file import replace_file, sync_folder
from mycel.errors import Conflict, InvalidInput, MycelError, NotFound, StorageFull, Unavailable
from mycel.held_files import open_unheld

MANIFEST = "backup.json"
FORMAT, FORMAT_VERSION = "mycel-backup", 1
LOCK = ".lock"
_PIECE = 1024 * 1024
_MAX_MANIFEST_BYTES = 16 * 1024 * 1024
_OWNER_ONLY = 0o600
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PATH = re.compile(r"(?:teams/[A-Za-z0-9_-]{1,200}/)?[A-Za-z0-9_.-]{1,200}")

# The name of a file, how many bytes of it are done, and how many there are.
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class StoredFile:
    path: str
    size_bytes: int
    sha256: str

    @property
    def team(self) -> TeamName | None:
        """None of the organisation."""
        parts = Path(self.path).parts
        return TeamName(parts[1]) if len(parts) == 3 else None


@dataclass(frozen=True, slots=True)
class Manifest:
    made_at: datetime
    files: tuple[StoredFile, ...]

    def describe(self, folder: Path) -> Backup:
        return Backup(
            name=folder.name,
            folder=str(folder),
            made_at=self.made_at,
            teams=tuple(file.team for file in self.files if file.team is not None),
            size_bytes=sum(file.size_bytes for file in self.files),
        )


@contextmanager
def new_backup(target: Path) -> Generator[Path]:
    """A folder to fill; under its name only once it has a manifest and all of it is on the disk.

    What is left of one that was killed is swept by the next of the same name.
    """
    if not target.name or "\0" in str(target):
        raise InvalidInput("must name a folder", field="folder")
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InvalidInput("must be a folder that is new or empty", field="folder")
        unfinished.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(unfinished):
            try:
                _clear(unfinished)
                yield unfinished
                _sync_all(unfinished)
                unfinished.replace(target)
                sync_folder(target.parent)
            except BaseException:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise
        (target / LOCK).unlink(missing_ok=True)
    except OSError as error:
        raise _translated(error, target) from error


def write_manifest(folder: Path, *, made_at: datetime, report: Report | None = None) -> Manifest:
    """Of every file that is there by now."""
    found = [StoredFile(path, size, _digest(folder / path, report)) for path, size in _files_in(folder)]
    manifest = Manifest(made_at, tuple(found))
    replace_file(folder / MANIFEST, _rendered(manifest), mode=_OWNER_ONLY)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """`NotFound` where there is no backup, `InvalidInput` naming what is wrong with one."""
    try:
        if _size_of(folder / MANIFEST) > _MAX_MANIFEST_BYTES:
            raise InvalidInput("is too large to be one of ours", field=MANIFEST)
        text = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"there is no backup in {folder}: it has no {MANIFEST}") from None
    except OSError as error:
        raise _translated(error, folder / MANIFEST) from error
    return _parsed(text)


def describe(folder: Path) -> Backup:
    try:
        return read_manifest(folder).describe(folder)
    except InvalidInput as error:
        return Backup(name=folder.name, folder=str(folder), made_at=None, problem=str(error))


def find_backups(folder: Path) -> list[Backup]:
    """The newest first; what was left half made or half removed is none."""
    try:
        found = [one for one in folder.iterdir() if not one.name.startswith(".") and (one / MANIFEST).is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _translated(error, folder) from error
    listed = [describe(one) for one in found]
    return sorted(listed, key=lambda one: (one.made_at is not None, one.made_at, one.name), reverse=True)


def check_backup(folder: Path, *, report: Report | None = None) -> BackupCheck:
    """Every byte of it. What has the bytes that it had when it was made was found sound then."""
    try:
        manifest = read_manifest(folder)
    except InvalidInput as error:
        return BackupCheck(backup=describe(folder), problems=(str(error),))
    problems = [problem for file in manifest.files if (problem := _problem(folder, file, report))]
    known = {file.path for file in manifest.files}
    extra = [path for path, _ in _files_in(folder) if path not in known]
    problems += [f"{path}: is not in the manifest" for path in extra]
    return BackupCheck(backup=manifest.describe(folder), problems=tuple(problems))


def copy_backup(folder: Path, target: Path, *, report: Report | None = None) -> Manifest:
    """Its files for use; `InvalidInput` names the one that is not what the manifest says."""
    manifest = read_manifest(folder)
    for file in manifest.files:
        place = target / file.path
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = sha256()
        try:
            handle = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY)
            with os.fdopen(handle, "wb") as copy:
                for piece in _pieces(folder / file.path, report):
                    found.update(piece)
                    copy.write(piece)
        except OSError as error:
            raise _translated(error, folder / file.path) from error
        if found.hexdigest() != file.sha256:
            raise InvalidInput("is damaged: its checksum is another one", field=file.path)
    return manifest


def remove_backup(folder: Path) -> None:
    """At once out of the list, whenever this is cut short."""
    leaving = folder.with_name(f".{folder.name}.removed")
    try:
        shutil.rmtree(leaving, ignore_errors=True)
        folder.replace(leaving)
        shutil.rmtree(leaving, ignore_errors=True)
    except OSError as error:
        raise _translated(error, folder) from error


def _problem(folder: Path, file: StoredFile, report: Report | None) -> str | None:
    place = folder / file.path
    try:
        size = _size_of(place)
        if size != file.size_bytes:
            return f"{file.path}: has {size:,} bytes instead of {file.size_bytes:,}"
        return (
            None if _digest(place, report) == file.sha256 else f"{file.path}: is damaged, its checksum is another one"
        )
    except FileNotFoundError:
        return f"{file.path}: is missing"
    except OSError as error:
        return f"{file.path}: cannot be read: {error.strerror}"


def _size_of(file: Path) -> int:
    """Only of a plain file: a pipe would be waited for, and a link leads to what is no part of the backup."""
    found = file.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a link or no plain file")
    return found.st_size


def _files_in(folder: Path) -> Iterator[tuple[str, int]]:
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if file.is_file() and path not in {MANIFEST, LOCK}:
            yield path, file.stat().st_size


def _pieces(file: Path, report: Report | None) -> Iterator[bytes]:
    done, whole = 0, _size_of(file)
    with open_unheld(file) as opened:
        while piece := opened.read(_PIECE):
            yield piece
            done += len(piece)
            if report is not None:
                report(file.parent.name if file.parent.parent.name == "teams" else file.name, done, whole)


def _digest(file: Path, report: Report | None) -> str:
    found = sha256()
    for piece in _pieces(file, report):
        found.update(piece)
    return found.hexdigest()


def _rendered(manifest: Manifest) -> bytes:
    values: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "made_at": manifest.made_at.isoformat(),
        "files": [{"path": file.path, "size_bytes": file.size_bytes, "sha256": file.sha256} for file in manifest.files],
    }
    return json.dumps({**values, "sha256": _digest_of(values)}, indent=1).encode() + b"\n"


def _digest_of(values: Mapping[str, Any]) -> str:
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _parsed(text: bytes) -> Manifest:
    try:
        values = cast(dict[str, Any], json.loads(text))
        told = values.pop("sha256")
        if values["format"] != FORMAT or not isinstance(values["version"], int):
            raise ValueError
        if values["version"] > FORMAT_VERSION:
            raise InvalidInput("was made by a newer Mycel: use that one to restore it", field=MANIFEST)
        if told != _digest_of(values):
            raise ValueError
        files = tuple(StoredFile(**_checked(file)) for file in values["files"])
        return Manifest(fields.moment(values["made_at"], field="made_at"), files)
    except InvalidInput:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, MycelError):
        raise InvalidInput("is damaged or was altered", field=MANIFEST) from None


def _checked(file: dict[str, Any]) -> dict[str, Any]:
    """A path that leads out of the folder is none of ours."""
    if not _PATH.fullmatch(file["path"]) or ".." in file["path"]:
        raise ValueError(file["path"])
    if type(file["size_bytes"]) is not int or not _SHA256.fullmatch(file["sha256"]):
        raise ValueError(file["path"])
    return file


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    lock = FileLock(folder / LOCK, mode=_OWNER_ONLY)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Conflict(f"a backup is being made there already: {folder.name}") from None
    try:
        yield
    finally:
        lock.release()


def _clear(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir():
            shutil.rmtree(left)
        elif left.name != LOCK:
            left.unlink()


def _sync_all(folder: Path) -> None:
    for found in (folder, *folder.rglob("*")):
        sync_folder(found)


def _translated(error: OSError, place: Path) -> MycelError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageFull("the disk has no room for the backup")
    is_of_no_use = isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError | PermissionError)
    if is_of_no_use or error.errno == errno.EINVAL:
        return InvalidInput(f"cannot be used: {error.strerror}", field=str(place))
    return Unavailable(f"the backup could not be read or written: {error.strerror}")
