"""The calls of the system: a path in, bytes or an error number out. What a file means stands in `notes.py`."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from mycel.contracts.memory_api import MemoryApi
from mycel.errors import MycelError
from mycel.surfaces.mount.errno_map import errno_of
from mycel.surfaces.mount.held import HeldFile
from mycel.surfaces.mount.notes import MountedNotes
from mycel.surfaces.mount.tree import RECENT, SEARCH, listed
from mycel.surfaces.vault.names import folder_of, is_hidden, is_note

MOST_LISTED = 50
# A search is asked for once by `ls`, and then again for each file it lists.
SEARCH_SECONDS = 10.0
MOST_SEARCHES = 32
_WRITES = os.O_WRONLY | os.O_RDWR


@dataclass(slots=True)
class _Handle:
    """An open file: what it said when it was opened, or the bytes that are being written."""

    snapshot: bytes = b""
    held: HeldFile | None = None
    opened_by: int = 0


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _told(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Errors of memory become numbers of the system."""

    @functools.wraps(call)
    def telling(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except MycelError as error:
            raise OSError(errno_of(error), str(error)) from None

    return telling


class NoteFileSystem:
    # Times are whole nanoseconds.
    use_ns = True

    def __init__(
        self,
        memory: MemoryApi,
        notes: MountedNotes,
        *,
        writer: Callable[[str], tuple[int, bool]],
        begin: Callable[[], None],
    ) -> None:
        """`writer` says which process is calling, and whether it has the file of this path open still.

        `begin` is called when the files can be seen.
        """
        self._memory = memory
        self._notes = notes
        self._writer = writer
        self._begin = begin
        self._handles: dict[int, _Handle] = {}
        self._last_handle = 0
        self._searches: dict[str, tuple[float, dict[str, str]]] = {}
        self._mounted_ns = time.time_ns()

    def init(self, path: str) -> None:
        self._begin()

    @_told
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        name = path[1:]
        if self._is_folder(name):
            return _attributes(stat.S_IFDIR | 0o755, 0, self._mounted_ns)
        with self._notes.lock:
            file = self._file(name)
            held = self._notes.held.get(file)
            if held is not None:
                return _attributes(stat.S_IFREG | 0o644, len(held.content), held.modified_ns)
            id = self._notes.tree.id_at.get(file)
            if id is None:
                raise _failure(errno.ENOENT)
            return _attributes(stat.S_IFREG | 0o644, len(self._notes.content(id)), self._notes.changed_ns(id))

    @_told
    def readdir(self, path: str, fh: int) -> list[str]:
        name = path[1:]
        if not self._is_folder(name):
            raise _failure(errno.ENOENT)
        virtual = self._virtual(name)
        with self._notes.lock:
            found = list(virtual) if virtual is not None else self._notes.tree.entries(name)
        return [".", "..", *([] if name else [RECENT, SEARCH]), *found]

    @_told
    def open(self, path: str, flags: int) -> int:
        file = self._file(path[1:])
        with self._notes.lock:
            id, held = self._notes.tree.id_at.get(file), self._notes.held.get(file)
        if id is not None and held is None:
            self._notes.require_present(id)
        with self._notes.lock:
            held = self._notes.held.get(file)
            if id is None and held is None:
                raise _failure(errno.ENOENT)
            if not flags & _WRITES:
                snapshot = bytes(held.content) if held is not None else self._notes.content(id or "")
                return self._opened(_Handle(snapshot))
            held = held or self._held(file)
            if flags & os.O_TRUNC:
                self._notes.held.truncate(held, 0)
            held.writers += 1
            return self._opened(_Handle(held=held, opened_by=self._writer(path)[0]))

    @_told
    def create(self, path: str, mode: int) -> int:
        file = self._new_name(path)
        with self._notes.lock:
            held = HeldFile(file, writers=1)
            self._notes.hold(held)
            return self._opened(_Handle(held=held, opened_by=self._writer(path)[0]))

    def mknod(self, path: str, mode: int, dev: int) -> int:
        if not stat.S_ISREG(mode):
            raise _failure(errno.EPERM)
        with self._notes.lock:
            self._notes.hold(HeldFile(self._new_name(path)))
        return 0

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        handle = self._handles[fh]
        with self._notes.lock:
            content = handle.snapshot if handle.held is None else handle.held.content
            return bytes(content[offset : offset + size])

    @_told
    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        held = self._handles[fh].held
        if held is None:
            raise _failure(errno.EBADF)
        with self._notes.lock:
            return self._notes.held.write(held, data, offset)

    @_told
    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        handle = self._handles.get(fh) if fh is not None else None
        with self._notes.lock:
            held = (handle.held if handle is not None else None) or self._held(self._file(path[1:]))
            self._notes.held.truncate(held, length)
        return 0

    def flush(self, path: str, fh: int) -> int:
        """Each `close`. Only that of who opened it says that the file is whole, and only the last one.

        A shell closes copies of a file in between, and so does each program that it starts with the file.
        """
        handle = self._handles[fh]
        if handle.held is None or not handle.held.is_dirty:
            return 0
        closed_by, has_more = self._writer(path)
        if closed_by == handle.opened_by and not has_more:
            self._publish(handle.held)
        return 0

    def release(self, path: str, fh: int) -> int:
        """Nobody has it open any more. What is wrong now cannot be told to the program, only to the terminal."""
        held = self._handles.pop(fh).held
        if held is None:
            return 0
        held.writers -= 1
        with contextlib.suppress(OSError):
            self._publish(held)
        if not held.writers:
            self._notes.settle(held)
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        """A file that is not closed yet is not whole, so nothing of it is kept."""
        return 0

    def unlink(self, path: str) -> int:
        file = self._real(path)
        self._written(file, lambda: self._notes.remove(file))
        return 0

    def rename(self, old: str, new: str) -> int:
        file, target = self._real(old), self._real(new)
        if self._notes.tree.is_folder(target) and self._notes.tree.entries(target):
            raise _failure(errno.ENOTEMPTY)
        if not self._notes.tree.is_folder(folder_of(target)):
            raise _failure(errno.ENOENT)
        if not self._notes.tree.is_folder(file):
            self._written(target, lambda: self._rename_file(file, target))
            return 0
        for one in list(self._notes.tree.files_below(file)):
            place = target + one.removeprefix(file)
            self._written(place, lambda one=one, place=place: self._rename_file(one, place))
        with self._notes.lock:
            for folder in reversed(self._notes.tree.folders_below(file)):
                self._notes.tree.make_folder(target + folder.removeprefix(file))
                self._notes.tree.remove_folder(folder)
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        with self._notes.lock:
            self._notes.tree.make_folder(self._new_name(path))
        return 0

    def rmdir(self, path: str) -> int:
        folder = self._real(path)
        with self._notes.lock:
            if not self._notes.tree.is_folder(folder):
                raise _failure(errno.ENOENT)
            if self._notes.tree.entries(folder):
                raise _failure(errno.ENOTEMPTY)
            self._notes.tree.remove_folder(folder)
        return 0

    def chmod(self, path: str, mode: int) -> int:
        """Who may read a memory stands in its front matter; programs that copy modes go on."""
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        """A note's time is that of its memory."""
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        """Programs look whether there is room before they write."""
        blocks = 1 << 20
        return {"f_bsize": 4096, "f_frsize": 4096, "f_blocks": blocks, "f_bfree": blocks, "f_bavail": blocks} | {
            "f_namemax": 255
        }

    def _rename_file(self, file: str, target: str) -> None:
        notes = self._notes
        with notes.lock:
            held = notes.held.get(file)
            is_saved = file in notes.tree.id_at
        if held is None and not is_saved:
            raise _failure(errno.ENOENT)
        if is_saved and is_note(target):
            notes.move(file, target)
            with notes.lock:
                if held is not None and notes.held.pop(file, None) is held:
                    held.file = target
                    notes.held[target] = held
        elif is_saved:
            notes.put_aside(file, target)
        elif held is not None:
            self._rename_held(held, target)

    def _rename_held(self, held: HeldFile, target: str) -> None:
        """What an editor has written beside a note takes its place."""
        notes, file = self._notes, held.file
        with notes.lock:
            replaced = notes.held.get(target)
            notes.let_go(file)
            held.file = target
            notes.hold(held)
        if not is_note(target):
            return
        try:
            if target in notes.tree.id_at and not held.content.strip():
                raise _failure(errno.EINVAL)
            held.is_dirty = True
            notes.publish(held)
        except BaseException:
            with notes.lock:
                notes.let_go(target)
                held.file = file
                notes.hold(held)
                if replaced is not None:
                    notes.hold(replaced)
                notes.put_back(target)
            raise
        if not held.writers:
            notes.settle(held)

    def _publish(self, held: HeldFile) -> None:
        name = held.file.rpartition("/")[2]
        is_new = held.is_dirty and not held.is_refused
        if is_new and is_note(name) and self._notes.held.get(held.file) is held:
            held.is_refused = True
            self._written(held.file, lambda: self._notes.publish(held))
            held.is_refused = False

    def _written(self, file: str, write: Callable[[], None]) -> None:
        """One write at a time; what goes wrong is said on the terminal too, for programs seldom tell why."""
        try:
            with self._notes.writing:
                write()
        except MycelError as error:
            self._notes.tell(file, f"{error}: nothing was changed")
            raise OSError(errno_of(error), str(error)) from None

    def _held(self, file: str) -> HeldFile:
        """The bytes of a note, to be written."""
        held = self._notes.held.get(file)
        if held is None:
            id = self._notes.tree.id_at.get(file)
            if id is None:
                raise _failure(errno.ENOENT)
            held = HeldFile(file, bytearray(self._notes.content(id)), id=id)
            self._notes.hold(held)
        return held

    def _opened(self, handle: _Handle) -> int:
        self._last_handle += 1
        self._handles[self._last_handle] = handle
        return self._last_handle

    def _is_folder(self, name: str) -> bool:
        parts = name.split("/")
        if parts[0] == RECENT:
            return len(parts) == 1
        if parts[0] == SEARCH:
            return len(parts) == 1 or (len(parts) == 2 and not is_hidden(parts[1]) and _is_text(name))
        return self._notes.tree.is_folder(name)

    def _virtual(self, name: str) -> dict[str, str] | None:
        """Names and ids in a folder that is no path of a memory; None for another."""
        first, _, words = name.partition("/")
        if first == RECENT:
            ids = self._notes.recent(MOST_LISTED)
            with self._notes.lock:
                return listed(ids, self._notes.tree, ranked=False)
        if first == SEARCH:
            return self._found(words) if words else {}
        return None

    def _found(self, words: str) -> dict[str, str]:
        now = time.monotonic()
        known = self._searches.get(words)
        if known is None or now - known[0] > SEARCH_SECONDS:
            ids = [hit.memory.id for hit in self._memory.search(words, limit=MOST_LISTED).hits]
            with self._notes.lock:
                known = self._searches[words] = (now, listed(ids, self._notes.tree, ranked=True))
            for old in list(self._searches)[:-MOST_SEARCHES]:
                del self._searches[old]
        with self._notes.lock:
            # Of what was purged or hidden since, the title goes at once as well.
            return {name: id for name, id in known[1].items() if id in self._notes.tree.file_of}

    def _file(self, name: str) -> str:
        """The file that is meant, also by a name in a virtual folder."""
        folder = folder_of(name)
        virtual = self._virtual(folder) if folder.partition("/")[0] in {RECENT, SEARCH} else None
        if virtual is None:
            return name
        return self._notes.tree.file_of.get(virtual.get(name.rpartition("/")[2], ""), "")

    def _real(self, path: str) -> str:
        """The name of what may be made, moved or removed."""
        name = path[1:]
        if name.partition("/")[0] in {RECENT, SEARCH}:
            raise _failure(errno.EPERM)
        return name

    def _new_name(self, path: str) -> str:
        name = self._real(path)
        if not _is_text(name):
            raise _failure(errno.EILSEQ)
        if not self._notes.tree.is_folder(folder_of(name)):
            raise _failure(errno.ENOENT)
        return name


def _attributes(mode: int, size: int, changed_ns: int) -> dict[str, Any]:
    times = dict.fromkeys(("st_atime", "st_mtime", "st_ctime"), changed_ns)
    links = 2 if stat.S_ISDIR(mode) else 1
    return {"st_mode": mode, "st_size": size, "st_nlink": links, "st_uid": os.getuid(), "st_gid": os.getgid(), **times}


def _failure(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
