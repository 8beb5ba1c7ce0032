"""The files below one folder: nothing outside it is read or written, and no text that came meanwhile is lost."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from mycel.durable_file import sync_folder
from mycel.errors import InvalidInput, StorageFull, Unavailable
from mycel.surfaces.vault.agreement import FOLDER, UNFINISHED
from mycel.surfaces.vault.names import folder_of

_NO_REPLACE, _EXCHANGE = 1, 2
_AT_CWD = -100
# A note may be of a private memory: whoever may not see that reads neither the note nor its title.
_OWN_FILE, _OWN_FOLDER = 0o600, 0o700
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
# Of a disk that is waited for: several at once share its turns, and take a tenth of the time.
AT_ONCE = 16
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class ChangedMeanwhile(Exception):
    """Somebody wrote the file after it was read; the next round looks at it again."""


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class VaultFiles:
    """Names are relative, with `/`, and were checked where they were made."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._aside = root / FOLDER / UNFINISHED
        self._touched: set[Path] = set()
        # By the file and what it is to say: where that lies meanwhile.
        self._staged: dict[tuple[str, bytes], Path] = {}

    def prepare(self) -> None:
        """Takes away what a killed process left; it was never told of to anybody."""
        self._aside.mkdir(mode=_OWN_FOLDER, parents=True, exist_ok=True)
        for left in self._aside.iterdir():
            if left.is_symlink() or left.is_file():
                left.unlink(missing_ok=True)

    def close_to_others(self, notes: Iterable[str]) -> None:
        """Take from everybody else what earlier versions let them read: notes, and the folders that name them."""
        found = {self.root}
        for note in notes:
            # Nothing is followed out of the vault.
            with contextlib.suppress(InvalidInput):
                path = self._checked(note)
                found |= {path, *(above for above in path.parents if self.root in above.parents)}
        for path in found:
            with contextlib.suppress(OSError):
                mode = path.lstat().st_mode
                if not stat.S_ISLNK(mode) and mode & 0o077:
                    path.chmod(stat.S_IMODE(mode) & _OWN_FOLDER)

    def read(self, file: str) -> bytes:
        handle = os.open(self._checked(file), _READ)
        with os.fdopen(handle, "rb") as opened:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, "not a plain file")
            return opened.read()

    def stage(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Brings to the disk, all at once, what `create` and `replace` will be asked to write until `settle`."""
        wanted = list(dict.fromkeys(contents))
        with ThreadPoolExecutor(AT_ONCE, "vault") as threads:
            written = [threads.submit(self._written, content, mode=self._mode(file)) for file, content in wanted]
        self._staged |= {one: new.result() for one, new in zip(wanted, written, strict=True) if not new.exception()}
        for new in written:
            if error := new.exception():
                # Of a full disk, before anything is changed.
                self._unstage()
                raise error

    def create(self, file: str, content: bytes) -> None:
        """Raises `ChangedMeanwhile` when something is there."""
        path = self._checked(file, make=True)
        new = self._staged.pop((file, content), None) or self._written(content)
        try:
            _rename_to_nothing(new, path)
        except FileExistsError:
            new.unlink()
            raise ChangedMeanwhile(f"{file} came meanwhile") from None
        self._touched.add(path.parent)

    def replace(self, file: str, content: bytes, *, expected: str) -> None:
        """Raises `ChangedMeanwhile`, and leaves what is there, unless the file still has the digest `expected`."""
        path = self._checked(file)
        if digest(self.read(file)) != expected:
            raise ChangedMeanwhile(f"{file} was changed meanwhile")
        new = self._staged.pop((file, content), None) or self._written(content, mode=self._mode(file))
        if _rename(new, path, _EXCHANGE):
            # What stood there at that instant is now aside: had an editor been faster, it goes back.
            if digest(new.read_bytes()) != expected:
                _rename(new, path, _EXCHANGE)
                new.unlink()
                raise ChangedMeanwhile(f"{file} was changed meanwhile")
            new.unlink()
        else:
            new.replace(path)
        self._touched.add(path.parent)

    def remove(self, file: str, *, expected: str) -> None:
        path = self._checked(file)
        aside = self._aside / os.urandom(8).hex()
        path.rename(aside)
        if digest(aside.read_bytes()) != expected:
            _rename_to_nothing(aside, path)
            raise ChangedMeanwhile(f"{file} was changed meanwhile")
        aside.unlink()
        self._touched.add(path.parent)
        self._drop_empty(folder_of(file))

    def move(self, file: str, target: str) -> None:
        """Raises `ChangedMeanwhile` when something is there."""
        old, new = self._checked(file), self._checked(target, make=True)
        try:
            _rename_to_nothing(old, new)
        except FileExistsError:
            raise ChangedMeanwhile(f"{target} came meanwhile") from None
        self._touched |= {old.parent, new.parent}
        self._drop_empty(folder_of(file))

    def settle(self) -> None:
        """Names survive a power cut after this; what was staged and not asked for is gone."""
        self._unstage()
        for folder in self._touched:
            if folder.is_dir():
                sync_folder(folder)
        self._touched.clear()

    def _checked(self, file: str, *, make: bool = False) -> Path:
        """The path, if no folder on the way to it leads elsewhere."""
        parts = file.split("/")
        if any(part in {"", ".", ".."} or "\0" in part or os.sep in part for part in parts):
            raise InvalidInput("leads out of the vault", field="file")
        path = self.root
        for part in parts[:-1]:
            path /= part
            if make and not path.exists() and not path.is_symlink():
                path.mkdir(mode=_OWN_FOLDER)
                self._touched.add(path.parent)
            if path.is_symlink() or not path.is_dir():
                raise InvalidInput(f"{part!r} is a link or no folder: nothing is written there", field="folder")
        return path / parts[-1]

    def _written(self, content: bytes, *, mode: int = _OWN_FILE) -> Path:
        new = self._aside / os.urandom(8).hex()
        try:
            with os.fdopen(os.open(new, _NEW_FILE, mode), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            new.unlink(missing_ok=True)
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise StorageFull("the disk of the vault is full: what is agreed on stays so") from None
            raise Unavailable(f"the vault cannot be written: {error.strerror}") from None
        return new

    def _unstage(self) -> None:
        for left in self._staged.values():
            left.unlink(missing_ok=True)
        self._staged.clear()

    def _mode(self, file: str) -> int:
        """Of the file that is there, so that nobody else may read the new one."""
        with contextlib.suppress(OSError):
            return stat.S_IMODE((self.root / file).lstat().st_mode) & _OWN_FOLDER
        return _OWN_FILE

    def _drop_empty(self, folder: str) -> None:
        while folder:
            try:
                self._checked(folder).rmdir()
            except OSError:
                return
            self._touched.discard(self.root / folder)
            folder = folder_of(folder)


@cache
def _system_rename() -> Callable[..., int] | None:
    """Linux renames without replacing, and exchanges two files, in one step; elsewhere it takes two."""
    if sys.platform != "linux":
        return None
    found: Any = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return found


def _rename(old: Path, new: Path, flags: int) -> bool:
    """False where the system or the file system cannot do it."""
    call = _system_rename()
    if call is None:
        return False
    if call(_AT_CWD, os.fsencode(old), _AT_CWD, os.fsencode(new), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}:
        return False
    raise OSError(number, os.strerror(number), str(old))


def _rename_to_nothing(old: Path, new: Path) -> None:
    """Raises `FileExistsError` when something is there."""
    if _rename(old, new, _NO_REPLACE):
        return
    if os.path.lexists(new):
        raise FileExistsError(errno.EEXIST, "exists", str(new))
    old.rename(new)
